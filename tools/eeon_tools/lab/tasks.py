"""Tasks for a lab's hosts. A task is started once, receives the packets of its hosts, and has a result.

Times are picoseconds of virtual time. Tasks that are started together run concurrently.
"""

from __future__ import annotations

import json
import struct
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from eeon_control.units import Bytes, DataRate, Duration

from eeon_tools.errors import InputError
from eeon_tools.lab import packets
from eeon_tools.lab.packets import Packet
from eeon_tools.quantiles import by_rank
from eeon_tools.trace.capture import read_packets

if TYPE_CHECKING:
    from eeon_engine.json_types import FlowReport

    from eeon_tools.lab.network import Lab

PS_PER_S = 10**12
PS_PER_US = 10**6
MAX_PACKETS = 1_000_000
MAX_REQUESTS = 65_535
_MAC_HEADER_BYTES = 14
_UDP_HEADER_BYTES = _MAC_HEADER_BYTES + 20 + 8
_STREAM = struct.Struct("!IIQ")
MIN_STREAM_FRAME_BYTES = _UDP_HEADER_BYTES + _STREAM.size
MAX_STREAM_FRAME_BYTES = 9014
_UDP_PORT = 5001
_PING_DATA = bytes(range(56))


class Task(ABC):
    """One task. `number` is unique among the tasks of the lab. `_ended`: no further event can change it."""

    number = 0
    _ended = False

    def _end(self) -> None:
        self._ended = True

    @abstractmethod
    def start(self, lab: Lab) -> None:
        """Starts the task. Raises InputError for a host or an address that does not exist."""

    def heard(self, at_ps: int, host: str, packet: Packet) -> None:
        """Processes an IPv4 packet addressed to a host that has received it; by default, ignores it."""
        return None

    @property
    def is_done(self) -> bool:
        """Whether the task has ended."""
        return self._ended

    @abstractmethod
    def result(self) -> dict[str, object]:
        """Returns the result as JSON: the task's `kind`, hosts, counts, times with their units."""

    @abstractmethod
    def text(self) -> str:
        """Returns the result as one line."""


@dataclass
class Ping(Task):
    """`count` ICMP echo requests, one every `interval_ps`; after the last, the wait is `timeout_ps`."""

    source: str
    destination: str
    count: int = 3
    interval_ps: int = PS_PER_S
    timeout_ps: int = 10 * PS_PER_S
    _sent: dict[int, int] = field(default_factory=dict)
    _times_ps: dict[int, int] = field(default_factory=dict)

    def start(self, lab: Lab) -> None:
        if self.count > MAX_REQUESTS:
            rule = f"a ping has {MAX_REQUESTS:,} at most, because their numbers have 16 bits"
            raise InputError("ping", f"{self.count:,} requests", rule)
        lab.check_time((self.count - 1) * self.interval_ps + self.timeout_ps)
        target = lab.address_of(self.destination)
        own = lab.address_of(self.source)

        def ask(sequence: int) -> None:
            request = packets.echo(packets.ECHO_REQUEST, self.number & 0xFFFF, sequence, _PING_DATA)
            self._sent[sequence] = lab.now_ps
            lab.send_ip(self.source, target, packets.ipv4(own, target, packets.PROTOCOL_ICMP, request))
            if sequence < self.count:
                lab.call_at(lab.now_ps + self.interval_ps, lambda: ask(sequence + 1))
            else:
                lab.call_at(lab.now_ps + self.timeout_ps, self._end)

        ask(1)

    def heard(self, at_ps: int, host: str, packet: Packet) -> None:
        reply = packet.icmp() if host == self.source else None
        if reply is None or reply[0] != packets.ECHO_REPLY or reply[1] != self.number & 0xFFFF:
            return
        sequence = reply[2]
        if sequence in self._sent:
            self._times_ps.setdefault(sequence, at_ps - self._sent[sequence])

    @property
    def is_done(self) -> bool:
        return self._ended or len(self._times_ps) == self.count

    @property
    def received(self) -> int:
        """The number of requests that were answered."""
        return len(self._times_ps)

    def result(self) -> dict[str, object]:
        return {
            "kind": "ping",
            "source": self.source,
            "destination": self.destination,
            "sent": len(self._sent),
            "received": self.received,
            "rtt_us": {name: ps / PS_PER_US for name, ps in self._round_trip_ps().items()} or None,
        }

    def text(self) -> str:
        line = f"{self.source} ping {self.destination}: {len(self._sent)} sent, {self.received} answered"
        times = ", ".join(f"{name} {_us(ps)}" for name, ps in self._round_trip_ps().items())
        return f"{line}; round trip {times}" if times else line

    def _round_trip_ps(self) -> dict[str, int]:
        times = self._times_ps.values()
        if not times:
            return {}
        return {"min": min(times), "mean": sum(times) // len(times), "max": max(times)}


@dataclass
class UdpStream(Task):
    """Datagrams at a constant rate. `size` is a frame's length without FCS; the rate counts frames of that
    length. `tos` is the whole byte of the IPv4 header: 1 is ECT(1), 2 is ECT(0)."""

    source: str
    destination: str
    rate: DataRate = DataRate(10**6)  # noqa: RUF009 - a number, and frozen
    duration_ps: int = PS_PER_S
    count: int | None = None
    size: Bytes = Bytes(1000)  # noqa: RUF009
    tos: int = 0
    port: int = _UDP_PORT
    settle_ps: int = 10 * PS_PER_S
    _sent: int = 0
    _delays_ps: dict[int, int] = field(default_factory=dict)
    _copies: int = 0
    _tos: Counter[int] = field(default_factory=Counter)

    @property
    def packets(self) -> int:
        """The number of packets that the task sends."""
        if self.count is not None:
            return self.count
        return max(1, self.duration_ps * int(self.rate) // (int(self.size) * 8 * PS_PER_S))

    def start(self, lab: Lab) -> None:
        if not MIN_STREAM_FRAME_BYTES <= self.size <= MAX_STREAM_FRAME_BYTES:
            raise InputError(
                "--size",
                str(self.size),
                f"write a frame's length, {MIN_STREAM_FRAME_BYTES}B to {MAX_STREAM_FRAME_BYTES}B",
            )
        total = self.packets
        if total > MAX_PACKETS:
            raise InputError("udp", f"{total:,} packets", f"a stream has {MAX_PACKETS:,} at most")
        own, target = lab.address_of(self.source), lab.address_of(self.destination)
        padding = bytes(int(self.size) - MIN_STREAM_FRAME_BYTES)
        gap_ps = int(self.size) * 8 * PS_PER_S // int(self.rate)
        lab.check_time((total - 1) * gap_ps + self.settle_ps)
        began = lab.now_ps

        def send() -> None:
            data = _STREAM.pack(self.number, self._sent, lab.now_ps) + padding
            datagram = packets.udp(self.port, self.port, data)
            packet = packets.ipv4(own, target, packets.PROTOCOL_UDP, datagram, self.tos)
            lab.send_ip(self.source, target, packet)
            self._sent += 1
            if self._sent < total:
                lab.call_at(began + self._sent * gap_ps, send)
            else:
                lab.call_at(lab.now_ps + self.settle_ps, self._end)

        send()

    def heard(self, at_ps: int, host: str, packet: Packet) -> None:
        datagram = packet.udp()
        if host == self.source or datagram is None or len(datagram[2]) < _STREAM.size:
            return
        number, sequence, sent_ps = _STREAM.unpack_from(datagram[2])
        if datagram[1] != self.port or number != self.number or sequence >= self._sent:
            return
        self._tos[packet.tos] += 1
        if sequence in self._delays_ps:
            self._copies += 1
        else:
            self._delays_ps[sequence] = at_ps - sent_ps

    @property
    def is_done(self) -> bool:
        return self._ended or len(self._delays_ps) == self.packets

    def result(self) -> dict[str, object]:
        return {
            "kind": "udp",
            "source": self.source,
            "destination": self.destination,
            "frame_bytes": int(self.size),
            "sent": self._sent,
            "received": len(self._delays_ps),
            "copies": self._copies,
            "tos": {f"0x{tos:02x}": count for tos, count in sorted(self._tos.items())},
            "delay_us": {name: ps / PS_PER_US for name, ps in self._quantiles_ps().items()} or None,
        }

    def text(self) -> str:
        received = len(self._delays_ps)
        line = (
            f"{self.source} udp {self.destination}: {self._sent:,} sent of {self.size}, "
            f"{received:,} received, {self._sent - received:,} lost"
        )
        if self._copies:
            line += f", {self._copies:,} copies"
        if delays := ", ".join(f"{name} {_us(ps)}" for name, ps in self._quantiles_ps().items()):
            seen = ", ".join(f"0x{tos:02x} {count:,}" for tos, count in sorted(self._tos.items()))
            line += f"; delay {delays}; ToS {seen}"
        return line

    def _quantiles_ps(self) -> dict[str, int]:
        delays = sorted(self._delays_ps.values())
        shares = {"p50": 0.5, "p99": 0.99, "max": 1.0}
        return {name: by_rank(delays, share) for name, share in shares.items()} if delays else {}


@dataclass
class TcpFlow(Task):
    """Bytes over a TCP connection of the engine's own hosts. `settings`: keys of the engine's `TcpSpec`."""

    source: str
    destination: str
    size: Bytes
    settings: dict[str, object] = field(default_factory=dict)
    limit_ps: int = 3600 * PS_PER_S
    _flow: FlowReport | None = None

    def start(self, lab: Lab) -> None:
        lab.check_time(self.limit_ps)
        number = lab.start_flow(self.source, self.destination, int(self.size), json.dumps(self.settings))
        began = lab.now_ps
        # Each poll costs a call, so the longer a flow takes, the fewer there are.
        first_ps = PS_PER_S // 1000

        def look() -> None:
            flow = self._flow = lab.flow(number)
            elapsed = lab.now_ps - began
            if flow["completion_ps"] is not None or flow["given_up"] or elapsed >= self.limit_ps:
                self._end()
            else:
                lab.call_at(lab.now_ps + max(first_ps, elapsed // 8), look)

        lab.call_at(began + first_ps, look)

    def result(self) -> dict[str, object]:
        return {"kind": "tcp", **(self._flow or {})}

    def text(self) -> str:
        flow = self._flow
        line = f"{self.source} tcp {self.destination}: "
        if flow is None:
            return line + "not begun"
        if flow["completion_ps"] is None:
            why = "given up" if flow["given_up"] else f"not finished after {Duration(self.limit_ps)}"
            return line + f"{why}; {flow['received_bytes']:,} of {flow['bytes']:,} bytes arrived"
        return line + (
            f"{flow['bytes']:,} bytes in {_us(flow['completion_ps'])}, "
            f"{(flow['goodput_bps'] or 0) / 1e6:,.2f} Mbit/s; "
            f"{flow['retransmitted_segments']:,} segments sent again, {flow['timeouts']:,} time-outs, "
            f"{flow['mark_reductions']:,} reductions by marks"
        )


@dataclass
class SendFrames(Task):
    """Frames sent unchanged, at their own times: those of a capture, or given ones."""

    host: str
    frames: Sequence[tuple[int, bytes]]
    settle_ps: int = PS_PER_S // 10
    what: str = "frames"
    _sent: int = 0

    @classmethod
    def of_capture(cls, host: str, path: Path) -> SendFrames:
        """Returns the frames of a pcap or pcapng file. Raises TraceError or InputError."""
        frames: list[tuple[int, bytes]] = []
        first: int | None = None
        for packet in read_packets(path):
            first = packet.time_ns if first is None else first
            if len(frames) >= MAX_PACKETS:
                raise InputError(path, "", f"has more than {MAX_PACKETS:,} packets")
            padded = packet.captured + bytes(packet.frame_bytes - len(packet.captured))
            frames.append((max(0, packet.time_ns - first) * 1000, padded))
        if not frames:
            raise InputError(path, "", "has no packets")
        return cls(host, frames, what=path.name)

    def start(self, lab: Lab) -> None:
        began = lab.now_ps
        end_ps = max((at_ps for at_ps, _ in self.frames), default=0) + self.settle_ps
        lab.check_time(end_ps)

        def send(frame: bytes) -> None:
            lab.send_frame(self.host, frame)
            self._sent += 1

        for at_ps, frame in self.frames:
            lab.call_at(began + at_ps, partial(send, frame))
        lab.call_at(began + end_ps, self._end)

    def result(self) -> dict[str, object]:
        return {"kind": "send", "host": self.host, "what": self.what, "sent": self._sent}

    def text(self) -> str:
        return f"{self.host} send {self.what}: {self._sent:,} frames"


def _us(ps: int) -> str:
    return f"{ps / PS_PER_US:,.1f} us"
