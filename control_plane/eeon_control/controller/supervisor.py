"""Runs one link per switch, and watches the state folder: revisions, writers, journals, confirmations.

The folder is polled once a second, because a killed process releases its lock without an event. Everything
about a switch is driven by events of its own stream.
"""

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from finsy import P4Schema

from eeon_control import program as programs
from eeon_control.config.pfc import Watchdog
from eeon_control.controller import contenders, unfinished
from eeon_control.controller import messages as m
from eeon_control.controller.contenders import Contenders
from eeon_control.controller.counts import Counts
from eeon_control.controller.link import Link
from eeon_control.controller.log import say
from eeon_control.controller.machine import State, SwitchMachine, Timing
from eeon_control.controller.wanted import Wanted, load
from eeon_control.controller.watchdog import Rules, StormWatch
from eeon_control.election import ArbitrationStatus
from eeon_control.errors import EeonError, ProgramPinned
from eeon_control.fabric import thrift
from eeon_control.plan import dead_ends
from eeon_control.state import StateStore

_LOOK_SECONDS = 1.0
# Initial wait for the port states of all switches before any write. Without it, next hops over links that are
# down would be restored, and removed again.
_PORTS_SECONDS = 2.0


@dataclass(frozen=True)
class Options:
    """`rank`: the configured election id; the controller with the largest one of a folder is in charge."""

    rank: int = 10
    timing: Timing = field(default_factory=Timing)
    look_seconds: float = _LOOK_SECONDS


class Supervisor:
    """Keeps a fabric until cancelled. Call `run` once, on one event loop.

    `links`, `wanted` and `unfinished` are for readers on the same loop; `counts` are for metrics.
    """

    def __init__(self, store: StateStore, options: Options) -> None:
        self.store = store
        self.options = options
        self.links: dict[str, Link] = {}
        self.wanted: Wanted | None = None
        self.counts = Counts()
        self.contenders = Contenders()
        self.unfinished = unfinished.Finisher(store, self.counts)
        self.folder_readable = True
        self.applies: dict[str, int] = {}
        self.started = asyncio.Event()
        self._schema: P4Schema = programs.load().schema()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._nudge = asyncio.Event()
        self._bids: dict[str, int] = {}
        self._roles: dict[str, ArbitrationStatus | None] = {}
        self._registered = contextlib.ExitStack()
        self._loading = asyncio.Lock()
        self._loaded: tuple[int, ...] = ()  # what identifies the revision of `wanted`
        self._down: dict[str, frozenset[int]] = {}
        self._dead: frozenset[str] = frozenset()
        self._meant: Mapping[str, m.Intended] = {}  # `wanted` adapted to dead links and storms
        self._silent: set[str] = set()  # switches that have not reported their ports yet
        self._ports_known = asyncio.Event()
        self._ports_by = 0.0
        self._ports_changed = asyncio.Event()
        self.storm_watch = StormWatch(self._watched, self._storm)

    @property
    def in_charge(self) -> bool:
        """Whether this controller has the largest rank of those running on this folder."""
        return not self.contenders.superior(self.options.rank)

    def ports_down(self, name: str) -> frozenset[int] | None:
        """Returns the numbers of a switch's ports that are down; None if it has not reported them."""
        return self._down.get(name)

    def look_now(self) -> None:
        """Checks the state folder immediately, and every switch."""
        self._nudge.set()
        for link in self.links.values():
            link.tell(m.Suspect("requested by SIGHUP"))

    async def run(self) -> None:
        """Runs until cancelled; then releases the switches, which continue to forward."""
        self._register()
        say(logging.INFO, "started", state=str(self.store.folder), election_id=self.options.rank)
        routes = asyncio.create_task(self._keep_routes(), name="routes")
        storms = asyncio.create_task(self.storm_watch.run(), name="storms")
        try:
            while True:
                await self._look()
                if not self.started.is_set() and self.folder_readable and self.wanted is None:
                    reason = "no switch is configured before the first `eeon config apply` in this folder"
                    say(logging.WARNING, "no_revision", state=str(self.store.folder), reason=reason)
                self.started.set()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self.options.look_seconds):
                        await self._nudge.wait()
                self._nudge.clear()
        finally:
            routes.cancel()
            storms.cancel()
            for name in list(self.links):
                await self._stop(name)
            say(logging.INFO, "stopped")
            self._registered.close()

    # -- the state folder ----------------------------------------------------------------------------------

    def _register(self) -> None:
        """Makes this controller known to commands and other controllers. Raises StateError."""
        with contextlib.ExitStack() as held:
            self._registration = held.enter_context(contenders.register(self.store, self.options.rank))
            self._registered.close()
            self._registered = held.pop_all()
        self.store.write_bids(self._registration, self.options.rank, self._bids)

    async def _look(self) -> None:
        try:
            self.contenders = await asyncio.to_thread(contenders.read, self.store)
            if not self._registration.is_in_place:
                self._register()
                say(logging.WARNING, "state_replaced", state=str(self.store.folder))
                self.contenders = await asyncio.to_thread(contenders.read, self.store)
            await self._finish()
            await self._load_news()
            self.applies = await asyncio.to_thread(self.store.applies)
        except EeonError as error:
            self._unreadable(error)
        else:
            if not self.folder_readable:
                say(logging.INFO, "state_readable_again", state=str(self.store.folder))
            self.folder_readable = True
        self._tell_writers()

    def _unreadable(self, error: EeonError) -> None:
        if self.folder_readable:
            event = "program_pinned" if isinstance(error, ProgramPinned) else "state_unreadable"
            say(logging.ERROR, event, state=str(self.store.folder), reason=str(error))
        self.folder_readable = False

    async def _finish(self) -> None:
        """Finishes the work of killed commands and rolls back unconfirmed revisions, if it is in charge."""
        await asyncio.to_thread(self.unfinished.find)
        if self.in_charge and self.contenders.command is None and self.unfinished.found.is_due:
            self._tell_writers()  # the links do not write while this controller holds the folder's lock
            await self.unfinished.finish()

    async def _load_news(self) -> None:
        try:
            await self._load()
        except ProgramPinned:
            for name in list(self.links):
                await self._stop(name)
            raise

    async def _load(self) -> None:
        async with self._loading:
            found = await asyncio.to_thread(lambda: self.store.file_of(self.store.current_number()))
            if found == self._loaded:
                return
            try:
                wanted = await asyncio.to_thread(load, self.store, self._schema)
            except ProgramPinned:
                self.wanted, self._loaded = None, ()
                raise
            if wanted is None:
                return
            before, self.wanted = self.wanted, wanted
            self._dead = dead_ends(wanted.topology, self._down)
            new = wanted.revision
            told = {"action": new.action, "by": new.by, "comment": new.comment}
            say(logging.INFO, "revision", revision=new.number, **told)
            if wanted.made_otherwise:
                say(logging.WARNING, "other_entries", reason=wanted.made_otherwise)
            await self._adapt(before, wanted)
            # Not before: a link that finds its own switch moved is stopped in the middle.
            self._loaded = found

    async def _adapt(self, before: Wanted | None, wanted: Wanted) -> None:
        """Adapts links to the revision's switches: starts new ones, ends those of gone or moved switches."""
        for name, link in list(self.links.items()):
            if before is None or wanted.targets.get(name) != link.target:
                await self._stop(name)
        await self._mean(wanted)
        if not self.links:
            self._ports_by = asyncio.get_running_loop().time() + _PORTS_SECONDS
            self._silent = set(wanted.targets)
        for name, target in wanted.targets.items():
            if name in self.links:
                continue
            link = self.links[name] = Link(
                SwitchMachine(name, self.options.rank, self._meant[name], self.options.timing),
                target,
                self._schema,
                refresh=partial(self._refresh, name),
                set_settings=partial(self._write_settings, name),
                on_change=self._changed,
                counts=self.counts,
                on_ports=self._ports,
            )
            link.tell(self._writers(name))
            self._tasks[name] = asyncio.create_task(link.run(), name=f"switch {name}")

    async def _mean(self, wanted: Wanted) -> None:
        """Adapts the intended entries to dead links and storms, and tells the links what is new to them."""
        before = self._meant
        self._meant = await asyncio.to_thread(wanted.around, self._dead, self._storms())
        for name, link in self.links.items():
            if self._meant[name] is not before.get(name):
                link.tell(m.IntendedIs(0, self._meant[name]))

    async def _stop(self, name: str) -> None:
        self.links.pop(name, None)
        self._down.pop(name, None)
        self._bids.pop(name, None)
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    # -- links that are down ---------------------------------------------------------------------------------

    def _ports(self, link: Link, down: frozenset[int] | None) -> None:
        """Records a switch's ports that are down. The last report of a lost switch holds until it is back."""
        if down is not None:
            self._down[link.name] = down
        self._silent.discard(link.name)
        if not self._silent:
            self._ports_known.set()
        self._ports_changed.set()

    async def _keep_routes(self) -> None:
        while True:
            await self._ports_changed.wait()
            self._ports_changed.clear()
            await self._route()

    async def _route(self) -> None:
        """Withdraws routes over links that are down, and restores those over links that are up again."""
        async with self._loading:
            wanted = self.wanted
            dead = frozenset() if wanted is None else dead_ends(wanted.topology, self._down)
            if wanted is None or dead == self._dead:
                return
            say(logging.WARNING if dead else logging.INFO, "links", down=" ".join(sorted(dead)) or "none")
            self._dead = dead
            await self._mean(wanted)

    # -- pauses without end ----------------------------------------------------------------------------------

    def _watched(self) -> tuple[Rules, Mapping[str, Link]]:
        if self.wanted is None or not self.in_charge:
            return {}, self.links
        return self.wanted.watchdogs, self.links

    def _storms(self) -> dict[str, dict[int, Watchdog]]:
        """Returns the storms detected under the present rules; those under other rules are detected anew."""
        wanted = {} if self.wanted is None else self.wanted.watchdogs
        return {
            name: {
                queue: watched.rules
                for queue, watched in queues.items()
                if wanted.get(name, {}).get(queue) == watched
            }
            for name, queues in self.storm_watch.storms.items()
        }

    async def _storm(self) -> None:
        """Adapts the intended entries after a storm has begun or ended."""
        async with self._loading:
            if self.wanted is not None:
                await self._mean(self.wanted)

    # -- for the links ---------------------------------------------------------------------------------------

    async def _refresh(self, name: str) -> m.Intended:
        try:
            await self._load()
        except ProgramPinned:
            # This version does not know the intended entries; the next look releases the switch.
            self._nudge.set()
            await asyncio.Event().wait()
        except EeonError as error:
            # A slightly outdated configuration is better than an abandoned switch.
            self._unreadable(error)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._ports_by):
                await self._ports_known.wait()
        await self._route()
        link = self.links.get(name)
        return self._meant.get(name) or (link.machine.intended if link else m.Intended(0, ()))

    async def _write_settings(self, name: str) -> None:
        wanted = self.wanted
        if wanted is not None and name in wanted.queues:
            await thrift.set_queues(name, wanted.targets[name], wanted.queues[name])

    def _writers(self, name: str) -> m.Writers:
        running = self.contenders.command is not None or self.unfinished.keeps_back
        return self.contenders.writers(self.options.rank, name, apply_running=running)

    def _tell_writers(self) -> None:
        for name, link in self.links.items():
            link.tell(self._writers(name))

    def _changed(self, link: Link) -> None:
        role = link.machine.role
        if self._roles.get(link.name) is not role and role is not ArbitrationStatus.OTHER:
            self._nudge.set()  # the primary may have died; its lock shows that at once
        self._roles[link.name] = role
        bid = link.machine.election_id
        if self._bids.get(link.name, self.options.rank) != bid:
            if bid == self.options.rank:
                del self._bids[link.name]
            else:
                self._bids[link.name] = bid
            try:
                self.store.write_bids(self._registration, self.options.rank, self._bids)
            except EeonError as error:
                say(logging.ERROR, "bids_unwritten", reason=str(error))

    def states(self) -> Mapping[str, State]:
        return {name: link.machine.state for name, link in self.links.items()}
