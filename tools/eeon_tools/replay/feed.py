"""A trace as the hosts of a fabric send it: who sends each frame, and when, in batches of bounded size.

Frames are sent by the host that has their source address. Captures made elsewhere can be replayed by mapping
their addresses to hosts (`AddressMap`): then source and destination addresses, MACs and checksums are
rewritten, because the fabric routes to its own addresses only. Frames that are not IP (ARP, LLDP) are what a
host says to its neighbour and not to the fabric: they are left out and counted.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from eeon_control.constants import ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPES_VLAN

from eeon_tools.errors import TraceError
from eeon_tools.trace.capture import OnBreak, Packet, read_packets
from eeon_tools.trace.hosts import TraceHost

BATCH_PACKETS = 8192
BATCH_BYTES = 16 << 20
MAX_RUN_PS = 10**6 * 10**12
"""Longest replay: 10^6 s, eleven days; the engine's own limit is 26 days."""
_PS_PER_NS = 1000
_KNOWN_ADDRESSES = 65_536  # of a trace that remain looked up, whatever it holds
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Offer:
    """One frame that a host is to send: host index, time in picoseconds since the start, whole length,
    headers, and the packet's number in the trace, from 1."""

    host: int
    at_ps: int
    frame_bytes: int
    captured: bytes
    number: int = 0


@dataclass
class FeedCounts:
    """What became of a trace's packets on their way into the fabric."""

    offered: int = 0
    not_ip: int = 0
    first_ns: int = 0
    last_ps: int = 0


@dataclass(frozen=True)
class AddressMap:
    """Addresses of a foreign trace and the hosts that stand for them; `prefixes`, the longest first."""

    hosts: dict[bytes, int] = field(default_factory=dict)
    prefixes: tuple[tuple[_Network, int], ...] = ()

    @classmethod
    def parse(cls, assignments: Iterable[str], hosts: list[TraceHost]) -> AddressMap:
        """Read `ip=host` and `prefix=host` assignments. Raises TraceError naming the one that is wrong."""
        by_name = {host.name: index for index, host in enumerate(hosts)}
        found: dict[_Network, int] = {}
        for text in assignments:
            address, equals, name = text.partition("=")
            if not equals:
                raise TraceError("--map", text, "has no host; write ip=host or prefix=host")
            try:
                network = ipaddress.ip_network(address.strip())
            except ValueError as error:
                why = "has bits behind the prefix" if "host bits set" in str(error) else "is neither"
                raise TraceError(
                    "--map", text, f"{address!r} {why}; write an IP address or a prefix: 10.1.0.0/16=host"
                ) from None
            if name.strip() not in by_name:
                known = ", ".join(list(by_name)[:8])
                raise TraceError(
                    "--map", text, f"{name!r} is not a host of the fabric; there are {known}, ..."
                )
            if network in found:
                raise TraceError("--map", text, f"{address} is mapped twice")
            found[network] = by_name[name.strip()]
        single = {one.network_address.packed: host for one, host in found.items() if one.num_addresses == 1}
        wide = [(one, host) for one, host in found.items() if one.num_addresses > 1]
        return cls(single, tuple(sorted(wide, key=lambda one: -one[0].prefixlen)))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is mapped: then frames stay as they are."""
        return not self.hosts and not self.prefixes

    def by_prefix(self, address: bytes) -> int | None:
        """The host of the longest prefix that has an address."""
        whole = ipaddress.ip_address(address)
        return next((host for network, host in self.prefixes if whole in network), None)


class Feed:
    """Turns the packets of a trace into offers, in order of time. Iterate once; `counts` is then complete."""

    def __init__(
        self,
        trace: Path,
        hosts: list[TraceHost],
        speed: float,
        mapping: AddressMap,
        on_break: OnBreak | None = None,
    ) -> None:
        self._trace = trace
        self._speed = speed
        self._hosts = hosts
        self._mapping = mapping
        self._own = {host.ipv4.packed: index for index, host in enumerate(hosts)}
        self._own |= {host.ipv6.packed: index for index, host in enumerate(hosts)}
        self._hosts_of: dict[bytes, int | None] = {}
        self._on_break = on_break
        self.counts = FeedCounts()

    def batches(self) -> Iterator[list[Offer]]:
        """Offers in lists that are bounded in number and in bytes of whole frames."""
        batch: list[Offer] = []
        size = 0
        for offer in self.offers():
            batch.append(offer)
            size += offer.frame_bytes
            if len(batch) == BATCH_PACKETS or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def offers(self) -> Iterator[Offer]:
        """Offers one by one, with one packet in memory at a time."""
        counts = self.counts
        previous = -1
        for number, packet in enumerate(read_packets(self._trace, self._on_break), start=1):
            if number == 1:
                counts.first_ns = previous = packet.time_ns
            if packet.time_ns < previous:
                raise TraceError(
                    self._trace,
                    f"packet {number}",
                    f"is {previous - packet.time_ns} ns earlier than the one before; sort the trace by time "
                    "first (reordercap does)",
                )
            previous = packet.time_ns
            place = source_place(packet.captured)
            if place is None:
                counts.not_ip += 1
                continue
            self._check_addresses(number, packet, place)
            since_start = packet.time_ns - counts.first_ns
            if self._speed == 1.0:
                at_ps = since_start * _PS_PER_NS
            else:
                at_ps = round(since_start * _PS_PER_NS / self._speed)
            if at_ps > MAX_RUN_PS:
                raise TraceError(
                    self._trace,
                    f"packet {number}",
                    f"is {since_start / 1e9:,.3f} s after the first one; at speed {self._speed:g} that is "
                    f"beyond the longest replay, {MAX_RUN_PS // 10**12:,} s",
                )
            counts.offered += 1
            counts.last_ps = at_ps
            yield self._offer(number, packet, place, at_ps)
        if counts.offered == 0:
            raise TraceError(self._trace, "", "holds no IPv4 or IPv6 packet; there is nothing to replay")

    def _check_addresses(self, number: int, packet: Packet, place: tuple[int, int]) -> None:
        at, length = place
        kept = len(packet.captured)
        if length and kept >= at + 2 * length:
            return
        if kept < packet.frame_bytes:
            problem = (
                f"only {kept} of its {packet.frame_bytes} bytes were captured, too few to tell who sends it; "
                "capture more of each frame"
            )
        else:
            problem = f"its {kept} bytes end before its IP addresses; take it out of the trace"
        raise TraceError(self._trace, f"packet {number}", problem)

    def _offer(self, number: int, packet: Packet, place: tuple[int, int], at_ps: int) -> Offer:
        at, length = place
        source = packet.captured[at : at + length]
        if not self._mapping.is_empty:
            return self._mapped(number, packet, place, at_ps)
        host = self._own.get(source)
        if host is None:
            raise self._unknown(number, "source", source)
        return Offer(host, at_ps, packet.frame_bytes, packet.captured, number)

    def _mapped(self, number: int, packet: Packet, place: tuple[int, int], at_ps: int) -> Offer:
        at, length = place
        frame = bytearray(packet.captured)
        ends = []
        changes = 0
        for what, offset in (("source", at), ("destination", at + length)):
            address = bytes(frame[offset : offset + length])
            host = self._host_of(address)
            if host is None:
                raise self._unknown(number, what, address)
            own = self._hosts[host]
            new = own.ipv4.packed if length == 4 else own.ipv6.packed
            changes += _words(new) - _words(address)
            frame[offset : offset + length] = new
            ends.append(host)
        sender = self._hosts[ends[0]]
        frame[0:6], frame[6:12] = sender.gateway_mac, sender.mac
        _fix_checksums(frame, at, length, changes)
        return Offer(ends[0], at_ps, packet.frame_bytes, bytes(frame), number)

    def _host_of(self, address: bytes) -> int | None:
        """By the mapped address, else the host's own, else the longest mapped prefix."""
        if address not in self._hosts_of:
            if len(self._hosts_of) >= _KNOWN_ADDRESSES:
                self._hosts_of.clear()
            host = self._mapping.hosts.get(address, self._own.get(address))
            self._hosts_of[address] = self._mapping.by_prefix(address) if host is None else host
        return self._hosts_of[address]

    def _unknown(self, number: int, what: str, address: bytes) -> TraceError:
        text = ipaddress.ip_address(address)
        return TraceError(
            self._trace,
            f"packet {number}",
            f"{what} {text} is no host of the fabric ({self._hosts[0].ipv4} to {self._hosts[-1].ipv4}); "
            f"say which host stands for it: --map {text}={self._hosts[0].name}",
        )


class ReadFeed:
    """A feed that is read once for several replays: all its offers are in memory."""

    def __init__(self, feed: Feed) -> None:
        self._batches = list(feed.batches())
        self.counts = feed.counts

    def batches(self) -> Iterator[list[Offer]]:
        """As the feed's."""
        return iter(self._batches)


def source_place(frame: bytes) -> tuple[int, int] | None:
    """Where the source address stands and how long it is, or None when the frame is not IP.

    The length is 0 when the frame is cut before it says what it is.
    """
    at = 12
    ethertype = int.from_bytes(frame[at : at + 2], "big")
    while ethertype in ETHERTYPES_VLAN:
        at += 4
        ethertype = int.from_bytes(frame[at : at + 2], "big")
    at += 2
    if len(frame) < at:
        return at, 0
    if ethertype == ETHERTYPE_IPV4:
        return at + 12, 4
    if ethertype == ETHERTYPE_IPV6:
        return at + 8, 16
    return None


def _words(data: bytes) -> int:
    return sum(int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))


def _fix_checksums(frame: bytearray, source_at: int, length: int, change: int) -> None:
    """Bring the IPv4 header checksum and the TCP or UDP one up to date after addresses changed by `change`.

    Incremental (RFC 1624), because the payload may not be there. A UDP checksum of zero means none (RFC 768).
    """
    if length == 4:
        ip = source_at - 12
        _adjust(frame, ip + 10, change)
        if int.from_bytes(frame[ip + 6 : ip + 8], "big") & 0x1FFF:
            return
        protocol, transport = frame[ip + 9], ip + (frame[ip] & 0xF) * 4
    else:
        ip = source_at - 8
        protocol, transport = frame[ip + 6], ip + 40
    at = {6: transport + 16, 17: transport + 6}.get(protocol)
    if at is None or len(frame) < at + 2 or (protocol == 17 and frame[at : at + 2] == b"\0\0"):
        return
    _adjust(frame, at, change)
    if protocol == 17 and frame[at : at + 2] == b"\0\0":
        frame[at : at + 2] = b"\xff\xff"


def _adjust(frame: bytearray, at: int, change: int) -> None:
    # RFC 1624 (3): HC' = ~(~HC + ~m + m'), in one's complement arithmetic, which is arithmetic modulo 0xffff.
    # A sum that is 0 there is written 0xffff, for only a packet of zeros has the sum 0.
    total = (0xFFFF - int.from_bytes(frame[at : at + 2], "big") + change) % 0xFFFF
    frame[at : at + 2] = (0xFFFF - (total or 0xFFFF)).to_bytes(2, "big")
