"""Applies that were undone: no revisions, but in the history all the same."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict

from eeon_control.state.journal import Journal


class Stopped(BaseModel):
    """One of them. `after`: the revision in force then and since, 0 for none. `progress`: how far it came.
    `why`: what stopped it. The others are a revision's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    after: int
    made: str
    by: str
    action: str
    comment: str
    progress: str
    why: str

    @classmethod
    def of(cls, journal: Journal, why: str) -> Self:
        """Returns what is left of an undone apply."""
        draft = journal.draft
        return cls(
            after=journal.revision - 1,
            made=draft.made,
            by=draft.by,
            action=draft.action,
            comment=draft.comment,
            progress=journal.progress,
            why=why,
        )


class StoppedApplies(BaseModel):
    """All that are remembered, oldest first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    applies: list[Stopped] = []

    def with_one_more(self, one: Stopped) -> StoppedApplies:
        """With one more, which takes the place of what the same apply has left before."""
        others = [
            old for old in self.applies if (old.made, old.by, old.after) != (one.made, one.by, one.after)
        ]
        return StoppedApplies(applies=[*others, one][-_REMEMBERED:])


_REMEMBERED = 100
