"""The runtime of the PFC watchdog: reads the lossless queues of all switches, and reports their storms.

The reaction to a storm is part of a switch's intended entries (`plan.pfc.around_storms`), so that it is
written, and restored, like everything else.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from eeon_control import program as programs
from eeon_control.constants import PRIORITY_BITS
from eeon_control.controller.link import Link
from eeon_control.controller.log import say
from eeon_control.controller.storms import QueueWatch
from eeon_control.errors import EeonError
from eeon_control.fabric.read import QueueLook, look_at_queues
from eeon_control.plan.pfc import Watched

Rules = Mapping[str, Mapping[int, Watched]]
"""Switch -> queue -> its configured watchdog."""
_IDLE_SECONDS = 1.0


class StormWatch:
    """The watchdog of a supervisor's switches, on its event loop. Run `run` as a task.

    `watched`: returns the present rules and links of the switches. `changed` is called after a storm has
    begun or ended. `storms`: switch -> queue in a storm -> its rules.
    """

    def __init__(
        self, watched: Callable[[], tuple[Rules, Mapping[str, Link]]], changed: Callable[[], Awaitable[None]]
    ) -> None:
        self.storms: dict[str, dict[int, Watched]] = {}
        self.found: dict[tuple[str, int], int] = {}
        """The number of storms so far, by switch and queue."""
        self._watched = watched
        self._changed = changed
        self._queues: dict[str, dict[int, QueueWatch]] = {}
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._unseen: set[str] = set()
        self._program = programs.load()

    async def run(self) -> None:
        try:
            while True:
                rules, links = self._watched()
                if self._follow(rules):
                    await self._changed()
                await asyncio.sleep(self._look(links))
        finally:
            for task in list(self._looking.values()):
                task.cancel()

    def _follow(self, rules: Rules) -> bool:
        """Adapts the watched queues to the rules. Returns whether a storm is lost thereby."""
        lost = False
        for name in {**self._queues, **rules}:
            of_switch = rules.get(name, {})
            known = self._queues.setdefault(name, {})
            for queue in [queue for queue, one in known.items() if of_switch.get(queue) != one.watched]:
                del known[queue]
                lost |= self.storms.get(name, {}).pop(queue, None) is not None
            for queue, one in of_switch.items():
                known.setdefault(queue, QueueWatch(one))
            if not known:
                del self._queues[name]
        return lost

    def _look(self, links: Mapping[str, Link]) -> float:
        """Begins a look at every switch without one in progress. Returns the seconds to sleep afterwards."""
        for name, known in self._queues.items():
            link = links.get(name)
            if link is not None and link.machine.is_primary and name not in self._looking:
                self._looking[name] = asyncio.create_task(self._see(link, known), name=f"pauses {name}")
        gaps = [watch.gap_seconds() for known in self._queues.values() for watch in known.values()]
        return min(gaps, default=_IDLE_SECONDS)

    async def _see(self, link: Link, known: Mapping[int, QueueWatch]) -> None:
        try:
            found = await self._read(link, known)
        finally:
            del self._looking[link.name]
        if found is None:
            return
        now = time.monotonic()
        # The rules may have changed since the look began.
        looked = [(queue, known[queue], one) for queue, one in found.items() if queue in known]
        changes = [self._judge(link.name, queue, watch, one, now) for queue, watch, one in looked]
        if any(changes):
            await self._changed()

    async def _read(self, link: Link, known: Mapping[int, QueueWatch]) -> Mapping[int, QueueLook] | None:
        session = link.session
        if session is None:
            return None
        try:
            found = await look_at_queues(session, link.target, list(known), self._program)
        except EeonError as error:
            if link.name not in self._unseen:
                self._unseen.add(link.name)
                say(logging.WARNING, "pauses_unread", switch=link.name, reason=str(error))
            return None
        self._unseen.discard(link.name)
        return found

    def _judge(self, switch: str, queue: int, watch: QueueWatch, found: QueueLook, now: float) -> bool:
        change = watch.look(found, now)
        if change is None:
            return False
        storms = self.storms.setdefault(switch, {})
        where = {"port": queue >> PRIORITY_BITS, "priority": queue % (1 << PRIORITY_BITS)}
        if change == "storm":
            storms[queue] = watch.watched
            self.found[switch, queue] = self.found.get((switch, queue), 0) + 1
            action = watch.watched.rules.action
            say(logging.WARNING, "pause_storm", switch=switch, **where, action=action, waiting=found.waiting)
        else:
            storms.pop(queue, None)
            say(logging.INFO, "pause_storm_over", switch=switch, **where)
        return True
