"""Reports the progress of an apply to an observer: the command line, or a test that kills something."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Step(StrEnum):
    """One step of an apply. JOURNALED and COMMITTED concern the fabric and have an empty switch name; for
    WAVE and PASSED, the name is that of the wave."""

    READ = "read"  # the switch was read
    JOURNALED = "journaled"  # the state of all switches is on disk; the first write follows
    WAVE = "wave"  # a wave of an apply begins
    WRITING = "writing"  # the first write to the switch follows
    LOADED = "loaded"  # the program was loaded
    WRITTEN = "written"  # the switch accepted every change
    VERIFIED = "verified"  # the intended entries were read back
    PASSED = "passed"  # the gate after a wave is open
    COMMITTED = "committed"  # the revision is in force
    UNDOING = "undoing"  # the switch is about to be restored
    UNDONE = "undone"  # the entries before the apply were read back


Observer = Callable[[Step, str], None]
"""Called with the step and the switch, on the event loop, at once. It must not raise."""


def nobody(step: Step, switch: str) -> None:
    """Ignores the step: the observer of an apply without progress reports."""
