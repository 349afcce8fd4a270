"""A model in which the state machines of several controllers run against one model switch, step by step.

It has no clock, sockets or threads: messages in transit are in lists, and the driver decides the next step.
The switch behaves like either kind of P4Runtime server: one that promotes the next stream when the primary's
ends (BMv2's PI), and one that waits for a bid (specification, section 5.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eeon_control.controller import messages as m
from eeon_control.controller.machine import State, SwitchMachine, Timing
from eeon_control.fabric.diff import ChangeKind
from eeon_control.plan import Action, Entry, Exact

TIMING = Timing(check=60.0, grace=5.0)


def entry(port: int, limit: int) -> Entry:
    action = Action("set_buffer_limit", (("buffer_bytes", limit),))
    return Entry("port_buffer", (Exact("port", port),), (action,))


def intended(revision: int) -> m.Intended:
    """Returns a revision's entries. Revisions differ in one port, and each has a port that others lack."""
    return m.Intended(
        revision, (entry(1, 1000), entry(2, 1000 + revision), entry(10 + revision % 2, 7)), settings=True
    )


@dataclass
class Stream:
    """The switch's side of a client's stream; `said`: messages that the client has not received yet."""

    election_id: int = -1
    said: list[tuple[m.ArbitrationStatus, int]] = field(default_factory=list)


@dataclass
class ModelSwitch:
    """A switch with a P4Runtime server. `promotes`: promotes the next stream, like BMv2."""

    promotes: bool
    alive: bool = True
    program: bool = False
    entries: dict = field(default_factory=dict)
    settings: int = 0  # the revision of the applied settings
    streams: list[Stream] = field(default_factory=list)
    highest: int = 0

    def restart(self, *, keeps_program: bool = False) -> None:
        """Loses entries and election ids (specification, 6.2); some switches keep the program."""
        self.program = self.program and keeps_program
        self.entries, self.settings, self.highest = {}, 0, 0
        self.streams.clear()

    def primary(self) -> Stream | None:
        bidders = [one for one in self.streams if one.election_id >= 0]
        if self.promotes:
            return max(bidders, key=lambda one: one.election_id, default=None)
        return next((one for one in bidders if one.election_id == self.highest), None)

    def bid(self, stream: Stream, election_id: int) -> bool:
        """Handles a bid. Returns False if it is refused, which closes the stream."""
        if any(one.election_id == election_id for one in self.streams if one is not stream):
            self.leave(stream)
            return False
        before = self.primary()
        if self.promotes and stream.election_id == election_id:
            return True  # PI sends no message then
        if stream not in self.streams:
            self.streams.append(stream)
        stream.election_id = election_id
        self.highest = max(self.highest, election_id)
        if self.primary() is not before or before is stream:
            for one in self.streams:
                self.tell(one)
        else:
            self.tell(stream)
        return True

    def leave(self, stream: Stream) -> None:
        was = self.primary() is stream
        if stream in self.streams:
            self.streams.remove(stream)
        if was:
            for one in self.streams:
                self.tell(one)

    def tell(self, stream: Stream) -> None:
        primary = self.primary()
        if primary is stream:
            stream.said.append((m.ArbitrationStatus.PRIMARY, stream.election_id))
        elif primary is not None:
            stream.said.append((m.ArbitrationStatus.OTHER, primary.election_id))
        else:
            stream.said.append((m.ArbitrationStatus.NOBODY, self.highest))

    def may_write(self, stream: Stream | None, election_id: int) -> bool:
        primary = self.primary()
        return primary is not None and primary.election_id == election_id and stream in self.streams

    def holds(self, wanted: m.Intended) -> bool:
        is_written = set(self.entries.values()) == set(wanted.entries) and self.settings == wanted.revision
        return self.alive and self.program and is_written


class Client:
    """One controller's machine for the switch, with its pending requests and answers."""

    def __init__(self, world: World, rank: int) -> None:
        self.world = world
        self.rank = rank
        self.machine = SwitchMachine("s1", rank, intended(world.revision), TIMING)
        self.stream: Stream | None = None
        self.connection = 0
        self.confirmed: int | None = None  # the election id of this stream's last confirmation as primary
        self.requests: list[m.Action] = []
        self.writing_as = 0  # the election id of the pending write, which a later bid does not change
        self.answers: list[m.Answer] = []
        self.late: list[m.Answer] = []  # of the connection before; they arrive when there is a new request
        self.broken: m.StreamLost | None = None
        self.writes = 0
        self.told = m.Writers()
        self.asked: set[type[m.Action]] = set()  # since there was a reason to compare anew

    def give(self, event: m.Event) -> None:
        was = self.machine.state
        if isinstance(event, m.Writers):
            self.told = event
        if self._is_reason_to_compare(event):
            self.asked.clear()
        for action in self.machine.step(event, self.world.now):
            if self.told.apply_running and not isinstance(event, m.Connected):
                allowed = (m.Connect, m.Disconnect, m.Say, m.Restored)
                assert isinstance(action, allowed), f"{action} while an apply runs"
            self._take(action)
        if self.machine.state is State.IN_SYNC and was is not State.IN_SYNC:
            assert {m.Refresh, m.ReadPipeline, m.ReadEntries} <= self.asked, f"in sync after {self.asked}"

    def _is_reason_to_compare(self, event: m.Event) -> bool:
        match event:
            case m.Arbitrated(_, role, _):
                return role is not self.machine.role
            case m.IntendedIs(0, new):
                return new != self.machine.intended
            case _:
                return isinstance(event, m.Suspect)

    def _take(self, action: m.Action) -> None:
        switch = self.world.switch
        match action:
            case m.Connect(ticket):
                assert self.stream is None
                self.connection, self.confirmed = ticket, None
                if switch.alive and not self.world.partitioned:
                    self.stream = Stream()
                    self.answers.append(m.Connected(ticket))
                else:
                    self.broken = m.StreamLost(ticket, "unreachable")
            case m.Disconnect():
                if self.stream is not None and not self.world.partitioned:
                    switch.leave(self.stream)
                self.stream, self.confirmed, self.broken = None, None, None
                self.requests.clear()
                self.late, self.answers = self.answers, []
            case m.Say() | m.Restored():
                pass
            case _:
                if isinstance(action, (m.PushPipeline, m.Write)):
                    assert self.confirmed == self.machine.election_id, "a write while not primary"
                    self.writes += 1
                    self.writing_as = self.machine.election_id
                if isinstance(action, m.ApplySettings):
                    assert self.confirmed is not None, "settings while not primary"
                    self.writes += 1
                if not isinstance(action, m.Bid):
                    others = [one for one in self.requests if not isinstance(one, m.Bid)]
                    rpcs = [one for one in self.answers if one.ticket > self.connection]
                    assert not others and not rpcs, f"{action} while {others + rpcs} is under way"
                    self.answers += self.late
                    self.late = []
                self.asked.add(type(action))
                self.requests.append(action)

    def work(self) -> bool:
        """Carries out the oldest request at the switch or state folder. Returns False without any."""
        if not self.requests:
            return False
        action = self.requests.pop(0)
        switch = self.world.switch
        assert not isinstance(action, (m.Connect, m.Disconnect, m.Say, m.Restored))
        if isinstance(action, m.Refresh):
            self.answers.append(m.IntendedIs(action.ticket, intended(self.world.revision)))
            return True
        if self.stream is None or self.broken is not None or not switch.alive or self.world.partitioned:
            self.lose("connection reset")
            return True
        match action:
            case m.Bid(_, election_id):
                if not switch.bid(self.stream, election_id):
                    self.lose("election id in use", id_in_use=True)
            case m.ReadPipeline(ticket):
                self.answers.append(m.PipelineRead(ticket, switch.program))
            case m.ReadEntries(ticket):
                self.answers.append(m.EntriesRead(ticket, tuple(switch.entries.values())))
            case m.ApplySettings(ticket):
                switch.settings = self.machine.intended.revision
                self.answers.append(m.Done(ticket))
            case m.PushPipeline(ticket) | m.Write(ticket):
                if not switch.may_write(self.stream, self.writing_as):
                    self.answers.append(m.Refused(ticket, "not the primary"))
                elif self.world.refusals:
                    self.world.refusals -= 1
                    if isinstance(action, m.Write):
                        self._write(action.changes[: len(action.changes) // 2])
                    self.answers.append(m.Refused(ticket, "RESOURCE_EXHAUSTED"))
                elif isinstance(action, m.PushPipeline):
                    switch.program, switch.entries, switch.settings = True, {}, 0
                    self.answers.append(m.Done(ticket))
                else:
                    self._write(action.changes)
                    self.answers.append(m.Done(ticket))
        return True

    def run_until(self, request: type[m.Action]) -> None:
        """Runs until such a request is sent and not received, or all is at rest."""
        while not (self.requests and isinstance(self.requests[0], request)):
            if not (self.answer() or self.hear() or self.work()):
                return

    def _write(self, changes) -> None:
        for change in changes:
            if change.kind is ChangeKind.DELETE:
                self.world.switch.entries.pop(change.entry.key, None)
            else:
                self.world.switch.entries[change.entry.key] = change.entry

    def lose(self, reason: str, *, id_in_use: bool = False) -> None:
        self.broken = m.StreamLost(self.connection, reason, id_in_use)

    def hear(self) -> bool:
        """Handles the oldest message of the stream. Returns False without any."""
        if self.broken is not None:
            self.give(self.broken)
            return True
        if self.stream is None or not self.stream.said:
            return False
        role, election_id = self.stream.said.pop(0)
        self.confirmed = election_id if role is m.ArbitrationStatus.PRIMARY else None
        self.give(m.Arbitrated(self.connection, role, election_id))
        return True

    def answer(self) -> bool:
        """Handles the oldest answer. Returns False without any."""
        if not self.answers:
            return False
        self.give(self.answers.pop(0))
        return True


class World:
    """One switch, controllers by rank, and a command that occasionally applies a new revision."""

    def __init__(self, *, promotes: bool, ranks: tuple[int, ...]) -> None:
        self.now = 0.0
        self.revision = 1
        self.switch = ModelSwitch(promotes)
        self.partitioned = False
        self.refusals = 0
        self.command: Stream | None = None  # of a running apply, which holds the folder's lock
        self.clients: dict[int, Client] = {}
        for rank in ranks:
            self.start(rank)

    def start(self, rank: int) -> None:
        if rank not in self.clients:
            self.clients[rank] = Client(self, rank)

    def kill(self, rank: int) -> None:
        client = self.clients.pop(rank, None)
        if client is not None and client.stream is not None:
            self.switch.leave(client.stream)

    def tell_writers(self) -> None:
        for rank, client in self.clients.items():
            client.give(
                m.Writers(
                    apply_running=self.command is not None,
                    superior=any(other > rank for other in self.clients),
                    inferior_bids=frozenset(
                        one.machine.election_id for other, one in self.clients.items() if other < rank
                    ),
                )
            )

    def tell_intended(self) -> None:
        for client in self.clients.values():
            client.give(m.IntendedIs(0, intended(self.revision)))

    def break_streams(self) -> None:
        for client in self.clients.values():
            if client.stream is not None:
                client.lose("connection reset")

    def partition(self) -> None:
        """Breaks the clients' streams; the switch does not notice before the partition ends."""
        self.partitioned = True
        self.break_streams()

    def heal(self) -> None:
        self.partitioned = False
        held = {id(one.stream) for one in self.clients.values()} | {id(self.command)}
        for stream in [one for one in self.switch.streams if id(one) not in held]:
            self.switch.leave(stream)

    def begin_apply(self) -> None:
        """Starts a command, which takes the lock and becomes primary, like the one-shot verbs."""
        self.command = Stream()
        if self.switch.alive and not self.partitioned:
            self.switch.bid(self.command, max(self.switch.highest, max(self.clients, default=0)) + 1)

    def end_apply(self, *, committed: bool) -> None:
        """Ends the command. If it is killed before its commit, the controllers must undo its writes."""
        assert self.command is not None
        if committed:
            self.revision += 1
        self.switch.leave(self.command)
        self.command = None
        self.tell_intended()

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        for client in self.clients.values():
            client.give(m.Tick())

    def run(self) -> None:
        """Runs all steps that are possible without time passing."""
        for _ in range(1000):
            done = [
                one() for client in self.clients.values() for one in (client.work, client.hear, client.answer)
            ]
            if not any(done):
                return
        raise AssertionError("the controllers and the switch never come to rest")

    def settle(self, seconds: float = 200.0) -> None:
        """Lets time pass from timer to timer, without further faults."""
        end = self.now + seconds
        self.tell_writers()
        while True:
            self.run()
            self.tell_writers()
            timers = [one.machine.wake_at for one in self.clients.values()]
            timers = [timer for timer in timers if timer is not None]
            if not timers or min(timers) > end:
                return
            self.pass_time(max(0.0, min(timers) - self.now))

    def states(self) -> dict[int, State]:
        return {rank: client.machine.state for rank, client in self.clients.items()}
