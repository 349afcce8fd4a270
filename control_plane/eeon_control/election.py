"""Election ids: unsigned 128-bit numbers by which a server ranks its clients (P4Runtime, section 5)."""

from enum import StrEnum

DEFAULT = 10
LARGEST = (1 << 128) - 1


class ArbitrationStatus(StrEnum):
    """The status in a switch's MasterArbitrationUpdate (P4Runtime 1.3, section 5.3)."""

    PRIMARY = "primary"  # status OK: this stream may write
    OTHER = "other"  # ALREADY_EXISTS: another client is primary, with the reported election id
    NOBODY = "nobody"  # NOT_FOUND: there is none; the reported election id is the highest ever seen


def above(election_id: int) -> int:
    """Returns the next larger id, or the largest id itself, which has no successor."""
    return min(election_id + 1, LARGEST)


def name_of(election_id: int) -> str:
    """Returns an election id as text, and labels the largest, whose 39 digits are hard to recognise."""
    if election_id == LARGEST:
        return f"{election_id} (the largest possible)"
    return str(election_id)
