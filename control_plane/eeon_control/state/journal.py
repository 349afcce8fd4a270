"""An apply in progress: what was there before the first write, and what it is to become."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from eeon_control.state.lock import Holder
from eeon_control.state.revision import Draft
from eeon_control.state.saved_snapshot import SavedSnapshot


class Journal(BaseModel):
    """Written before the first write to any switch, removed when all hold the old or all hold the new.

    `revision`: the number that the draft gets when it is committed. `before`: what every switch that is to be
    written to held. `confirm_seconds`: the time to confirm, when one was asked for. `waves`: the switches of
    each wave, and `wave` that which has begun, from 1; 0 before the first. `gated`: whether a gate has to let
    the last wave through, too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
