"""A pure state machine for one switch: events and the time go in, actions come out.

                  +--------- stream lost, from anywhere ---------+
                  v                                              |
    WAITING --> CONNECTING --> ARBITRATING --> BACKUP            |
      ^ back-off                 |    ^          |  the primary has gone
      |                          |    +----------+               |
      |                          v primary                       |
      |        +------> DEFERRED (an apply runs, or a superior may come back)
      |        |                 |
      |        |                 v
      |        |   REFRESHING --> READING --> PUSHING            the program is another
      |        |       ^            |   ^-------+
      |        |       |            |   ^-- WRITING             entries differ
      |        |       |            v
      |        |   RETRYING <-- SETTING --> IN_SYNC -- check, port event, news --> REFRESHING
      |        |       ^ refused

Invariants (tests/test_controller_machine.py):

* PushPipeline, Write and ApplySettings are issued only while, by the switch's last message, this stream is
  primary with the id of its last bid;
* only one request is pending at a time, so that no answer is outdated by a later request;
* IN_SYNC is entered only after the program and all entries were read back as intended, and the settings were
  applied, since the stream began, since the promotion, and since the intended configuration was read.
"""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from eeon_control import election
from eeon_control.controller import messages as m
from eeon_control.controller.backoff import Backoff
from eeon_control.election import ArbitrationStatus
from eeon_control.fabric.diff import differ, difference
from eeon_control.plan.pfc import STORM_TABLES


class State(StrEnum):
    """The state of a switch; see the diagram above."""

    WAITING = "waiting"
    CONNECTING = "connecting"
    ARBITRATING = "arbitrating"
    BACKUP = "backup"
    DEFERRED = "deferred"
    REFRESHING = "refreshing"
    READING = "reading"
    PUSHING = "pushing"
    WRITING = "writing"
    SETTING = "setting"
    RETRYING = "retrying"
    IN_SYNC = "in_sync"


@dataclass(frozen=True)
class Timing:
    """Times in seconds.

    `check`: between comparisons of a switch in sync without another reason; 0: never. `reconnect_first`,
    `reconnect_max`: back-off between attempts to connect. `retry_first`, `retry_max`: back-off after a
    refusal. `answer`: timeout of a bid. `grace`: time for which a standby waits for a live controller of
    larger rank, before it bids for a switch without a primary, or writes as primary.
    """

    check: float = 60.0
    reconnect_first: float = 0.1
    reconnect_max: float = 5.0
    retry_first: float = 0.2
    retry_max: float = 30.0
    answer: float = 10.0
    grace: float = 5.0


# Number of writes that are accepted but read back differently, before that counts as a refusal.
_ROUNDS = 3
# Number of bids on one stream, all answered with NOBODY, before the first pause.
_BIDS = 5


class SwitchMachine:
    """The state machine of one switch. Call `step` with every event, and with Tick at `wake_at`.

    `rank` is the configured election id; `election_id` is that of the last bid; `connection` is the ticket of
    the connection, 0 without any. Times are seconds of any monotonic clock. `connections_lost` and `refusals`
    are counters for metrics and are never reset.
    """

    def __init__(self, name: str, rank: int, intended: m.Intended, timing: Timing) -> None:
        self.name = name
        self.rank = rank
        self.intended = intended
        self.state = State.WAITING
        self.wake_at: float | None = 0.0
        self.role: ArbitrationStatus | None = None
        self.election_id = rank
        self.connection = 0
        self.drift_entries = 0  # found by the last comparison, not yet repaired
        self.connections_lost = 0
        self.refusals = 0
        self._timing = timing
        self._random = random.Random(f"{rank}:check:{name}")
        self._reconnect = Backoff(timing.reconnect_first, timing.reconnect_max, f"{rank}:connect:{name}")
        self._retry = Backoff(timing.retry_first, timing.retry_max, f"{rank}:retry:{name}")
        self._tickets = 0
        self._busy = 0
        self._primary_id = 0
        self._primary_since = 0.0
        self._left_behind = 0  # the election id of the last lost stream
        self._in_use = False
        self._connected_at = 0.0
        self._bids = 0  # number since this stream was last primary
        self._writers = m.Writers()
        self._recheck = ""
        self._settings_due = True
        self._was_in_sync = False  # on this stream, and as intended now
        self._rounds = 0
        self._trouble_since: float | None = None
        self._wrote = 0
        self._pushed = False
        self._drift = False
        self._last_loss = ""

    @property
    def is_connected(self) -> bool:
        """Whether the switch has answered on the present stream."""
        return self.role is not None

    @property
    def is_primary(self) -> bool:
        """Whether this stream is primary, by the switch's last message."""
        return self.role is ArbitrationStatus.PRIMARY

    def step(self, event: m.Event, now: float) -> list[m.Action]:
        """Handles one event. Returns the resulting actions."""
        match event:
            case m.Tick():
                return self._tick(now)
            case m.Connected(ticket) if ticket == self.connection and self.state is State.CONNECTING:
                self._connected_at, self._bids = now, 0
                return self._bid(self._first_bid(), now)
            case m.StreamLost(ticket, reason, id_in_use) if ticket == self.connection:
                self._left_behind = self._left_behind if id_in_use else self.election_id
                self._in_use = id_in_use
                return self._lost(reason, now)
            case m.Arbitrated(ticket, role, election_id) if ticket == self.connection:
                return self._arbitrated(role, election_id, now)
            case m.Writers():
                return self._set_writers(event, now)
            case m.IntendedIs(0, intended):
                return self._news(intended, now)
            case m.Suspect(reason):
                return self._suspect(reason, now)
            case m.Answer(ticket) if ticket and ticket == self._busy:
                return self._answer(event, now)
            case _:
                return []  # belongs to an earlier connection or request

    # -- connection and arbitration ----------------------------------------------------------------------

    def _tick(self, now: float) -> list[m.Action]:
        if self.wake_at is None or now < self.wake_at:
            return []
        self.wake_at = None
        match self.state:
            case State.WAITING:
                self.state = State.CONNECTING
                self.connection = self._ticket()
                return [m.Connect(self.connection)]
            case State.ARBITRATING:
                return self._lost(f"no answer to arbitration within {self._timing.answer:g} s", now)
            case State.BACKUP:
                return self._bid(self._next_id(), now)
            case State.IN_SYNC | State.DEFERRED | State.RETRYING:
                return self._begin("", now)
            case _:
                return []

    def _lost(self, reason: str, now: float) -> list[m.Action]:
        gone, self.connection = self.connection, 0
        if self._was_in_sync and self._trouble_since is None:
            self._trouble_since = now
        said = self.role is not None or reason != self._last_loss
        if self.role is not None:
            self.connections_lost += 1
        # The back-off grows until a stream lasts, for a switch that ends each one at once.
        if self.role is not None and now - self._connected_at >= self._timing.reconnect_max:
            self._reconnect.reset()
        self.state, self.role, self._busy, self._recheck = State.WAITING, None, 0, ""
        self._was_in_sync, self._settings_due, self._last_loss = False, True, reason
        self.wake_at = now + self._reconnect.next()
        say = m.Say("disconnected", reason, logging.WARNING if said else logging.DEBUG)
        return [m.Disconnect(gone), say]

    def _first_bid(self) -> int:
        """Returns the first id to bid on a stream: the rank, unless a stream that this machine lost still has
        it.

        A switch that did not notice the loss, for example in a partition, may keep such a stream for hours.
        If no stream was lost, the id belongs to another client, which must not be outbid.
        """
        if self._in_use and self._left_behind >= self.rank:
            self._left_behind = election.above(self._left_behind)
            return self._left_behind
        return self.rank

    def _next_id(self) -> int:
        """Returns the id to bid without a primary: not below the highest seen, and not in use.

        If a client bid the largest id and left, that id is free, and is bid.
        """
        return self.rank if self._primary_id <= self.rank else election.above(self._primary_id)

    def _bid(self, election_id: int, now: float) -> list[m.Action]:
        self.state = State.ARBITRATING
        self.election_id = election_id
        self._bids += 1
        self.wake_at = now + self._timing.answer
        return [m.Bid(self.connection, election_id)]

    def _arbitrated(self, role: ArbitrationStatus, election_id: int, now: float) -> list[m.Action]:
        before, self.role = self.role, role
        self._primary_id, self._last_loss, self._in_use = election_id, "", False
        if role is ArbitrationStatus.PRIMARY:
            if before is ArbitrationStatus.PRIMARY and self.state is not State.ARBITRATING:
                return []
            self._primary_since, self._bids = now, 0
            fields = (("election_id", self.election_id),)
            return [m.Say("primary", "", fields=fields), *self._begin("", now)]
        said: list[m.Action] = []
        if before is not role or self.state is State.ARBITRATING:
            said = [self._why_backup(role, election_id)]
        self._was_in_sync = False
        self.state, self.wake_at = State.BACKUP, None
        return said + self._stand_by(now)

    def _why_backup(self, role: ArbitrationStatus, election_id: int) -> m.Say:
        if role is not ArbitrationStatus.OTHER:
            return m.Say("backup", "no client is primary")
        why = f"election id {election.name_of(election_id)} is primary"
        if election_id < election.LARGEST:
            return m.Say("backup", why)
        if election_id == self._left_behind:
            who = "this controller's lost stream, which the switch still considers open"
        elif election_id in self._writers.inferior_bids:
            who = "a standby on this state folder"
        else:
            who = "a client that is not a controller on this state folder"
        ending = "no client can take over before that one ends or the switch restarts"
        return m.Say("backup", f"{why}, held by {who}; {ending}", logging.WARNING)

    def _stand_by(self, now: float) -> list[m.Action]:
        """Decides the next step while not primary: bid, wait for a time, or wait for an event."""
        others = self._writers
        if others.apply_running:
            return []
        if self.role is ArbitrationStatus.NOBODY:
            if others.superior:
                self.wake_at = now + self._timing.grace
            elif self._bids < _BIDS:
                return self._bid(self._next_id(), now)
            else:  # a server that makes no client primary, for any bid
                self.wake_at = now + self._retry.next()
        elif (
            self._primary_id in others.inferior_bids
            and not others.superior
            and self._primary_id < election.LARGEST
        ):
            return self._bid(self._primary_id + 1, now)
        return []

    def _set_writers(self, writers: m.Writers, now: float) -> list[m.Action]:
        before, self._writers = self._writers, writers
        if self.state is State.BACKUP and writers != before:
            self.wake_at = None
            return self._stand_by(now)
        if self.state is State.DEFERRED:
            return self._begin("", now)
        return []

    # -- comparing and repairing -----------------------------------------------------------------------------

    def _news(self, intended: m.Intended, now: float) -> list[m.Action]:
        if intended == self.intended:
            return []
        reason = what_is_new(self.intended, intended)
        self._take(intended)
        return self._suspect(reason, now)

    def _suspect(self, reason: str, now: float) -> list[m.Action]:
        if self.state is State.IN_SYNC:
            return self._begin(reason, now)
        if self._busy and self.is_primary:
            self._recheck = reason
        return []

    def _take(self, intended: m.Intended) -> None:
        if intended != self.intended:
            self._was_in_sync = False
            self._settings_due = True
            self.intended = intended

    def _begin(self, reason: str, now: float) -> list[m.Action]:
        """Begins a comparison, unless it must be deferred; the stream is primary."""
        assert self.is_primary, f"{self.name}: compared while {self.role}"
        self.state, self.wake_at = State.DEFERRED, None
        if self._busy:
            return []  # the pending request's answer comes first; see _answer
        if self._writers.apply_running:
            return []
        patience = self._primary_since + self._timing.grace
        if self._writers.superior and now < patience:
            self.wake_at = patience
            return []
        said = [m.Say("comparing", reason)] if reason else []
        self._recheck, self._rounds = "", 0
        return [*said, self._ask(State.REFRESHING, m.Refresh)]

    def _answer(self, event: m.Event, now: float) -> list[m.Action]:
        self._busy = 0
        if self.state is State.PUSHING and isinstance(event, m.Done):
            self._pushed = True
        if not self.is_primary:
            return []  # demoted meanwhile
        if self.state is State.DEFERRED:
            return self._begin("", now)
        if self._writers.apply_running or self._recheck:
            return self._begin(self._recheck, now)
        match event:
            case m.Refused(reason=reason):
                return self._refused(reason, now)
            case m.IntendedIs(intended=intended):
                self._take(intended)
                return [self._ask(State.READING, m.ReadPipeline)]
            case m.PipelineRead(same=True):
                return [self._ask(State.READING, m.ReadEntries)]
            case m.PipelineRead(same=False):
                return self._push(now)
            case m.EntriesRead():
                return self._compare(event, now)
            case _ if self.state is State.SETTING:
                self._settings_due = False
                return self._rest(now)
            case _:
                return [self._ask(State.READING, m.ReadEntries)]

    def _push(self, now: float) -> list[m.Action]:
        self._trouble(now)
        self._settings_due = True
        return [
            m.Say("loading", "the switch runs another program, or none", logging.WARNING),
            self._ask(State.PUSHING, m.PushPipeline),
        ]

    def _compare(self, event: m.EntriesRead, now: float) -> list[m.Action]:
        changes = tuple(difference(event.entries, self.intended.entries))
        self.drift_entries = len(changes)
        if not changes:
            if self._settings_due and self.intended.settings:
                return [self._ask(State.SETTING, m.ApplySettings)]
            return self._rest(now)
        if self._rounds == _ROUNDS:
            return self._refused(f"accepted every write, but when read back, {differ(changes)}", now)
        self._trouble(now)
        self._drift = self._drift or (self._was_in_sync and not self._pushed)
        self._rounds += 1
        self._wrote += len(changes)
        write = self._ask(State.WRITING, lambda ticket: m.Write(ticket, changes))
        return [m.Say("writing", differ(changes), logging.WARNING), write]

    def _rest(self, now: float) -> list[m.Action]:
        """Enters IN_SYNC, because everything is as intended, and reports the restore if there was one."""
        actions: list[m.Action] = []
        if self._wrote or self._pushed:
            since = now if self._trouble_since is None else self._trouble_since
            actions.append(m.Restored(now - since, self._wrote, self._pushed, self._drift))
        if actions or not self._was_in_sync:
            actions.append(m.Say("in_sync", fields=(("revision", self.intended.revision),)))
        self.state, self._was_in_sync, self.drift_entries = State.IN_SYNC, True, 0
        self._trouble_since, self._wrote, self._pushed, self._drift = None, 0, False, False
        self._reconnect.reset()
        self._retry.reset()
        if self._timing.check:
            self.wake_at = now + self._timing.check * self._random.uniform(0.9, 1.1)
        return actions

    def _refused(self, reason: str, now: float) -> list[m.Action]:
        self.state, self.wake_at = State.RETRYING, now + self._retry.next()
        self.refusals += 1
        self._trouble(now)
        return [m.Say("refused", reason, logging.ERROR)]

    def _trouble(self, now: float) -> None:
        if self._trouble_since is None:
            self._trouble_since = now

    def _ask(self, state: State, action: Callable[[int], m.Action]) -> m.Action:
        self.state = state
        self._busy = self._ticket()
        return action(self._busy)

    def _ticket(self) -> int:
        self._tickets += 1
        return self._tickets


def what_is_new(before: m.Intended, now: m.Intended) -> str:
    """Returns why the intended configuration has changed: another revision, a storm, or links."""
    if now.revision != before.revision:
        return f"revision {now.revision}"
    changed = {entry.table for entry in set(before.entries) ^ set(now.entries)}
    if changed and changed <= STORM_TABLES:
        return "a pause storm has begun or ended"
    return "links of the fabric have changed"
