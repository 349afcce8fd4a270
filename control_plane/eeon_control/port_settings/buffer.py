"""How many bytes a port may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from eeon_control.constants import BYTE_COUNT_MAX
from eeon_control.entries import Action
from eeon_control.port_settings.codec import Settings, size_text
from eeon_control.units import Bytes, Duration

UNLIMITED = Bytes(BYTE_COUNT_MAX)
"""What the program has where no limit was set (p4src/include/control/occupancy.p4)."""


@dataclass(frozen=True)
class BufferLimit(Settings):
    """What does not fit into `limit` is dropped."""

    limit: Bytes

    action: ClassVar[str] = "set_buffer_limit"

    def to_action(self, tick: Duration) -> Action:
        """Exact for every limit of 32 bits."""
        return Action(self.action, (("buffer_bytes", int(self.limit)),))

    @classmethod
    def from_action(cls, params: Mapping[str, int], tick: Duration) -> Self:
        """Exact."""
        return cls(Bytes(params["buffer_bytes"]))

    def describe(self) -> str:
        """`300 KB`."""
        return "unlimited" if self.limit == UNLIMITED else size_text(self.limit)

    def summary(self) -> str:
        """`300KB`."""
        return str(self.limit)
