"""The watchdog's detection of storms in a lossless queue: endless pauses, and their end. Pure.

Detection and restoration follow SONiC's PFC watchdog (sonic-net wiki, "PFC Watchdog Design"). A queue is in a
storm if at every look for some time, packets wait, none leaves, and the neighbour continues to send pauses.
The storm is over when no pause has arrived for some time. Our switches repeat a pause only when a packet
arrives or leaves. So a queue that waits forever, in or behind a cycle of full buffers, sends a few packets
whenever a pause expires; these do not count as leaving. Times are seconds of any monotonic clock.
"""

from typing import Literal, NamedTuple

from eeon_control.constants import TICKET_BITS
from eeon_control.fabric.read import QueueLook
from eeon_control.plan.pfc import Watched

_PS_PER_SECOND = 10**12
_LOOKS_PER_SPAN = 4
_LEAST_GAP_SECONDS = 0.02

Change = Literal["storm", "over"]


class _Stop(NamedTuple):
    since: float
    departed: int
    pauses: int


class QueueWatch:
    """The watch of one queue. `in_storm`: whether it is in a storm."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.in_storm = False
        self._detect = watched.rules.detect / _PS_PER_SECOND
        self._restore = watched.rules.restore / _PS_PER_SECOND
        self._pause = watched.pause / _PS_PER_SECOND
        self._last: QueueLook | None = None
        self._stop: _Stop | None = None
        """The time since which the queue stands still, and its counts then; None while no packet waits."""
        self._heard = 0.0
        """The time of the last look with a new pause."""

    def gap_seconds(self) -> float:
        """Returns the maximum time between two looks, a fraction of the detection and restoration times."""
        return max(_LEAST_GAP_SECONDS, min(self._detect, self._restore) / _LOOKS_PER_SPAN)

    def look(self, seen: QueueLook, now: float) -> Change | None:
        """Returns the change found by this look, if any. `now` is monotonic."""
        last, self._last = self._last, seen
        if last is None or seen.pauses < last.pauses:
            # The first look at this switch, or the first since its restart.
            self._stop, self._heard = None, now
            return None
        if seen.pauses != last.pauses:
            self._heard = now
        if self.in_storm:
            if now - self._heard < self._restore:
                return None
            self.in_storm, self._stop = False, None
            return "over"
        if seen.waiting == 0:
            self._stop = None
            return None
        if self._stop is None or self._moved(self._stop, seen, now):
            self._stop = _Stop(now, seen.departed, seen.pauses)
            return None
        # A pause lasts less than 34 ms at 1 Gbit/s: a queue stopped by other causes receives none for longer.
        if now - self._stop.since < self._detect or now - self._heard > self._detect / 2:
            return None
        self.in_storm, self._heard = True, now
        return "storm"

    def _moved(self, stop: _Stop, seen: QueueLook, now: float) -> bool:
        """Returns whether more packets have left than expired pauses explain. A neighbour that accepts
        packets sends many short pauses, which it ends itself."""
        left = (seen.departed - stop.departed) % (1 << TICKET_BITS)
        run_out = 1 + int((now - stop.since) / self._pause)
        return left > 0 and (
            left > run_out * self.watched.packets_a_pause or seen.pauses - stop.pauses > 2 * run_out
        )
