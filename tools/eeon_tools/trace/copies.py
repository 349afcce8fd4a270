"""Further copies of packets in a capture of several interfaces, as of `tcpdump -i any`.

A packet that a router forwards is captured twice: when it arrives, and when it leaves, with another TTL,
DSCP or ECN. A bridge captures it a third time. A copy has another place; the same bytes at one place are two
packets. A host sees a frame of segmentation offload where another place sees its segments, so segments are
compared; a sender's NIC computes the checksum of TCP and UDP, so checksums are not.
"""

from collections import deque

from eeon_tools.trace.layers import CHECKSUM_AT, TCP, IpFrame, Transport
from eeon_tools.trace.offload import cut
from eeon_tools.trace.savefiles import Packet

_FORWARDED_NS = 10**9
"""Longest time in which a machine forwards a packet; later another packet may have its IP identification."""
_MAX_WAITING = 65_536
"""Maximum number of packets whose copies are expected; it bounds the memory for any capture."""
_MAX_PLACES = 64
"""Maximum number of places where a packet's copies are recognised."""
_COMPARED_BYTES = 256
_LONGEST_TCP_HEADER = 60
REPEATED = (
    "packets with the IP identification of one before, as in a capture of a mirror port or of both ends of a "
    "path; `eeon replay` sends each (`mergecap -I none` keeps two ends apart): {:,}"
)
"""The remark about `Copies.repeated`."""


class _Alike:
    """Packets with the same bytes. All places see them in the same order, so a number identifies each."""

    __slots__ = ("forgotten", "packets", "seen")

    def __init__(self) -> None:
        self.packets = 0
        self.forgotten = 0
        self.seen: dict[bytes, int] = {}


class Copies:
    """Recognises further copies among the packets of one capture, which it receives in order.

    `repeated`: packets of a capture of one interface with the IPv4 identification of one before, which no
    sender gives twice (RFC 6864): those of a mirror port, or of two captures that were merged."""

    def __init__(self) -> None:
        self.repeated = 0
        self._alike: dict[bytes, _Alike] = {}
        self._waiting: deque[tuple[int, bytes]] = deque()

    def seen(self, packet: Packet, ip: IpFrame, segment: int | None) -> list[bool]:
        """Returns for each frame that a NIC sends for a packet whether it is a further copy; nothing for a
        capture of one interface, where it counts repeated ones. `segment`: the payload of each if the packet
        is cut."""
        if packet.seen_at is None:
            self.repeated += self._is_repeated(packet.time_ns, ip)
            return []
        self._forget(packet.time_ns - _FORWARDED_NS)
        return [
            (identity := _identity(frame)) is not None
            and self._is_copy(packet.time_ns, packet.seen_at, identity)
            for frame in ([ip] if segment is None else cut(_headers(ip), segment))
        ]

    def _is_repeated(self, time_ns: int, ip: IpFrame) -> bool:
        """Returns whether a packet of the same connection and content had its number: at 1 Gbit/s and more a
        sender of datagrams has used up all numbers within the second."""
        at, frame = ip.source_at, ip.captured
        if ip.version != 4 or not ip.has_addresses or frame[at - 8 : at - 6] == b"\0\0":
            return False
        self._forget(time_ns - _FORWARDED_NS)
        # TCP's sequence number, or what follows the length and the checksum of UDP.
        content = frame[at + 12 : at + 16] if frame[at - 3] == TCP else frame[at + 16 : at + _COMPARED_BYTES]
        identity = frame[at - 8 : at - 4] + frame[at : at + 12] + content
        return self._is_copy(time_ns, None, identity)

    def _is_copy(self, time_ns: int, seen_at: bytes | None, identity: bytes) -> bool:
        alike = self._alike.setdefault(identity, _Alike())
        number = alike.forgotten
        if seen_at is not None:
            number = max(alike.seen.get(seen_at, 0), number)
            if seen_at in alike.seen or len(alike.seen) < _MAX_PLACES:
                alike.seen[seen_at] = number + 1
        if number < alike.packets:
            return True
        alike.packets += 1
        self._waiting.append((time_ns, identity))
        return False

    def _forget(self, before_ns: int) -> None:
        waiting = self._waiting
        while waiting and (waiting[0][0] < before_ns or len(waiting) >= _MAX_WAITING):
            _, identity = waiting.popleft()
            alike = self._alike[identity]
            alike.forgotten += 1
            if alike.forgotten == alike.packets:
                del self._alike[identity]


def _identity(ip: IpFrame) -> bytes | None:
    """Returns the bytes of an IP packet that neither a hop nor a NIC changes; None if it is truncated before
    its addresses end."""
    if not ip.has_addresses:
        return None
    at, found, payload, frame = ip.source_at, ip.transport, ip.tcp_payload, ip.captured
    if found is not None and payload is not None and not found.is_fragment:
        # Its numbers identify a segment; NICs number the segments that they cut in several ways (RFC 6864).
        end = found.at + (frame[found.at + 12] >> 4) * 4
        return ip.source + ip.destination + payload.to_bytes(4, "big") + _without_checksum(frame, found, end)
    end = min(at + _COMPARED_BYTES, ip.ip_end)
    rest = frame[at:end] if found is None else frame[at : found.at] + _without_checksum(frame, found, end)
    if ip.version == 4:
        # Length, identification and fragment; protocol.
        return frame[at - 10 : at - 4] + frame[at - 3 : at - 2] + rest
    # Flow label, length and next header.
    return bytes([frame[at - 7] & 0xF]) + frame[at - 6 : at - 1] + rest


def _headers(ip: IpFrame) -> IpFrame:
    """Returns a frame of TCP without its payload: checksums of that would take long."""
    assert ip.transport is not None, "`Segmenter` has found it"
    headers = ip.captured[: ip.transport.at + _LONGEST_TCP_HEADER]
    return IpFrame(headers, ip.frame_bytes, ip.ip_at, ip.version)


def _without_checksum(frame: bytes, found: Transport, end: int) -> bytes:
    """Returns the part after IP up to `end`, but not its checksum."""
    checksum = found.at + CHECKSUM_AT.get(found.protocol, 0)
    is_there = found.is_first and checksum > found.at
    return frame[found.at : checksum] + frame[checksum + 2 * is_there : end]
