"""Election ids: unsigned 128-bit numbers by which a server ranks its clients (P4Runtime, section 5)."""

DEFAULT = 10
LARGEST = (1 << 128) - 1


def above(election_id: int) -> int:
    """Returns the next larger id, or the largest id itself, which has no successor."""
    return min(election_id + 1, LARGEST)


def name_of(election_id: int) -> str:
    """Returns an election id as text, and labels the largest, whose 39 digits are hard to recognise."""
    if election_id == LARGEST:
        return f"{election_id} (the largest possible)"
    return str(election_id)
