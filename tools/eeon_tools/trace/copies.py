"""Further copies of packets in a capture of several interfaces, as of `tcpdump -i any`.

A packet that a router forwards is captured twice: when it arrives, and when it leaves, with another TTL,
DSCP or ECN. A bridge captures it a third time. A copy has another place; the same bytes at one place are two
packets.
"""

from __future__ import annotations

from collections import deque

from eeon_tools.trace.capture import Packet
from eeon_tools.trace.layers import source_place

_FORWARDED_NS = 10**9
"""Longest time in which a machine forwards a packet; later another packet may have its IP identification."""
_MAX_WAITING = 65_536
"""Maximum number of packets whose copies are expected; it bounds the memory for any capture."""
_MAX_PLACES = 64
"""Maximum number of places where a packet's copies are recognised."""
_COMPARED_BYTES = 256


class _Alike:
    """Packets with the same bytes. All places see them in the same order, so a number identifies each."""

    __slots__ = ("forgotten", "packets", "seen")

    def __init__(self) -> None:
        self.packets = 0
        self.forgotten = 0
        self.seen: dict[bytes, int] = {}


class Copies:
    """Recognises further copies among the packets of one capture, which it receives in order."""

    def __init__(self) -> None:
        self._alike: dict[bytes, _Alike] = {}
        self._waiting: deque[tuple[int, bytes]] = deque()

    def is_copy(self, packet: Packet) -> bool:
        """Returns whether a packet is a further copy of one before it."""
        if packet.seen_at is None:
            return False
        identity = _identity(packet)
        if identity is None:
            return False
        self._forget(packet.time_ns - _FORWARDED_NS)
        alike = self._alike.setdefault(identity, _Alike())
        number = max(alike.seen.get(packet.seen_at, 0), alike.forgotten)
        if number < alike.packets:
            if packet.seen_at in alike.seen or len(alike.seen) < _MAX_PLACES:
                alike.seen[packet.seen_at] = number + 1
            return True
        alike.packets += 1
        alike.seen[packet.seen_at] = alike.packets
        self._waiting.append((packet.time_ns, identity))
        return False

    def _forget(self, before_ns: int) -> None:
        waiting = self._waiting
        while waiting and (waiting[0][0] < before_ns or len(waiting) >= _MAX_WAITING):
            _, identity = waiting.popleft()
            alike = self._alike[identity]
            alike.forgotten += 1
            if alike.forgotten == alike.packets:
                del self._alike[identity]


def _identity(packet: Packet) -> bytes | None:
    """Returns the bytes of an IP packet that no hop changes; None if it is not IP, or truncated before its
    addresses end."""
    frame, place = packet.captured, source_place(packet.captured)
    if place is None or not place[1] or len(frame) < place[0] + 2 * place[1]:
        return None
    at = place[0]
    rest = frame[at : at + _COMPARED_BYTES]
    if place[1] == 4:
        # Length, identification and fragment; protocol.
        return frame[at - 10 : at - 4] + frame[at - 3 : at - 2] + rest
    # Flow label, length and next header.
    return bytes([frame[at - 7] & 0xF]) + frame[at - 6 : at - 1] + rest
