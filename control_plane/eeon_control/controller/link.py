"""The runtime of the state machine: one switch's connection, the tasks for actions, and the clock."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field

from finsy import P4Schema

from eeon_control.controller import messages as m
from eeon_control.controller import port_events
from eeon_control.controller.counts import Counts
from eeon_control.controller.log import say
from eeon_control.controller.machine import SwitchMachine
from eeon_control.errors import EeonError, FabricError
from eeon_control.fabric.session import LOST, IdInUse, P4RuntimeSession
from eeon_control.plan import TABLES, owned_of
from eeon_control.targets import Target


@dataclass(eq=False)
class Link:
    """Keeps one switch as its machine decides. Run `run` as a task; cancel the task to release the switch.

    `refresh` reads the intended configuration; `set_settings` applies settings outside P4Runtime. `counts`
    gets every restore. `on_change` is called after every step, `on_ports` with the numbers of the ports that
    are down, initially and after each change, or with None if the switch does not report them.
    """

    machine: SwitchMachine
    target: Target
    schema: P4Schema
    refresh: Callable[[], Awaitable[m.Intended]]
    set_settings: Callable[[], Awaitable[None]]
    counts: Counts
    on_change: Callable[[Link], None]
    on_ports: Callable[[Link, frozenset[int] | None], None]
    session: P4RuntimeSession | None = None
    _events: asyncio.Queue[m.Event] = field(default_factory=asyncio.Queue)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _of_session: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def name(self) -> str:
        return self.machine.name

    def tell(self, event: m.Event) -> None:
        self._events.put_nowait(event)

    async def run(self) -> None:
        """Handles the switch's events until cancelled."""
        try:
            while True:
                event = await self._next_event()
                actions = self.machine.step(event, time.monotonic())
                self.on_change(self)  # records a bid before it is sent
                for action in actions:
                    await self._perform(action)
        finally:
            for task in [*self._tasks, *self._of_session]:
                task.cancel()
            await self._close()

    async def _next_event(self) -> m.Event:
        wake_at = self.machine.wake_at
        wait = None if wake_at is None else max(0.0, wake_at - time.monotonic())
        try:
            # Not asyncio.wait_for: before Python 3.12, it loses a cancellation that arrives with an event.
            async with asyncio.timeout(wait):
                return await self._events.get()
        except TimeoutError:
            return m.Tick()

    async def _perform(self, action: m.Action) -> None:
        match action:
            case m.Say(event, reason, level, fields):
                say(level, event, switch=self.name, reason=reason, **dict(fields))
            case m.Restored(seconds, entries, pushed, drift):
                told = {"seconds": round(seconds, 3), "entries": entries}
                say(logging.INFO, "restored", switch=self.name, **told, program_loaded=pushed, drift=drift)
                self.counts.restored(self.name, action)
            case m.Refresh(ticket):
                self._spawn(self._tasks, self._refreshed(ticket))
            case m.Connect(ticket):
                self.session = P4RuntimeSession(self.name, self.target, self.schema)
                self._spawn(self._of_session, self._connect(ticket, self.session))
            case m.Disconnect():
                await self._close()
            case m.Request():
                assert self.session is not None, f"{action} without a connection"
                self._spawn(self._of_session, self._request(action, self.session))

    async def _connect(self, ticket: int, session: P4RuntimeSession) -> None:
        try:
            await session.open()
            await session.has_pipeline()  # fails at once if the switch is unreachable
        except FabricError as error:
            self.tell(m.StreamLost(ticket, _short(error)))
        else:
            self.tell(m.Connected(ticket))

    async def _listen(self, ticket: int, session: P4RuntimeSession) -> None:
        try:
            async for role, election_id in session.listen():
                self.tell(m.Arbitrated(ticket, role, election_id))
        except FabricError as error:
            self.tell(m.StreamLost(ticket, _short(error), isinstance(error, IdInUse)))

    async def _watch_ports(self, session: P4RuntimeSession) -> None:
        told = False
        async for report in port_events.changes(session, self.target):
            told = True
            self.on_ports(self, report.down)
            for port, up in report.changed:
                say(logging.INFO, "port", switch=self.name, port=port, up=up)
                self.tell(m.Suspect(f"port {port} went {'up' if up else 'down'}"))
        if not told:
            self.on_ports(self, None)

    async def _request(self, action: m.Request, session: P4RuntimeSession) -> None:
        try:
            self.tell(await self._answer(action, session))
        except FabricError as error:
            lost = error.code in LOST and not isinstance(action, m.ApplySettings)
            if lost or isinstance(action, m.Bid):
                connection = self.machine.connection
                self.tell(m.StreamLost(connection, _short(error), isinstance(error, IdInUse)))
            else:
                self.tell(m.Refused(action.ticket, _short(error)))
        except EeonError as error:
            self.tell(m.Refused(action.ticket, str(error)))

    async def _answer(self, action: m.Request, session: P4RuntimeSession) -> m.Event:
        match action:
            case m.Bid(ticket, election_id):
                first = not session.has_stream
                await session.bid(election_id)
                if first:
                    self._spawn(self._of_session, self._listen(ticket, session))
                    self._spawn(self._of_session, self._watch_ports(session))
                return m.Tick()  # the answer arrives on the stream
            case m.ReadPipeline(ticket):
                # Compares the program's bytes: the cookie is chosen by the client that pushed it.
                return m.PipelineRead(ticket, await session.runs_program())
            case m.ReadEntries(ticket):
                found = await session.read_entries(TABLES)
                return m.EntriesRead(ticket, tuple(owned_of(found, self.machine.intended.owned)))
            case m.PushPipeline():
                await session.push_pipeline()
            case m.Write(_, changes):
                await session.write_changes(changes)
            case m.ApplySettings():
                await self.set_settings()
            case _:
                raise AssertionError(f"no request: {action}")
        return m.Done(action.ticket)

    async def _refreshed(self, ticket: int) -> None:
        self.tell(m.IntendedIs(ticket, await self.refresh()))

    async def _close(self) -> None:
        for task in self._of_session:
            task.cancel()
        self._of_session.clear()
        session, self.session = self.session, None
        if session is not None:
            await session.close()

    def _spawn(self, tasks: set[asyncio.Task[None]], work: Coroutine[object, None, None]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(lambda done: self._ended(tasks, done))

    def _ended(self, tasks: set[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # A bug must neither abandon a switch nor stop the others.
            logging.getLogger(__name__).error("%s: a bug: %r", self.name, error, exc_info=error)
            self.tell(m.StreamLost(self.machine.connection, f"a bug in the controller: {error!r}"))


def _short(error: FabricError) -> str:
    """Returns an error without the switch's name, which every log line already has."""
    text = str(error)
    return text.partition("): ")[2] or text
