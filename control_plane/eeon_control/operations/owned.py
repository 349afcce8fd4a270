"""Ownership of entries in the controller's tables, if another controller writes to them, too."""

from eeon_control.plan import EntryKey, Owned, intended, keys_of
from eeon_control.state import Intended


def owned(*meant: Intended | None) -> Owned | None:
    """Returns the keys of all entries in these intended configurations, by switch of the first; None if the
    first deletes foreign entries.

    The first is the new one; the others are earlier ones.
    """
    first = meant[0]
    assert first is not None, "something is to be held"
    if first.targets.foreign == "delete":
        return None
    found: dict[str, frozenset[EntryKey]] = {name: frozenset() for name in first.topology.switches}
    for one in meant:
        if one is not None:
            for name, entries in intended(one.topology, one.config, one.targets.tick).items():
                if name in found:
                    found[name] |= keys_of(entries)
    return found
