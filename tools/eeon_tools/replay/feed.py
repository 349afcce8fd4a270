"""A trace as the hosts of a fabric send it: the host and the time of each frame, in batches of bounded size.

A frame is sent by the host that has its source address, to the router at the end of the host's link, whatever
its captured MACs are. Captures made elsewhere can be replayed by mapping their addresses to hosts
(`--map`): then source and destination addresses and checksums are rewritten, because the fabric routes
only to its own addresses.

Packets that cannot be sent through the fabric are left out and counted: frames that stay on a host's link,
which are those that are not IP (ARP, LLDP) and those with link-local addresses; multicast; packets from a
host to itself; further copies of packets in a capture of several interfaces. A frame is sent as a NIC sends
it: one of segmentation offload is cut into its segments, and a short one, which a capture at its sender has
without padding, is padded. A checksum of 0 in the IPv4 header, which hosts leave to the NIC, is computed.
"""

from __future__ import annotations

import ipaddress
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, repeat
from pathlib import Path
from typing import Literal, TypeAlias

from eeon_control.topology import Host

from eeon_tools.errors import TraceError
from eeon_tools.trace.capture import OnBreak, read_packets
from eeon_tools.trace.copies import REPEATED, Copies
from eeon_tools.trace.frames import (
    ECN_NAMES,
    ETHERNET_HEADER_BYTES,
    MIN_FRAME_BYTES,
    MTU_BYTES,
    internet_checksum,
    mac_bytes,
)
from eeon_tools.trace.layers import CHECKSUM_AT, ICMPV6, UDP, IpFrame, protocol_name
from eeon_tools.trace.offload import Segmenter, cut
from eeon_tools.trace.savefiles import Packet

BATCH_PACKETS = 8192
BATCH_BYTES = 16 << 20
MAX_RUN_PS = 10**6 * 10**12
"""Picoseconds; the longest replay: 10^6 s, eleven days. The engine's own limit is 26 days."""
_PS_PER_NS = 1000
_MAX_OFFER_BYTES = 65_535
_LONGEST_USUAL_BYTES = ETHERNET_HEADER_BYTES + MTU_BYTES + 4
"""Bytes of a full frame with a VLAN tag."""
_TCP_HEADER_END = 20
Unmapped: TypeAlias = Literal["drop", "refuse"]
Reason: TypeAlias = Literal["copies", "multicast", "link_local", "unmapped", "same_host", "too_long"]
"""Why an IP packet is left out; the name of its count in `FeedCounts`."""
_PROTOCOLS_SHOWN = 4
_KNOWN_ADDRESSES = 65_536  # of a trace, cached at a time
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Offer:
    """One frame for a host to send: host index, time in picoseconds since the start, frame length, captured
    headers, and the packet's number in the trace, from 1. `ends`: the addresses in the trace, where they were
    mapped to hosts."""

    host: int
    at_ps: int
    frame_bytes: int
    captured: bytes
    number: int = 0
    ends: bytes = b""


def flat(
    batch: Sequence[Offer], unit_ps: int = 1
) -> tuple[array[int], array[int], array[int], bytearray, array[int]]:
    """Returns frames as the flat arrays that the engine takes (`Twin.feed`, `Traffic.add`): hosts, times in
    units of `unit_ps`, offsets, captured bytes, lengths."""
    offsets, frames = array("Q", [0]), bytearray()
    for offer in batch:
        frames += offer.captured
        offsets.append(len(frames))
    return (
        array("I", [offer.host for offer in batch]),
        array("Q", [offer.at_ps // unit_ps for offer in batch]),
        offsets,
        frames,
        array("I", [offer.frame_bytes for offer in batch]),
    )


@dataclass
class FeedCounts:
    """Counts of a trace's packets. `offered`: frames that hosts send; `first_ns`: time of the first packet;
    `last_ps`: time of the last offer.

    Left out: `copies` (a capture of several interfaces already has the packet), `not_ip` (by protocol),
    `multicast` (and broadcast), `link_local` (such an address has no host), `unmapped` (another address
    belongs to no host), `same_host` (from a host to itself), `too_long` (longer than a frame of 65,535
    bytes). `super_frames`: of segmentation offload; `segments`: the number of their segments.
    `long_frames`: others beyond an MTU of 1,500 bytes, sent unchanged, as jumbo frames are. `repeated`:
    sent, although captured twice (`Copies`). `by_ecn`: frames that hosts send, by ECN codepoint."""

    offered: int = 0
    copies: int = 0
    not_ip: dict[str, int] = field(default_factory=dict)
    multicast: int = 0
    link_local: int = 0
    unmapped: int = 0
    same_host: int = 0
    too_long: int = 0
    super_frames: int = 0
    segments: int = 0
    long_frames: int = 0
    repeated: int = 0
    by_ecn: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ECN_NAMES, 0))
    first_ns: int = 0
    last_ps: int = 0

    def remarks(self) -> list[str]:
        """Returns remarks for the reader of the result, in sentences."""
        found = []
        if self.segments:
            found.append(
                f"frames of segmentation offload, cut into {self.segments:,} segments as by a NIC "
                f"(--keep-super-frames sends them whole): {self.super_frames:,}"
            )
        elif self.super_frames:
            found.append(
                "frames of segmentation offload, sent whole, although no link carries such frames and a "
                f"switch marks and drops each as one: {self.super_frames:,}"
            )
        if self.long_frames:
            found.append(
                f"other frames longer than {_LONGEST_USUAL_BYTES:,} bytes, sent as they are: "
                f"{self.long_frames:,}"
            )
        if self.repeated:
            found.append(REPEATED.format(self.repeated))
        left_out = (
            ("they are further copies, seen at another interface", self.copies),
            (f"they are not IP ({_listed(self.not_ip)})", sum(self.not_ip.values())),
            ("they are multicast or broadcast", self.multicast),
            ("an address is link-local", self.link_local),
            ("an address belongs to no host of the fabric", self.unmapped),
            ("they go from a host to itself", self.same_host),
            (f"they are longer than {_MAX_OFFER_BYTES:,} bytes", self.too_long),
        )
        return found + [f"packets left out because {why}: {count:,}" for why, count in left_out if count]


class _Addresses:
    """The host of each address: by its own mapping, else its owner, else by the longest mapped prefix."""

    def __init__(self, assignments: Iterable[str], hosts: list[Host]) -> None:
        """Parses `ip=host` and `prefix=host` assignments. Raises TraceError that names a wrong one."""
        by_name = {host.name: index for index, host in enumerate(hosts)}
        found: dict[_Network, int] = {}
        for text in assignments:
            address, equals, name = text.partition("=")
            if not equals:
                raise TraceError("--map", text, "has no host; write ip=host or prefix=host")
            try:
                network = ipaddress.ip_network(address.strip())
            except ValueError as error:
                why = "has bits beyond its prefix" if "host bits set" in str(error) else "is not an address"
                raise TraceError(
                    "--map", text, f"{address!r} {why}; write an IP address or a prefix: 10.1.0.0/16=host"
                ) from None
            if name.strip() not in by_name:
                known = ", ".join([*list(by_name)[:8], *(["..."] if len(by_name) > 8 else [])])
                raise TraceError("--map", text, f"{name!r} is not a host of the fabric; there are {known}")
            if network in found:
                raise TraceError("--map", text, f"{address} is mapped twice")
            found[network] = by_name[name.strip()]
        self.named = {host.ipv4.packed: index for index, host in enumerate(hosts)}
        """The addresses that are mapped or owned alone."""
        self.named |= {host.ipv6.packed: index for index, host in enumerate(hosts)}
        self.named |= {one.network_address.packed: found[one] for one in found if one.num_addresses == 1}
        wide = [(one, host) for one, host in found.items() if one.num_addresses > 1]
        self._longest_first = sorted(wide, key=lambda one: -one[0].prefixlen)
        self.host_of = lru_cache(_KNOWN_ADDRESSES)(self._host_of)

    def _host_of(self, address: bytes) -> int | None:
        """Returns the host of an address; None if it belongs to none."""
        if (host := self.named.get(address)) is not None:
            return host
        whole = ipaddress.ip_address(address)
        return next((host for network, host in self._longest_first if whole in network), None)


def in_order(trace: Path, on_break: OnBreak | None = None) -> Iterator[tuple[int, int, Packet]]:
    """Yields the packets of a trace with their numbers, from 1, and their nanoseconds since the first. Raises
    TraceError for one that is earlier than the one before it."""
    first_ns = previous_ns = None
    for number, packet in enumerate(read_packets(trace, on_break), start=1):
        if first_ns is None or previous_ns is None:
            first_ns = previous_ns = packet.time_ns
        if packet.time_ns < previous_ns:
            raise TraceError(
                trace,
                f"packet {number}",
                f"is {previous_ns - packet.time_ns} ns earlier than the packet before it; sort the trace by "
                "time first (reordercap does)",
            )
        previous_ns = packet.time_ns
        yield number, packet.time_ns - first_ns, packet


def replay_ps(trace: Path, number: int, since_ns: int, speed: float) -> int:
    """Returns the picoseconds of a replay at which a packet is sent. Raises TraceError beyond the longest
    replay."""
    at_ps = since_ns * _PS_PER_NS if speed == 1.0 else round(since_ns * _PS_PER_NS / speed)
    if at_ps > MAX_RUN_PS:
        raise TraceError(
            trace,
            f"packet {number}",
            f"is {since_ns / 1e9:,.3f} s after the first one; at speed {speed:g} that is beyond the longest "
            f"replay, {MAX_RUN_PS // 10**12:,} s",
        )
    return at_ps


@dataclass(frozen=True)
class SendRules:
    """How hosts send a trace. `mapping`: `ip=host` and `prefix=host`. `unmapped`: the treatment of packets
    with an address that belongs to no host; by default, unicast ends the trace with an error, and multicast
    and link-local packets are left out. `keep_super_frames`: send frames of segmentation offload whole."""

    mapping: tuple[str, ...] = ()
    unmapped: Unmapped | None = None
    keep_super_frames: bool = False


AS_A_NIC = SendRules()
"""The default."""


class Feed:
    """Turns the packets of a trace into offers, in order of time. Iterate once; then `counts` is complete.
    Raises TraceError for wrong mappings."""

    def __init__(
        self,
        trace: Path,
        hosts: list[Host],
        speed: float,
        rules: SendRules = AS_A_NIC,
        on_break: OnBreak | None = None,
    ) -> None:
        self._rules = rules
        self._segmenter = Segmenter()
        self._trace = trace
        self._speed = speed
        self._hosts = hosts
        self._stations = [mac_bytes(host.gateway_mac) + mac_bytes(host.mac) for host in hosts]
        self._addresses = _Addresses(rules.mapping, hosts)
        self._on_break = on_break
        self.counts = FeedCounts()
        self.left_out: Reason | None = None
        """Why the last IP packet was left out that was."""

    def batches(self) -> Iterator[list[Offer]]:
        """Yields offers in lists of bounded length and bytes of frames."""
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

    def offers(self, last: int | None = None) -> Iterator[Offer]:
        """Yields offers one at a time, with one packet in memory; stops after packet `last`."""
        counts = self.counts
        copies = Copies()
        for number, since_ns, packet in islice(in_order(self._trace, self._on_break), last):
            counts.first_ns = packet.time_ns - since_ns
            ip = IpFrame.of(packet.captured, packet.frame_bytes)
            if ip is None:
                name = protocol_name(packet.captured)
                counts.not_ip[name] = counts.not_ip.get(name, 0) + 1
                continue
            ip = _with_checksum(self._with_headers(number, ip))
            segment = self._segmenter.payload_of_segment(ip)
            seen = copies.seen(packet, ip, segment)
            if seen and all(seen):
                self._leave_out("copies")
                continue
            at_ps = replay_ps(self._trace, number, since_ns, self._speed)
            offer = self._offer(number, ip, at_ps)
            if offer is None:
                continue
            ecn = ECN_NAMES[ip.traffic_class & 3]
            is_usual = segment is None and offer.frame_bytes <= _LONGEST_USUAL_BYTES
            for one in (offer,) if is_usual else self._as_sent(offer, ip, segment, seen):
                counts.offered += 1
                counts.by_ecn[ecn] += 1
                counts.last_ps = at_ps
                yield one
        counts.repeated = copies.repeated
        if counts.offered == 0 and last is None:
            raise TraceError(
                self._trace, "", "; ".join(["has no IPv4 or IPv6 packet to replay", *counts.remarks()])
            )

    def _as_sent(self, offer: Offer, ip: IpFrame, segment: int | None, seen: list[bool]) -> Iterator[Offer]:
        """Yields the frames that a NIC sends for a frame of its host: if it must be segmented, several with
        at most `segment` bytes of payload each, without those that were `seen` at another interface."""
        counts = self.counts
        if segment is not None:
            counts.super_frames += 1
            if not self._rules.keep_super_frames:
                whole = IpFrame(offer.captured, offer.frame_bytes, ip.ip_at, ip.version)
                for one, is_copy in zip(cut(whole, segment), seen or repeat(False), strict=False):
                    if not is_copy:
                        counts.segments += 1
                        sent_bytes = max(one.frame_bytes, MIN_FRAME_BYTES)
                        yield replace(offer, frame_bytes=sent_bytes, captured=one.captured)
                return
        elif offer.frame_bytes > _LONGEST_USUAL_BYTES and offer.frame_bytes <= _MAX_OFFER_BYTES:
            counts.long_frames += 1
        if offer.frame_bytes > _MAX_OFFER_BYTES:
            self._leave_out("too_long")
        else:
            yield offer

    def _with_headers(self, number: int, ip: IpFrame) -> IpFrame:
        """Returns a frame with all headers that switches and hosts need to classify it alike. Missing bytes
        after the TCP flags become zeros. Raises TraceError if earlier ones are missing."""
        kept, found, end = len(ip.captured), ip.transport, ip.headers_end
        is_tcp = found is not None and found.is_tcp
        if ip.has_addresses:
            if kept == ip.frame_bytes:
                return ip
            if found is not None and end is not None and kept >= min(end, ip.frame_bytes):
                whole = min(found.at + _TCP_HEADER_END, ip.frame_bytes) if is_tcp else kept
                return IpFrame(ip.captured.ljust(whole, b"\0"), ip.frame_bytes, ip.ip_at, ip.version)
            problem = (
                f"only {kept} of its {ip.frame_bytes} bytes were captured, and its "
                f"{'TCP flags' if is_tcp else 'headers'} end at byte {end or kept + 1} or later; capture "
                "more of each frame (`tcpdump -s 128`)"
            )
        elif kept < ip.frame_bytes:
            problem = (
                f"only {kept} of its {ip.frame_bytes} bytes were captured, too few for IP addresses; "
                "capture more of each frame"
            )
        else:
            problem = f"its {kept} bytes end before its IP addresses; remove it from the trace"
        raise TraceError(self._trace, f"packet {number}", problem)

    def _leave_out(self, reason: Reason) -> None:
        setattr(self.counts, reason, getattr(self.counts, reason) + 1)
        self.left_out = reason

    def _offer(self, number: int, ip: IpFrame, at_ps: int) -> Offer | None:
        """Returns the frame that a host sends for a packet, or None if it is left out."""
        frame = ip.captured
        addresses = ip.source, ip.destination
        source, destination = map(self._addresses.host_of, addresses)
        # A mapped prefix may contain its networks' broadcast addresses. A frame to one is for all stations;
        # so is a frame whose sender knew no MAC address.
        is_broadcast = ip.version == 4 and addresses[1][3] == 0xFF and frame[:6] == b"\xff" * 6
        is_group = is_broadcast or _is_group(addresses[1])
        if is_group and addresses[1] not in self._addresses.named and self._rules.unmapped != "refuse":
            self._leave_out("multicast")
            return None
        hosts = (source, destination)
        if self._rules.unmapped != "refuse" and any(
            host is None and _is_link_local(address) for address, host in zip(addresses, hosts, strict=True)
        ):
            self._leave_out("link_local")
            return None
        # Without a mapping, an address may be the controller's, or another that the fabric routes.
        if source is None or (destination is None and self._rules.mapping):
            if self._rules.unmapped != "drop":
                what = "source" if source is None else "destination"
                raise self._unknown(number, what, addresses[0 if source is None else 1])
            self._leave_out("unmapped")
            return None
        if source == destination:
            self._leave_out("same_host")
            return None
        if self._rules.mapping:
            assert destination is not None, "an unknown one is refused"
            frame = self._mapped(ip, source, destination)
        elif frame[:12] != (stations := self._stations[source]):
            frame = stations + frame[12:]
        ends = b"".join(addresses) if self._rules.mapping else b""
        return Offer(source, at_ps, max(ip.frame_bytes, MIN_FRAME_BYTES), frame, number, ends)

    def _mapped(self, ip: IpFrame, source: int, destination: int) -> bytes:
        frame = bytearray(ip.captured)
        sender, receiver = self._hosts[source], self._hosts[destination]
        frame[:12] = self._stations[source]
        ends = (sender.ipv4, receiver.ipv4) if ip.version == 4 else (sender.ipv6, receiver.ipv6)
        new = [address.packed for address in ends]
        frame[ip.source_at : ip.addresses_end] = b"".join(new)
        _fix_checksums(frame, ip, _words(new[0]) - _words(ip.source), _words(new[1]) - _words(ip.destination))
        return bytes(frame)

    def _unknown(self, number: int, what: str, address: bytes) -> TraceError:
        text = ipaddress.ip_address(address)
        return TraceError(
            self._trace,
            f"packet {number}",
            f"{what} {text} is not a host of the fabric ({self._hosts[0].ipv4} to {self._hosts[-1].ipv4}); "
            f"say which host stands for it, --map {text}={self._hosts[0].name}, or leave such packets out, "
            "--unmapped drop",
        )


class ReadFeed:
    """A feed that is read once for several replays; all its offers are in memory."""

    def __init__(self, feed: Feed) -> None:
        self._batches = list(feed.batches())
        self.counts = feed.counts

    def batches(self) -> Iterator[list[Offer]]:
        """Yields the lists of offers of the feed."""
        return iter(self._batches)


def _listed(counts: dict[str, int]) -> str:
    """Returns names with their counts, most first."""
    parts = [f"{name} {count:,}" for name, count in Counter(counts).most_common(_PROTOCOLS_SHOWN)]
    return ", ".join([*parts, *(["..."] if len(counts) > _PROTOCOLS_SHOWN else [])])


def _words(data: bytes) -> int:
    return sum(int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))


def _fix_checksums(frame: bytearray, ip: IpFrame, source_change: int, destination_change: int) -> None:
    """Updates the IPv4 header checksum and the transport checksum after addresses of `ip` have changed.

    Incremental (RFC 1624), because the payload may be missing. A UDP checksum of zero means none (RFC 768).
    """
    change = source_change + destination_change
    if ip.version == 4:
        _adjust(frame, ip.source_at - 2, change)
    found = ip.transport
    if found is None or not found.is_first or found.protocol not in CHECKSUM_AT:
        return
    if found.protocol == ICMPV6 and ip.version == 4:
        return
    at = found.at + CHECKSUM_AT[found.protocol]
    if len(frame) < at + 2 or (found.protocol == UDP and frame[at : at + 2] == b"\0\0"):
        return
    # After a routing header with segments left, the checksum covers the last segment (RFC 8200 8.1).
    _adjust(frame, at, source_change if found.is_routed else change)
    if found.protocol == UDP and frame[at : at + 2] == b"\0\0":
        frame[at : at + 2] = b"\xff\xff"


def _with_checksum(ip: IpFrame) -> IpFrame:
    """Returns a frame with the IPv4 header checksum that a host leaves to its NIC. A header that is too short
    keeps its own, and switches drop it."""
    at = ip.ip_at
    if ip.version != 4 or ip.captured[at + 10 : at + 12] != b"\0\0":
        return ip
    found = ip.transport
    if found is None or not at + 20 <= found.at <= len(ip.captured):
        return ip
    checksum = internet_checksum(ip.captured[at : found.at]).to_bytes(2, "big")
    frame = ip.captured[: at + 10] + checksum + ip.captured[at + 12 :]
    return IpFrame(frame, ip.frame_bytes, at, 4)


def _is_group(address: bytes) -> bool:
    """Returns whether an address is a multicast or broadcast address."""
    if len(address) == 4:
        return 224 <= address[0] < 240 or address == b"\xff" * 4
    return address[0] == 0xFF


def _is_link_local(address: bytes) -> bool:
    """Returns whether an address is of a range that no router forwards (RFC 3927, 2.7; RFC 4291, 2.5.6)."""
    if len(address) == 4:
        return address[:2] == b"\xa9\xfe"
    return address[0] == 0xFE and address[1] >> 6 == 2


def _adjust(frame: bytearray, at: int, change: int) -> None:
    # RFC 1624 (3): HC' = ~(~HC + ~m + m'), in one's complement arithmetic, which is arithmetic modulo 0xffff.
    # A sum of 0 is written as 0xffff, because only a packet of zeros has the sum 0.
    total = (0xFFFF - int.from_bytes(frame[at : at + 2], "big") + change) % 0xFFFF
    frame[at : at + 2] = (0xFFFF - (total or 0xFFFF)).to_bytes(2, "big")
