"""Which of the fabrics of one name a revision was made for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from eeon_control.targets import Targets


@dataclass(frozen=True)
class FabricKind:
    """A twin, a live fabric and real switches may share a topology's name and a state folder. Ticks and, in a
    live fabric, rates differ, and with them what a configuration means: thresholds, times, routes' ports.

    Two fabrics of one kind and tick are not told apart: a twin that is started again has other addresses.
    """

    name: Literal["twin", "live fabric", "switches"]
    tick: str

    @classmethod
    def of(cls, targets: Targets) -> Self:
        """Of where the switches are."""
        if targets.clock == "virtual":
            return cls("twin", str(targets.tick))
        return cls("switches" if targets.topology is None else "live fabric", str(targets.tick))

    def __str__(self) -> str:
        """In words, for the history."""
        return f"{self.name}, tick {self.tick}"
