"""What has to change for a switch to hold what is intended. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from eeon_control.plan import Entry


class ChangeKind(StrEnum):
    """The three updates of P4Runtime."""

    INSERT = "insert"
    MODIFY = "modify"
    DELETE = "delete"


@dataclass(frozen=True)
class Change:
    """One update: what the switch holds before (None: nothing) and after (None: nothing)."""

    kind: ChangeKind
    before: Entry | None
    after: Entry | None

    @property
    def entry(self) -> Entry:
        """The entry that P4Runtime is told about: the new one, or the one to delete."""
        entry = self.after if self.after is not None else self.before
        assert entry is not None
        return entry


def difference(current: Iterable[Entry], intended: Iterable[Entry]) -> list[Change]:
    """Changes that lead from `current` to `intended`: modifies, then inserts, then deletes.

    In that order no destination that is routed before and after is without a route in between. A default
    entry that is not intended stays: it cannot be deleted, and the program has a default of its own.
    """
    have = {entry.key: entry for entry in current}
    want = {entry.key: entry for entry in intended}
    modifies = [
        Change(ChangeKind.MODIFY, have[key], entry)
        for key, entry in want.items()
        if (key in have and have[key] != entry)
    ]
    modifies += [
        Change(ChangeKind.MODIFY, None, entry)
        for key, entry in want.items()
        if key not in have and entry.is_default
    ]
    inserts = [
        Change(ChangeKind.INSERT, None, entry)
        for key, entry in want.items()
        if key not in have and not entry.is_default
    ]
    deletes = [
        Change(ChangeKind.DELETE, entry, None)
        for key, entry in have.items()
        if key not in want and not entry.is_default
    ]
    return [*modifies, *inserts, *deletes]
