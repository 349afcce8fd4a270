"""Reports what an apply is doing to a watcher: a person who waits, or a test that kills something."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Step(StrEnum):
    """One moment of an apply. JOURNALED, COMMITTED are the fabric's, with an empty switch name; with WAVE
    and PASSED the wave stands for the switch."""

    READ = "read"  # the switch was read
    JOURNALED = "journaled"  # what all switches held is on the disk; the first write follows
    WAVE = "wave"  # of an apply in waves, one begins
    WRITING = "writing"  # the first write to the switch follows
    LOADED = "loaded"  # the program was loaded
    WRITTEN = "written"  # the switch took every change
    VERIFIED = "verified"  # what was read back is what was intended
    PASSED = "passed"  # the gate behind a wave is open
    COMMITTED = "committed"  # the revision is in force
    UNDOING = "undoing"  # the switch is about to be brought back
    UNDONE = "undone"  # what was read back is what it held before


Observer = Callable[[Step, str], None]
"""Called with the step and the switch, on the event loop, at once. It must not raise."""


def nobody(step: Step, switch: str) -> None:
    """Ignores the step: the observer of an apply that nobody watches."""
