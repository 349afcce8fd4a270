"""The watchdog's judgement of a lossless queue: is it paused without end, and when is that over? Pure.

Detection and restoration are those of SONiC's PFC watchdog (sonic-net wiki, "PFC Watchdog Design"): a storm
is a queue in which packets wait, from which none leaves, and whose neighbour goes on sending pauses, at every
look for a time; it is over when no pause has come for a time. Our switches say a pause again only when a
packet comes or leaves, so that a queue that waits for ever, in a circle of full buffers or behind one, sends
a few packets whenever a pause has run out: those do not count as leaving. Times are seconds of any monotonic
clock.
"""

from __future__ import annotations

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
    """One queue. `in_storm` says whether it is in one."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.in_storm = False
        self._detect = watched.rules.detect / _PS_PER_SECOND
        self._restore = watched.rules.restore / _PS_PER_SECOND
        self._pause = watched.pause / _PS_PER_SECOND
        self._last: QueueLook | None = None
        self._stop: _Stop | None = None
        """Since when the queue stands, and its counts then; None while no packet waits."""
        self._heard = 0.0
        """When a pause was last seen to have come."""

    def gap_seconds(self) -> float:
        """Returns how long to wait between two looks at most: several fit into each time that decides."""
        return max(_LEAST_GAP_SECONDS, min(self._detect, self._restore) / _LOOKS_PER_SPAN)

    def look(self, seen: QueueLook, now: float) -> Change | None:
        """Returns what has changed with this look. `now` does not go back."""
        last, self._last = self._last, seen
        if last is None or seen.pauses < last.pauses:
            # The first look at this switch, or at what has been restarted since.
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
        # One pause lasts less than 34 ms at 1 Gbit/s: a queue that others stop hears none for longer.
        if now - self._stop.since < self._detect or now - self._heard > self._detect / 2:
            return None
        self.in_storm, self._heard = True, now
        return "storm"

    def _moved(self, stop: _Stop, seen: QueueLook, now: float) -> bool:
        """Returns whether more has left than pauses that ran out let go. A neighbour that takes packets sends
        many short pauses, which it ends by itself."""
        left = (seen.departed - stop.departed) % (1 << TICKET_BITS)
        run_out = 1 + int((now - stop.since) / self._pause)
        return left > 0 and (
            left > run_out * self.watched.packets_a_pause or seen.pauses - stop.pauses > 2 * run_out
        )
