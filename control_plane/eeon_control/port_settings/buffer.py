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
class _Limit(Settings):
    """What does not fit into `limit` is dropped. Exact for every limit of 32 bits."""

    limit: Bytes | Packets

    unit: ClassVar[type[Bytes | Packets]] = Bytes
    param: ClassVar[str] = "buffer_bytes"

    def to_action(self, tick: Duration) -> Action:
        """Returns the action with the limit in its unit."""
        return Action(self.action, ((self.param, int(self.limit)),))

    @classmethod
    def from_action(cls, params: Mapping[str, int], tick: Duration) -> Self:
        """Returns the settings with the limit in its unit."""
        return cls(cls.unit(params[cls.param]))

    def describe(self) -> str:
        """Returns `300 KB` or `200 packets`."""
        return size_text(self.limit)

    def summary(self) -> str:
        """Returns `300KB` or `200pkt`."""
        return str(self.limit)


class BufferLimit(_Limit):
    """The limit counts bytes."""

    action: ClassVar[str] = "set_buffer_limit"

    def describe(self) -> str:
        """Returns `300 KB` or `unlimited`."""
        return "unlimited" if self.limit == UNLIMITED else super().describe()


class BufferLimitInPackets(_Limit):
    """The limit counts packets, however long they are."""

    action: ClassVar[str] = "set_buffer_limit_in_packets"
    unit: ClassVar[type[Bytes | Packets]] = Packets
    param: ClassVar[str] = "buffer_packets"


class BufferLimitBesideHeld(_Limit):
    """The limit counts bytes, but not those that came while the link was not awake."""

    action: ClassVar[str] = "set_buffer_limit_beside_held"

    def describe(self) -> str:
        """Returns `300 KB beside held packets`."""
        return f"{super().describe()} beside held packets"

    def summary(self) -> str:
        """Returns `300KB beside held`."""
        return f"{super().summary()} beside held"
