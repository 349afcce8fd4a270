"""The changes that bring a switch to its intended entries. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import ConfigDict

from eeon_control.plan import Entry


class ChangeKind(StrEnum):
    """The types of updates in P4Runtime."""

    INSERT = "insert"
    MODIFY = "modify"
    DELETE = "delete"


@dataclass(frozen=True)
class Change:
    """One update: the entry before and after; None if there is none."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # of saved plans

    kind: ChangeKind
    before: Entry | None
    after: Entry | None

    @property
    def entry(self) -> Entry:
        """The entry in the P4Runtime update: the new one, or the one to delete."""
        entry = self.after if self.after is not None else self.before
        assert entry is not None
        return entry


def differ(changes: Sequence[Change]) -> str:
    """Returns how many entries differ, and the first of them: a clause of a message."""
    first = f"{changes[0].entry.table} {changes[0].entry.match_text}"
    if len(changes) == 1:
        return f"1 entry differs: {first}"
    return f"{len(changes)} entries differ; the first is {first}"


def difference(current: Iterable[Entry], intended: Iterable[Entry]) -> list[Change]:
    """Returns the changes from `current` to `intended`: modifies, then inserts, then deletes.

    In this order, a destination with a route before and after always has one in between. A default entry that
    is not intended stays: it cannot be deleted, and the program has its own default.
    """
    have = {(entry.table, entry.match, entry.is_default): entry for entry in current}
    modifies, defaults, inserts = [], [], []
    for entry in intended:
        held = have.pop((entry.table, entry.match, entry.is_default), None)
        if held is None:
            if entry.is_default:
                defaults.append(Change(ChangeKind.MODIFY, None, entry))
            else:
                inserts.append(Change(ChangeKind.INSERT, None, entry))
        elif held != entry:
            modifies.append(Change(ChangeKind.MODIFY, held, entry))
    deletes = [Change(ChangeKind.DELETE, entry, None) for entry in have.values() if not entry.is_default]
    return [*modifies, *defaults, *inserts, *deletes]
