"""The watchdog's judgement of a lossless queue: is it paused without end, and when is that over? Pure.

Detection and restoration are those of SONiC's PFC watchdog (sonic-net wiki, "PFC Watchdog Design"): a storm
is a queue in which packets wait, from which none leaves, and whose neighbour goes on sending pauses, at every
look for a time; it is over when no pause has come for a time. Times are seconds of any monotonic clock.
"""

from __future__ import annotations

from typing import Literal

from eeon_control.config.pfc import Watchdog
from eeon_control.fabric.read import QueueLook

_PS_PER_SECOND = 10**12
_LOOKS_PER_SPAN = 4
_LEAST_GAP_SECONDS = 0.02

Change = Literal["storm", "over"]


class QueueWatch:
    """One queue. `in_storm` says whether it is in one."""

    def __init__(self, rules: Watchdog) -> None:
        self.rules = rules
        self.in_storm = False
        self._detect = rules.detect / _PS_PER_SECOND
        self._restore = rules.restore / _PS_PER_SECOND
        self._last: QueueLook | None = None
        self._since: float | None = None
        """Since when nothing has left though packets wait; None while something does."""
        self._heard = 0.0
        """When a pause was last seen to have come."""

    def gap_seconds(self) -> float:
        """How long to wait between two looks at most: several fit into each time that decides."""
        return max(_LEAST_GAP_SECONDS, min(self._detect, self._restore) / _LOOKS_PER_SPAN)

    def look(self, seen: QueueLook, now: float) -> Change | None:
        """What has changed with this look. `now` does not go back."""
        last, self._last = self._last, seen
        if last is None or seen.pauses < last.pauses or seen.ignored < last.ignored:
            # The first look at this switch, or at what has been restarted since.
            self._since, self._heard = None, now
            return None
        if seen.pauses != last.pauses or (self.in_storm and seen.ignored != last.ignored):
            self._heard = now
        if self.in_storm:
            if now - self._heard < self._restore:
                return None
            self.in_storm, self._since = False, None
            return "over"
        if seen.waiting == 0 or seen.departed != last.departed:
            self._since = None
            return None
        if self._since is None:
            self._since = now
        # One pause lasts less than 34 ms at 1 Gbit/s: a queue that others stop hears none for longer.
        if now - self._since < self._detect or now - self._heard > self._detect / 2:
            return None
        self.in_storm, self._heard = True, now
        return "storm"
