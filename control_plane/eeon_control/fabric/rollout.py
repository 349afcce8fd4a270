"""An apply in waves: a part of the switches at a time, and a gate behind each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from eeon_control.errors import FabricError


class GateClosed(FabricError):
    """A gate says that an apply is not to go on."""


class Gate(Protocol):
    """Whether an apply may go on."""

    async def before(self) -> None:
        """Checks the fabric before anything is written. Raises GateClosed if the apply must not begin now."""
        ...

    async def after(self, number: int, waves: int, changed: Collection[str]) -> None:
        """Looks again behind wave `number` of `waves`; `changed`: all switches that were written so far.

        Raises GateClosed when everything is to be undone.
        """
        ...


@dataclass(frozen=True)
class Rollout:
    """`waves`: every switch in one of them. `pause_seconds`: between a wave and what follows it, its gate or
    the next wave."""

    waves: tuple[tuple[str, ...], ...]
    pause_seconds: float = 0.0
    gate: Gate | None = None
