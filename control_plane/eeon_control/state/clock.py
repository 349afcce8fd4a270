"""What time it is, in a way that survives a wall clock that is set and a machine that is restarted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Moment(BaseModel):
    """One moment on three clocks.

    `wall_seconds`: since 1970, UTC; can be set to anything by anybody. `boot_seconds`: since the machine was
    started, suspend included; only ever goes on, and means something only together with the same `boot_id`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    wall_seconds: float
    boot_seconds: float
    boot_id: str

    def seconds_since(self, earlier: Moment) -> float | None:
        """Returns the seconds since `earlier`; None when the clocks cannot tell.

        Within one boot the wall clock is not looked at. Across a restart it is all there is, and one that
        stands before `earlier` has been set back: how much time has passed is then unknown.
        """
        if self.boot_id and self.boot_id == earlier.boot_id:
            passed = self.boot_seconds - earlier.boot_seconds
        else:
            passed = self.wall_seconds - earlier.wall_seconds
        return passed if passed >= 0 else None


class Clock(Protocol):
    """Where the time comes from; tests have one that they set."""

    def now(self) -> Moment:
        """Returns the present moment."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> Moment:
        """Returns the present moment. Where the system has no boot id, it is empty: only the wall clock
        counts."""
        try:
            boot_id = _BOOT_ID.read_text().strip()
            boot_seconds = time.clock_gettime(time.CLOCK_BOOTTIME)
        except (OSError, AttributeError):
            boot_id, boot_seconds = "", time.monotonic()
        return Moment(wall_seconds=time.time(), boot_seconds=boot_seconds, boot_id=boot_id)
