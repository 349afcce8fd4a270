"""The buffer limit of a port."""

from dataclasses import dataclass
from typing import ClassVar

from eeon_control.constants import BYTE_COUNT_MAX
from eeon_control.port_settings import codec
from eeon_control.port_settings.codec import Settings, size_text
from eeon_control.units import Bytes, Packets

UNLIMITED = Bytes(BYTE_COUNT_MAX)
"""The program's limit if none is set (p4src/include/control/buffer.p4)."""


@dataclass(frozen=True)
class _Limit(Settings):
    """A limit above which packets are dropped. Exact for every limit of 32 bits."""

    limit: Bytes | Packets

    params = (("buffer_bytes", "limit", codec.BYTES),)

    def describe(self) -> str:
        """Returns `300 KB` or `200 packets`."""
        return size_text(self.limit)


class BufferLimit(_Limit):
    """A limit in bytes."""

    action: ClassVar[str] = "set_buffer_limit"

    def describe(self) -> str:
        """Returns `300 KB` or `unlimited`."""
        return "unlimited" if self.limit == UNLIMITED else super().describe()


class BufferLimitInPackets(_Limit):
    """A limit in packets of any length."""

    action: ClassVar[str] = "set_buffer_limit_in_packets"
    params = (("buffer_packets", "limit", codec.PACKETS),)


class BufferLimitBesideHeld(_Limit):
    """A limit in bytes, excluding those that arrived while the link was not awake."""

    action: ClassVar[str] = "set_buffer_limit_beside_held"

    def describe(self) -> str:
        """Returns `300 KB excluding held packets`."""
        return f"{super().describe()} excluding held packets"
