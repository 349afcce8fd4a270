"""The contents of a capture: packets by class, bytes, duration, rates, top hosts, ECN. Works on any Ethernet
capture.

One pass, with memory for each address (bounded: beyond `MAX_ADDRESSES`, all are counted together).
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from eeon_tools.trace.copies import Copies
from eeon_tools.trace.frames import CLASS_NAMES, ECN_NAMES
from eeon_tools.trace.layers import TCP, IpFrame
from eeon_tools.trace.offload import Segmenter, without_jumbo_option
from eeon_tools.trace.savefiles import Packet

MAX_ADDRESSES = 65_536


@dataclass
class Totals:
    """Packets and frame bytes of one kind."""

    packets: int = 0
    bytes: int = 0

    def add(self, frame_bytes: int) -> None:
        self.packets += 1
        self.bytes += frame_bytes


@dataclass
class TraceInfo:
    """The description of one capture. Times in nanoseconds, rates in bit/s and packets/s. `cut`: those of
    `snapped` whose class or addresses are unknown. `fragments`: those of TCP after the first. `copies`:
    further copies of packets, in a capture of several interfaces; `repeated`: in one of one interface
    (`Copies`). `super_frames`: of segmentation offload; `super_frame_segments`: the number of segments in a
    replay."""

    packets: int = 0
    bytes: int = 0
    payload_bytes: int = 0
    first_ns: int = 0
    last_ns: int = 0
    out_of_order: int = 0
    snapped: int = 0
    cut: int = 0
    fragments: int = 0
    copies: int = 0
    repeated: int = 0
    super_frames: int = 0
    super_frame_segments: int = 0
    classes: dict[str, Totals] = field(default_factory=lambda: {name: Totals() for name in CLASS_NAMES})
    ecn: dict[str, Totals] = field(
        default_factory=lambda: {name: Totals() for name in (*ECN_NAMES, "not_ip")}
    )
    dscp: dict[str, Totals] = field(default_factory=dict)
    """IP packets by DSCP, without zero counts."""
    senders: dict[str, Totals] = field(default_factory=dict)
    """Those of the most bytes first; equal ones in order of address."""

    @property
    def duration_ns(self) -> int:
        """From the earliest packet to the latest."""
        return self.last_ns - self.first_ns

    def per_second(self, count: int) -> float | None:
        """Returns `count` divided by the duration in seconds, or None if the duration is zero."""
        return count * 1e9 / self.duration_ns if self.duration_ns else None

    def as_dict(self) -> dict[str, object]:
        return {
            "duration_ns": self.duration_ns,
            "bits_per_second": self.per_second(8 * self.bytes),
            "packets_per_second": self.per_second(self.packets),
            **{name: value for name, value in asdict(self).items() if name not in ("first_ns", "last_ns")},
        }


def describe(packets: Iterable[Packet]) -> TraceInfo:
    """Counts all packets in one pass."""
    info = TraceInfo()
    dscps: dict[int, Totals] = {}
    senders: dict[bytes, Totals] = {}
    others = Totals()
    previous = -1
    segmenter = Segmenter()
    copies = Copies()
    for packet in packets:
        time_ns, frame_bytes, captured, _ = packet
        if info.packets == 0:
            info.first_ns = info.last_ns = time_ns
        info.first_ns = min(info.first_ns, time_ns)
        info.last_ns = max(info.last_ns, time_ns)
        info.out_of_order += time_ns < previous
        previous = time_ns
        info.packets += 1
        info.bytes += frame_bytes
        info.snapped += len(captured) < frame_bytes
        ip = IpFrame.of(captured, frame_bytes)
        if ip is not None:
            found, end, payload = ip.transport, ip.headers_end, ip.tcp_payload or 0
            info.cut += len(captured) < (frame_bytes if end is None else min(end, frame_bytes))
            info.fragments += found is not None and found.protocol == TCP and not found.is_first
            info.payload_bytes += payload
            segment = segmenter.payload_of_segment(ip)
            seen = copies.seen(packet, ip, segment)
            info.copies += bool(seen) and all(seen)
            if segment is not None:
                info.super_frames += 1
                info.super_frame_segments += -(-payload // segment) - sum(seen)
            sent = ip if segment is None else without_jumbo_option(ip)
            info.classes[sent.packet_class].add(frame_bytes)
        else:
            info.classes["other"].add(frame_bytes)
        if ip is None or not ip.has_addresses:
            info.ecn["not_ip"].add(frame_bytes)
            continue
        traffic_class, source = ip.traffic_class, ip.source
        info.ecn[ECN_NAMES[traffic_class & 3]].add(frame_bytes)
        dscps.setdefault(traffic_class >> 2, Totals()).add(frame_bytes)
        totals = senders.get(source)
        if totals is None:
            totals = senders.setdefault(source, Totals()) if len(senders) < MAX_ADDRESSES else others
        totals.add(frame_bytes)
    info.repeated = copies.repeated
    info.dscp = {str(dscp): totals for dscp, totals in sorted(dscps.items())}
    names = {str(ipaddress.ip_address(address)): totals for address, totals in senders.items()}
    if others.packets:
        names[f"other addresses (after {MAX_ADDRESSES})"] = others
    info.senders = dict(sorted(names.items(), key=lambda item: (-item[1].bytes, item[0])))
    return info
