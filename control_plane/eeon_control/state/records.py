"""What the state folder's files have: revisions, applies in progress, applies that were undone or wait."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict

from eeon_control.state.clock import Moment
from eeon_control.state.intent import Intended, Intent
from eeon_control.state.lock import Holder
from eeon_control.state.saved_snapshot import SavedSnapshot

_REMEMBERED = 100


class _Record(BaseModel):
    """As it was written: nothing is added, and nothing changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Draft(_Record):
    """A revision that has no number yet.

    `made`: UTC, ISO 8601; for people only, because a clock can be set: the numbers give the order. `by`:
    user@host. `action`: what made it, such as `apply`, `rollback to 3`. `comment`: the user's own words.
    `instead_of`: the revision that waited to be confirmed when this one took its place.
    """

    made: str
    by: str
    action: str
    comment: str = ""
    instead_of: int | None = None
    intent: Intent

    def numbered(self, number: int) -> Revision:
        """Returns the revision that this becomes."""
        return Revision(number=number, **dict(self))


class Revision(Draft):
    """A draft that was committed, with its number from 1."""

    number: int

    def intended(self) -> Intended:
        """Returns what it means, brought to life. Raises InputError when this version no longer takes it."""
        return self.intent.revive(f"revision {self.number}")


class Journal(_Record):
    """An apply in progress: written before the first write to any switch, removed when all hold the old or
    all hold the new.

    `revision`: the number that the draft gets when it is committed. `before`: what every switch that is to be
    written to held. `confirm_seconds`: the time to confirm, when one was asked for. `waves`: the switches of
    each wave, and `wave` that which has begun, from 1; 0 before the first. `gated`: whether a gate has to let
    the last wave through, too.
    """

    revision: int
    draft: Draft
    holder: Holder
    before: dict[str, SavedSnapshot]
    confirm_seconds: float | None = None
    waves: list[list[str]] = []
    wave: int = 0
    gated: bool = False

    @property
    def progress(self) -> str:
        """`wave 2 of 5 (leaf2, leaf3)`; empty for an apply that writes to all switches at once."""
        if len(self.waves) < 2:
            return ""
        names = ", ".join(self.waves[self.wave - 1]) if self.wave else "nothing is written yet"
        return f"wave {self.wave} of {len(self.waves)} ({names})"


class Stopped(_Record):
    """An apply that was undone: no revision, but in the history all the same.

    `after`: the revision in force then and since, 0 for none. `progress`: how far it came. `why`: what
    stopped it. The others are a revision's.
    """

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


class StoppedApplies(_Record):
    """All that are remembered, oldest first."""

    applies: list[Stopped] = []

    def with_one_more(self, one: Stopped) -> StoppedApplies:
        """Returns the list with one more, which takes the place of what the same apply has left before."""
        others = [
            old for old in self.applies if (old.made, old.by, old.after) != (one.made, one.by, one.after)
        ]
        return StoppedApplies(applies=[*others, one][-_REMEMBERED:])


class Pending(_Record):
    """An apply that waits to be confirmed: `revision` is in force until `seconds` after `since`. Unless
    confirmed, the fabric then goes back to the configuration of revision `back_to`."""

    revision: int
    back_to: int
    since: Moment
    seconds: float

    def seconds_left(self, now: Moment) -> float:
        """Returns the seconds left to confirm, at most `seconds`. 0 when clocks cannot tell: going back is
        safe."""
        passed = now.seconds_since(self.since)
        return 0.0 if passed is None else max(0.0, self.seconds - passed)

    def is_overdue(self, now: Moment) -> bool:
        """Returns whether it is time to go back."""
        return self.seconds_left(now) <= 0
