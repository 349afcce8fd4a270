"""Elapsed time, despite changes of the wall clock and restarts of the machine."""

from __future__ import annotations

import time
from pathlib import Path

from eeon_control.model_base import Frozen

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Moment(Frozen):
    """One moment on three clocks.

    `wall_seconds`: since 1970, UTC; may be set to anything. `boot_seconds`: since the machine started,
    including suspend; monotonic, and comparable only with the same `boot_id`.
    """

    wall_seconds: float
    boot_seconds: float
    boot_id: str

    def seconds_since(self, earlier: Moment) -> float | None:
        """Returns the seconds since `earlier`; None if unknown.

        Within one boot, the wall clock is ignored. Across a restart, only the wall clock is available. If it
        is before `earlier`, it has been set back, and the elapsed time is unknown.
        """
        if self.boot_id and self.boot_id == earlier.boot_id:
            passed = self.boot_seconds - earlier.boot_seconds
        else:
            passed = self.wall_seconds - earlier.wall_seconds
        return passed if passed >= 0 else None


def now() -> Moment:
    """Returns the present moment by the machine's clocks. Without a boot id in the system, it is empty, and
    only the wall clock counts."""
    try:
        boot_id = _BOOT_ID.read_text().strip()
        boot_seconds = time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, AttributeError):
        boot_id, boot_seconds = "", time.monotonic()
    return Moment(wall_seconds=time.time(), boot_seconds=boot_seconds, boot_id=boot_id)
