"""The state machine of one switch: it restores the switch after every fault, and writes only while primary.

The model is controller_model's, with both kinds of P4Runtime servers.
"""

import logging
from typing import TypeVar

import pytest
from controller_model import Client, Stream, World, entry, intended
from eeon_control.controller import messages as m
from eeon_control.controller.backoff import Backoff
from eeon_control.controller.machine import State
from eeon_control.election import LARGEST
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

T = TypeVar("T", bound=m.Action)


@pytest.fixture(params=[True, False], ids=["promotes", "waits"])
def promotes(request):
    """Returns whether the server promotes a backup when the primary leaves."""
    return request.param


@pytest.fixture
def world(promotes):
    return in_sync(promotes=promotes)


@pytest.fixture
def client(world):
    return world.clients[10]


def in_sync(*, promotes: bool, ranks: tuple[int, ...] = (10,)) -> World:
    world = World(promotes=promotes, ranks=ranks)
    world.settle(30)
    assert world.switch.holds(intended(world.revision))
    return world


def taken(client: Client, kind: type[T]) -> list[T]:
    """Records its actions of this kind from now on."""
    found: list[T] = []
    take = client._take

    def note(action: m.Action) -> None:
        if isinstance(action, kind):
            found.append(action)
        take(action)

    client._take = note
    return found


def test_restarted_switch_is_restored_and_the_restore_is_reported(world, client):
    restores = taken(client, m.Restored)
    world.switch.alive = False
    world.break_streams()
    world.settle(20)
    assert not client.machine.is_connected
    world.switch.restart()
    world.switch.alive = True
    world.settle(10)
    assert world.switch.holds(intended(1))
    (restored,) = restores
    assert restored.pushed and restored.entries == 3 and not restored.drift and 20 <= restored.seconds <= 30


def test_stream_that_the_switch_has_not_noticed_to_be_dead_is_outbid(world):
    (stream,) = world.switch.streams
    world.clients[10].stream = None  # the switch keeps it: it does not notice that the client has gone
    world.clients[10].lose("connection reset")
    world.settle(30)
    assert stream in world.switch.streams
    assert world.states() == {10: State.IN_SYNC} and world.clients[10].machine.election_id == 11


def test_standby_leaves_a_restarted_switch_to_the_controller_above_it(promotes):
    world = in_sync(promotes=promotes, ranks=(10, 5))
    before = world.clients[5].writes
    world.break_streams()
    world.switch.restart()
    world.settle(60)
    assert world.switch.holds(intended(1)) and world.clients[5].writes == before


def test_switch_that_loses_what_it_accepts_is_a_refusal_that_names_the_first_entry(world, client):
    client._write = lambda changes: None
    world.switch.entries.pop(entry(1, 0).key)
    lines = taken(client, m.Say)
    world.settle(70)
    refused = [one.reason for one in lines if one.event == "refused"]
    assert refused[0] == "accepted every write, but when read back, 1 entry differs: port_buffer port=1"


def test_client_that_bid_the_largest_id_and_left_does_not_lock_the_controller_out(world, promotes):
    stranger = Stream()
    world.switch.bid(stranger, LARGEST)
    world.switch.entries.clear()
    world.run()
    assert world.states() == {10: State.BACKUP}
    world.switch.leave(stranger)
    world.settle(30)
    assert world.states() == {10: State.IN_SYNC} and world.switch.holds(intended(1))
    assert world.clients[10].machine.election_id == (10 if promotes else LARGEST)


def test_client_that_keeps_the_largest_id_is_named_once_and_no_id_is_bid_above_it(world, client):
    bids, lines = taken(client, m.Bid), taken(client, m.Say)
    world.switch.bid(Stream(), LARGEST)
    world.settle(300)
    assert world.states() == {10: State.BACKUP} and bids == []
    (line,) = [one for one in lines if one.event == "backup"]
    assert line.level == logging.WARNING
    assert line.reason == (
        "election id 340282366920938463463374607431768211455 (the largest possible) is primary, held by a client "
        "that is not a controller on this state folder; no client can take over before that one ends or the switch "
        "restarts"
    )


def test_standby_with_the_largest_id_is_not_bid_against_with_an_id_that_does_not_exist():
    world = in_sync(promotes=False, ranks=(5,))
    stranger = Stream()
    world.switch.bid(stranger, LARGEST)
    world.switch.leave(stranger)
    world.settle(30)
    assert world.clients[5].machine.election_id == LARGEST and world.states() == {5: State.IN_SYNC}
    world.start(10)
    bids, lines = taken(world.clients[10], m.Bid), taken(world.clients[10], m.Say)
    world.settle(300)
    assert [bid.election_id for bid in bids] == [10] and world.states() == {
        5: State.IN_SYNC,
        10: State.BACKUP,
    }
    assert [one.reason for one in lines if "held by a standby on this state folder" in one.reason]


def test_switch_that_ends_every_stream_after_its_answer_is_connected_to_ever_more_rarely():
    world = in_sync(promotes=False)
    client = world.clients[10]
    bids = taken(client, m.Bid)
    world.switch.bid(Stream(), LARGEST)  # it becomes a backup, and is then cut off
    world.run()
    hear = client.hear

    def cut_off() -> bool:
        heard = hear()
        if heard and client.machine.state is State.BACKUP:
            client.lose("connection reset")
        return heard

    client.hear = cut_off
    client.lose("connection reset")
    world.settle(60)
    # The delays double from 0.1 s to 5 s, each reduced by at most half.
    assert 12 <= len(bids) <= 30


def test_switch_that_names_nobody_whatever_is_bid_is_asked_ever_more_rarely():
    world = World(promotes=False, ranks=(10,))
    client = world.clients[10]
    bids = taken(client, m.Bid)
    world.switch.primary = lambda: None
    world.settle(60)
    assert 5 <= len(bids) <= 20 and world.states() == {10: State.BACKUP}
    del world.switch.primary
    world.settle(60)
    assert world.states() == {10: State.IN_SYNC}


def test_stream_that_lasted_is_connected_to_anew_at_once_also_by_a_standby():
    world = in_sync(promotes=False, ranks=(10, 5))
    for _ in range(8):  # as many restarts of the switch, days apart
        world.settle(100)
        world.break_streams()
        assert world.clients[5].hear()
        assert world.clients[5].machine.wake_at <= world.now + 0.1
    world.settle(30)
    assert world.states() == {10: State.IN_SYNC, 5: State.BACKUP}


def test_switch_that_does_not_answer_a_bid_is_connected_to_anew():
    world = World(promotes=True, ranks=(10,))
    world.switch.tell = lambda stream: None
    world.settle(30)
    del world.switch.tell
    world.settle(30)
    assert world.states() == {10: State.IN_SYNC}


def test_back_off_doubles_to_its_limit_and_starts_again():
    backoff = Backoff(0.1, 1.0, "seed")
    delays = [backoff.next() for _ in range(8)]
    assert all(
        step / 2 <= delay <= step
        for step, delay in zip([0.1, 0.2, 0.4, 0.8, 1, 1, 1, 1], delays, strict=True)
    )
    backoff.reset()
    assert backoff.next() <= 0.1
    again = Backoff(0.1, 1.0, "seed")
    assert [again.next() for _ in range(8)] == delays


READS, WRITES = [m.Refresh, m.ReadPipeline, m.ReadEntries], [m.PushPipeline, m.Write, m.ApplySettings]
UNDER_WAY = {"request": st.sampled_from(READS + WRITES), "received": st.booleans()}
STEPS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["work", "hear", "answer"])), max_size=12)


class AnySequenceOfFaults(RuleBasedStateMachine):
    """After any events in any order, the switch finally holds the intended entries. Meanwhile, `Client` checks that
    only one request is pending, that nothing is written while another client may, and what was read before IN_SYNC."""

    @initialize(
        promotes=st.booleans(), ranks=st.sampled_from([(10,), (10, 5), (5, 10)]), rested=st.booleans()
    )
    def begin(self, promotes, ranks, rested):
        self.world = World(promotes=promotes, ranks=ranks)
        if rested:
            self.world.settle(30)

    def client(self, which: int) -> Client | None:
        clients = list(self.world.clients.values())
        return clients[which % len(clients)] if clients else None

    @rule(steps=STEPS)
    def something_goes_on(self, steps):
        for which, step in steps:
            if (client := self.client(which)) is not None:
                getattr(client, step)()

    @rule()
    def all_comes_to_rest(self):
        self.world.settle(6)

    @rule(seconds=st.sampled_from([0.05, 0.3, 4.0, 11.0, 70.0]))
    def time_passes(self, seconds):
        self.world.pass_time(seconds)

    @rule()
    def folder_is_looked_at(self):
        self.world.tell_writers()

    @rule()
    def switch_dies(self):
        self.world.switch.alive = False
        self.world.switch.streams.clear()
        self.world.break_streams()

    @rule(keeps_program=st.booleans())
    def switch_starts(self, keeps_program):
        self.world.switch.restart(keeps_program=keeps_program)
        self.world.break_streams()
        self.world.switch.alive = True

    @rule()
    def network_parts(self):
        self.world.partition()

    @rule()
    def network_heals(self):
        self.world.heal()

    @rule(port=st.integers(1, 12), limit=st.sampled_from([0, 1000, 1001]))
    def somebody_writes_an_entry(self, port, limit):
        if self.world.switch.program:
            self.world.switch.entries[entry(port, limit).key] = entry(port, limit)

    @rule()
    def somebody_loads_another_program(self):
        self.world.switch.program, self.world.switch.entries, self.world.switch.settings = False, {}, 0

    @rule(**UNDER_WAY)
    def request_is_under_way(self, request, received):
        """The primary waits for this answer, which the switch may have sent."""
        if request in WRITES:
            self.somebody_loads_another_program()
        self.world.settle(6)
        for client in self.world.clients.values():
            if client.machine.is_primary:
                client.give(m.Suspect("a test"))
                client.run_until(request)
                if received:
                    client.work()

    @precondition(lambda self: self.world.switch.alive and not self.world.partitioned)
    @rule(steps=STEPS, heard=st.booleans(), **UNDER_WAY)
    def somebody_is_primary_for_a_moment(self, steps, heard, **under_way):
        self.request_is_under_way(**under_way)
        stranger = Stream()
        self.world.switch.bid(stranger, max(self.world.switch.highest, 10) + 1)
        self.hear_all(heard)
        self.something_goes_on(steps)
        self.world.switch.leave(stranger)
        self.hear_all(heard)

    def hear_all(self, heard):
        for client in self.world.clients.values() if heard else ():
            while client.hear():
                pass

    @rule(**UNDER_WAY)
    def connections_are_reset(self, **under_way):
        self.request_is_under_way(**under_way)
        self.world.break_streams()

    @rule(times=st.integers(1, 3))
    def writes_are_refused(self, times):
        self.world.refusals = times

    @precondition(lambda self: self.world.command is None)
    @rule(loses_its_stream=st.booleans(), **UNDER_WAY)
    def apply_begins(self, loses_its_stream, **under_way):
        self.request_is_under_way(**under_way)
        self.world.begin_apply()
        if loses_its_stream:
            self.world.tell_writers()
            self.world.switch.leave(self.world.command)

    @precondition(lambda self: self.world.command is not None)
    @rule(committed=st.booleans())
    def apply_ends(self, committed):
        self.world.end_apply(committed=committed)

    @rule(rank=st.sampled_from([5, 10]))
    def controller_dies(self, rank):
        self.world.kill(rank)

    @rule(rank=st.sampled_from([5, 10]))
    def controller_starts(self, rank):
        self.world.start(rank)

    @rule(**UNDER_WAY)
    def port_changes(self, **under_way):
        self.request_is_under_way(**under_way)
        for client in self.world.clients.values():
            client.give(m.Suspect("port 1 went down"))

    @rule(**UNDER_WAY)
    def revision_is_committed(self, **under_way):
        self.request_is_under_way(**under_way)
        self.world.revision += 1
        self.world.tell_intended()

    def teardown(self):
        if not hasattr(self, "world"):
            return
        world = self.world
        world.heal()
        if not world.switch.alive:
            world.switch.restart()
            world.switch.alive = True
        if world.command is not None:
            world.end_apply(committed=False)
        world.refusals = 0
        if not world.clients:
            world.start(10)
        world.settle(300)
        assert world.switch.holds(intended(world.revision))
        top = max(world.clients)
        assert world.states() == {
            rank: State.IN_SYNC if rank == top else State.BACKUP for rank in world.clients
        }
        before = [client.writes for client in world.clients.values()]
        world.settle(300)
        assert [client.writes for client in world.clients.values()] == before


TestAnySequenceOfFaults = AnySequenceOfFaults.TestCase
TestAnySequenceOfFaults.settings = settings(
    max_examples=2 * settings().max_examples, stateful_step_count=30, deadline=None
)
