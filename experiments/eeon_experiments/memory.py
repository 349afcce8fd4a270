"""The maximum memory that this process had since a moment, where the system tells (Linux); otherwise since
its start."""

from __future__ import annotations

import contextlib
import re
import resource
from pathlib import Path

_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_PEAK = re.compile(r"^VmHWM:\s+([0-9]+) kB$", re.MULTILINE)


def reset_peak() -> None:
    """Starts anew. What freed memory the allocator keeps still counts."""
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")  # proc(5): reset the peak resident set size


def peak_bytes() -> int:
    """Returns the peak resident set size."""
    try:
        found = _PEAK.search(_STATUS.read_text())
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
