"""Settings of only one kind of target: BMv2's own queues, which count packets and are set over Thrift.

The program enforces the buffer limit in bytes. The target's own queue must never overflow, because BMv2 drops
there silently. BMv2's default of 64 packets is far too small; `auto` computes a sufficient depth.
"""

from dataclasses import dataclass
from math import ceil
from typing import Annotated, Literal

from pydantic import Field

from eeon_control.model_base import FULL_FRAME_BYTES, Strict, of_text, positive, text_schema
from eeon_control.topology.model import Port
from eeon_control.units import Bytes, PacketRate, Packets

_SHORTEST_FRAME_BYTES = 60  # IEEE 802.3 clause 3.2.7: 64 with the FCS, which a switch does not see
_ETHERNET_HEADER_BYTES = 14
_MAX_DEPTH = (1 << 31) - 1  # `i32 depth_pkts` of BMv2's simple_switch.thrift


def _depth(text: object) -> Packets | Literal["auto"]:
    if text == "auto":
        return "auto"
    depth = positive(Packets)(text)
    if depth > _MAX_DEPTH:
        raise ValueError(f"at most {_MAX_DEPTH}pkt (31 bits)")
    return Packets(depth)


def _rate(text: object) -> PacketRate | Literal["auto", "unlimited"]:
    if text == "auto":
        return "auto"
    if text == "unlimited":
        return "unlimited"
    return PacketRate(positive(PacketRate)(text))


DepthText = Annotated[
    Packets | Literal["auto"],
    *of_text(_depth, {"anyOf": [{"const": "auto"}, text_schema(Packets, examples=["1024pkt"])]}),
]
PacketRateText = Annotated[
    PacketRate | Literal["auto", "unlimited"],
    *of_text(_rate, {"anyOf": [{"enum": ["auto", "unlimited"]}, text_schema(PacketRate)]}),
]


class Bmv2Queue(Strict):
    """BMv2's own queue of a port. An omitted key is inherited from the less specific level."""

    queue_depth: DepthText | None = None
    """Capacity in packets of BMv2's queue of a port: a number, or `auto`, which is enough for a full buffer
    of the shortest frames. The queue must never overflow, because BMv2 does not count these drops. BMv2's own
    default is 64."""
    packet_rate: PacketRateText | None = None
    """Rate of BMv2's queue of a port in packets per second: a number, `auto` (the port's rate in full
    frames), or `unlimited`. Without a limit, hardly any queue builds up, so no packet is marked."""


class Bmv2PortRoles(Strict):
    """BMv2's queues by port role."""

    host_facing: Bmv2Queue = Bmv2Queue()
    """A leaf's ports to hosts."""
    uplink: Bmv2Queue = Bmv2Queue()
    """A leaf's ports to other switches."""
    spine: Bmv2Queue = Bmv2Queue()
    """A spine's ports."""


class Bmv2(Bmv2Queue):
    """Settings of BMv2 over Thrift, for all ports and, more specifically, by role, switch and port."""

    roles: Bmv2PortRoles = Bmv2PortRoles()
    """By port role."""
    switches: dict[str, Bmv2Queue] = Field(default_factory=dict)
    """By switch."""
    ports: dict[str, Bmv2Queue] = Field(default_factory=dict)
    """By port, written `leaf1:3`. The most specific level wins, for each key separately."""


class TargetSettings(Strict):
    """Settings that only one kind of target has. The engine has none: its queues count bytes, and its links
    count bits."""

    bmv2: Bmv2 | None = None
    """BMv2's own queues. Without this key the controller does not change them. With it, `queue_depth`
    defaults to `auto` and `packet_rate` to `unlimited`."""


@dataclass(frozen=True)
class Bmv2QueueValues:
    """The settings of BMv2's queue of one port, for `set_egress_queue_depth` and `set_egress_queue_rate` of
    its Thrift interface.

    `packets_per_second` is 0 for no limit, as in BMv2.
    """

    depth_packets: int
    packets_per_second: int


def queue_depth(levels: list[Bmv2Queue]) -> Packets | Literal["auto"]:
    """Returns the queue depth of the most specific level that gives one."""
    return next((level.queue_depth for level in levels if level.queue_depth is not None), "auto")


def bmv2_values(levels: list[Bmv2Queue], port: Port, buffer: Bytes | Packets) -> Bmv2QueueValues:
    """Returns the values for one port from its levels, most specific first, and its buffer limit."""
    depth = queue_depth(levels)
    rate = next((level.packet_rate for level in levels if level.packet_rate is not None), "unlimited")
    if depth == "auto":
        full = buffer if isinstance(buffer, Packets) else ceil(buffer / _SHORTEST_FRAME_BYTES)
        depth = Packets(min(full + 1, _MAX_DEPTH))  # one more, because the queue must never be full
    if rate == "auto":
        wire_bits = 8 * (FULL_FRAME_BYTES + _ETHERNET_HEADER_BYTES + int(port.overhead))
        rate = PacketRate(max(1, int(port.rate) // wire_bits))
    elif rate == "unlimited":
        rate = PacketRate(0)
    assert not isinstance(depth, str) and not isinstance(rate, str)
    return Bmv2QueueValues(int(depth), int(rate))
