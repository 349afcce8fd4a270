"""The course of an apply: waves with a gate after each, and reports of its progress to an observer."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from eeon_control.errors import FabricError


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


class GateClosed(FabricError):
    """A gate stops an apply."""


class Gate(Protocol):
    """Decides whether an apply may continue."""

    async def before(self) -> None:
        """Checks the fabric before anything is written. Raises GateClosed if the apply must not begin now."""
        ...

    async def after(self, number: int, waves: int, changed: Collection[str]) -> None:
        """Checks the fabric after wave `number` of `waves`; `changed`: all switches written so far.

        Raises GateClosed if everything must be undone.
        """
        ...


@dataclass(frozen=True)
class Rollout:
    """`waves`: each switch is in one of them. `pause_seconds`: the wait after a wave, before its gates or
    the next wave."""

    waves: tuple[tuple[str, ...], ...]
    pause_seconds: float = 0.0
    gates: Sequence[Gate] = ()
