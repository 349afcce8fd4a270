"""The records in the state folder's files: revisions, and applies in progress, undone or pending."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import Field

from eeon_control.errors import InputError, Place, Problem
from eeon_control.fabric.undo import Snapshot
from eeon_control.model_base import Frozen
from eeon_control.state.clock import Moment
from eeon_control.state.intent import Intended, Intent
from eeon_control.state.lock import Holder


class Draft(Frozen):
    """A revision without a number.

    `made`: UTC, ISO 8601; informative only, because clocks can be set: the numbers define the order. `by`:
    user@host. `action`: its origin, such as `apply`, `rollback to 3`. `comment`: the user's text.
    `instead_of`: the unconfirmed revision that this one replaced.
    """

    made: str
    by: str
    action: str
    comment: str = ""
    instead_of: int | None = None
    intent: Intent

    def numbered(self, number: int) -> Revision:
        return Revision(number=number, **dict(self))


class Revision(Draft):
    """A committed draft, with its number from 1."""

    number: int

    def made_otherwise(self, entries: Mapping[str, str]) -> str:
        """Returns a sentence if `entries`, the digests by switch of what this version makes from it, are not
        those recorded; otherwise empty text."""
        if entries == self.intent.entries:
            return ""
        return (
            f"this version of eeon makes other entries from revision {self.number} than the version that "
            "made it"
        )

    def intended(self) -> Intended:
        """Returns its intended configuration. Raises InputError if this version no longer accepts it."""
        source = f"revision {self.number}"
        try:
            return self.intent.revive(source)
        except InputError as error:
            rule = (
                "another version of eeon made it, and this one does not accept it; go on with that version, "
                "or apply to the same switches with a new folder (--state)"
            )
            raise InputError([*error.problems, Problem(Place(source), "", "", rule)]) from None


class Journal(Frozen):
    """An apply in progress: written before the first write to any switch, removed when all switches hold the
    old or all hold the new state.

    `revision`: the draft's number after its commit. `before`: the state of every switch to be written.
    `confirm_seconds`: the time to confirm, if requested. `waves`: the switches of each wave; `wave`: the last
    one begun, from 1; 0 before the first. `gated`: whether a gate must also pass the last wave.
    """

    revision: int
    draft: Draft
    holder: Holder
    before: dict[str, Snapshot]
    confirm_seconds: float | None = None
    waves: list[list[str]] = Field(default_factory=list)
    wave: int = 0
    gated: bool = False

    def check_program(self) -> None:
        """Raises ProgramPinned if this version of the controller has another program than the apply."""
        self.draft.intent.check_program(
            "the journal",
            "finish it with `eeon config recover` of the version that wrote it, or remove it with `eeon "
            "config recover --forget` and apply again",
        )

    @property
    def progress(self) -> str:
        """The progress, `wave 2 of 5 (leaf2, leaf3)`; empty for an apply to all switches at once."""
        if len(self.waves) < 2:
            return ""
        names = ", ".join(self.waves[self.wave - 1]) if self.wave else "nothing is written yet"
        return f"wave {self.wave} of {len(self.waves)} ({names})"


class Stopped(Frozen):
    """An apply that was undone: not a revision, but part of the history.

    `after`: the revision in force then and since, 0 for none. `progress`: its progress. `why`: the reason.
    The other fields are those of a revision.
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
        of_draft = journal.draft.model_dump(include={"made", "by", "action", "comment"})
        return cls(after=journal.revision - 1, progress=journal.progress, why=why, **of_draft)


class StoppedApplies(Frozen):
    """The recorded undone applies, oldest first."""

    applies: list[Stopped] = Field(default_factory=list)


class Pending(Frozen):
    """An apply that waits to be confirmed: `revision` is in force until `seconds` after `since`. Unless
    confirmed, the fabric then goes back to the configuration of revision `back_to`."""

    revision: int
    back_to: int
    since: Moment
    seconds: float

    def seconds_left(self, now: Moment) -> float:
        """Returns the seconds left to confirm, at most `seconds`; 0 if unknown: a rollback is safe."""
        passed = now.seconds_since(self.since)
        return 0.0 if passed is None else max(0.0, self.seconds - passed)
