"""Election ids: 128 bits without sign, of which a server ranks its clients (P4Runtime, section 5)."""

from __future__ import annotations

DEFAULT = 10
LARGEST = (1 << 128) - 1


def above(election_id: int) -> int:
    """Returns the next larger id. The largest has no successor and is returned again."""
    return min(election_id + 1, LARGEST)


def name_of(election_id: int) -> str:
    """Returns an election id for people, who do not recognise the largest by its 39 digits."""
    if election_id == LARGEST:
        return f"{election_id} (the largest there is)"
    return str(election_id)
