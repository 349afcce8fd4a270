"""One configuration that the fabric was made to hold."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from eeon_control.state.intent import Intended, Intent


class Draft(BaseModel):
    """A revision that has no number yet.

    `made`: UTC, ISO 8601; for people only, because a clock can be set: the numbers give the order. `by`:
    user@host. `action`: what made it, such as `apply`, `rollback to 3`. `comment`: the user's own words.
    `instead_of`: the revision that waited to be confirmed when this one took its place.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
