"""CoDel for tests: RFC 8289 in plain Python, for a port with a queue and a wire, in virtual time.

It follows section 5 of the RFC: a queue whose `dequeue` drops in a loop, with square roots to the nearest
nanosecond. It shares no code with the program, which decides packet by packet in integers, and so can check
it. Where the RFC defines nothing (marks, packets that take no signal), it follows docs/models/codel.md.

Times are nanoseconds = ticks of the switch under test."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import sqrt

from ptf_tests.lib.packets import FULL_FRAME
from ptf_tests.lib.ports import BYTE_NS, WIRE_OVERHEAD_BYTES


class Takes(Enum):
    """How a packet takes a congestion signal."""

    DROP = "is dropped"
    MARK = "gets CE"
    CARRIED = "has CE already"
    NONE = "is protected"


class Fate(Enum):
    """The fate of a packet."""

    SENT = "sent"
    MARKED = "marked"
    DROPPED = "dropped"


@dataclass(frozen=True)
class Codel:
    """A port's CoDel settings, in nanoseconds and frame bytes."""

    target: int
    interval: int
    mtu: int = FULL_FRAME
    ecn: bool = True
    protect: int = 0

    def params(self, tick_ns: int = 1) -> dict[str, int]:
        """Returns the parameters of the action `codel`."""
        return {
            "target_ticks": self.target // tick_ns,
            "interval_ticks": self.interval // tick_ns,
            "mtu_bytes": self.mtu,
            "ecn": int(self.ecn),
            "protect": self.protect,
        }


@dataclass(frozen=True)
class Packet:
    """A packet that arrives."""

    number: int
    at: int
    size: int
    takes: Takes


class Port:
    """A queue under CoDel in front of a wire of 1 Gbit/s."""

    def __init__(self, settings: Codel, opens_at: int = 0) -> None:
        self.settings = settings
        self.queue: deque[Packet] = deque()
        self.queued_bytes = 0
        self.wire_free = opens_at
        self.fates: dict[int, Fate] = {}
        self.sent_at: list[tuple[int, int]] = []  # number, time
        self.signals: list[int] = []  # times
        self.first_above: int | None = None
        self.dropping = False
        self.drop_next = float("-inf")
        self.count = 0
        self.last_count = 0
        self._mark_is_unscheduled = False

    def run(self, arrivals: Sequence[Packet]) -> None:
        """Processes all arrivals, which are in order of time, until the queue is empty."""
        for packet in arrivals:
            self._serve(packet.at)
            self.queue.append(packet)
            self.queued_bytes += packet.size
            self._serve(packet.at)
        self._serve(None)

    def _serve(self, until: int | None) -> None:
        while self.queue:
            now = max(self.wire_free, self.queue[0].at)
            if until is not None and now > until:
                return
            packet = self._dequeue(now)
            if packet is not None:
                self.fates.setdefault(packet.number, Fate.SENT)
                self.sent_at.append((packet.number, now))
                self.wire_free = now + (packet.size + WIRE_OVERHEAD_BYTES) * BYTE_NS

    def _take(self, now: int) -> tuple[Packet | None, bool]:
        """Removes the next packet. Returns it, and whether the delay has been above the target for an
        interval (the RFC's dodequeue)."""
        if not self.queue:
            self.first_above = None
            return None, False
        packet = self.queue.popleft()
        self.queued_bytes -= packet.size
        if now - packet.at < self.settings.target or self.queued_bytes <= self.settings.mtu:
            self.first_above = None
            return packet, False
        if self.first_above is None:
            self.first_above = now + self.settings.interval
            return packet, False
        return packet, now >= self.first_above

    def _dequeue(self, now: int) -> Packet | None:
        packet, is_late = self._take(now)
        if packet is None:
            self.dropping = False
            return None
        if self.dropping:
            if not is_late:
                self.dropping = False
            elif self._mark_is_unscheduled:
                self._schedule(self.drop_next)
            self._mark_is_unscheduled = False
            while self.dropping and packet is not None and now >= self.drop_next:
                if packet.takes is Takes.NONE:
                    self.drop_next = now
                    break
                self.count += 1
                if self._signal(packet, now):
                    self._mark_is_unscheduled = True
                    break
                packet, is_late = self._take(now)
                if is_late:
                    self._schedule(self.drop_next)
                else:
                    self.dropping = False
        elif is_late and packet.takes is not Takes.NONE:
            was_delivered = self._signal(packet, now)
            self.dropping = True
            fresh = self.count - self.last_count
            is_recent = now - self.drop_next < 16 * self.settings.interval
            self.count = fresh if fresh > 1 and is_recent else 1
            self.last_count = self.count
            self._schedule(now)
            self._mark_is_unscheduled = False
            if not was_delivered:
                packet, _ = self._take(now)
        return packet

    def _schedule(self, since: float) -> None:
        self.drop_next = since + round(self.settings.interval / sqrt(self.count))

    def _signal(self, packet: Packet, now: int) -> bool:
        """Gives the packet a signal. Returns whether it was not dropped."""
        self.signals.append(now)
        if packet.takes is Takes.MARK:
            self.fates[packet.number] = Fate.MARKED
        if packet.takes is Takes.DROP:
            self.fates[packet.number] = Fate.DROPPED
        return packet.takes is not Takes.DROP
