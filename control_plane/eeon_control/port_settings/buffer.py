"""How much a port may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from eeon_control.constants import BYTE_COUNT_MAX
from eeon_control.entries import Action
from eeon_control.port_settings.codec import Settings, size_text
from eeon_control.units import Bytes, Duration, Packets

UNLIMITED = Bytes(BYTE_COUNT_MAX)
"""What the program has where no limit was set (p4src/include/control/buffer.p4)."""


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


@dataclass(frozen=True)
class BufferLimitInPackets(Settings):
    """What comes when `limit` packets wait is dropped, however long they are."""

    limit: Packets

    action: ClassVar[str] = "set_buffer_limit_in_packets"

    def to_action(self, tick: Duration) -> Action:
        """Exact for every limit of 32 bits."""
        return Action(self.action, (("buffer_packets", int(self.limit)),))

    @classmethod
    def from_action(cls, params: Mapping[str, int], tick: Duration) -> Self:
        """Exact."""
        return cls(Packets(params["buffer_packets"]))

    def describe(self) -> str:
        """`200 pkt`."""
        return size_text(self.limit)

    def summary(self) -> str:
        """`200pkt`."""
        return str(self.limit)


@dataclass(frozen=True)
class BufferLimitBesideHeld(Settings):
    """What does not fit into `limit` is dropped; what came while the link was not awake does not count."""

    limit: Bytes

    action: ClassVar[str] = "set_buffer_limit_beside_held"

    def to_action(self, tick: Duration) -> Action:
        """Exact for every limit of 32 bits."""
        return Action(self.action, (("buffer_bytes", int(self.limit)),))

    @classmethod
    def from_action(cls, params: Mapping[str, int], tick: Duration) -> Self:
        """Exact."""
        return cls(Bytes(params["buffer_bytes"]))

    def describe(self) -> str:
        """`300 KB beside held packets`."""
        return f"{size_text(self.limit)} beside held packets"

    def summary(self) -> str:
        """`300KB beside held`."""
        return f"{self.limit} beside held"
