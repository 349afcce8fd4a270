"""Whose the entries of the controller's tables are, where another controller writes to them, too."""

from __future__ import annotations

from eeon_control.plan import EntryKey, Owned, intended, keys_of
from eeon_control.state import Intended


def owned(*meant: Intended | None) -> Owned | None:
    """Returns what all of these mean together, by switch of the first; None where that deletes what is not
    meant.

    The first is what is to be held, the others what was held before it.
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
