"""An apply in waves: some of the switches at a time, and a gate after each wave."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from eeon_control.errors import FabricError


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
    """`waves`: each switch is in one of them. `pause_seconds`: the wait after a wave, before its gate or the
    next wave."""

    waves: tuple[tuple[str, ...], ...]
    pause_seconds: float = 0.0
    gate: Gate | None = None
