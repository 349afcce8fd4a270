"""A batch that fails leaves nothing behind: what both interfaces read, and which handles come next, are as on
a switch that was never asked."""

import json
from typing import Any

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import batch
from eeon_engine.p4runtime.clients.roles import DEFAULT
from eeon_engine.p4runtime.entities.forwarding import Forwarding
from eeon_engine.p4runtime.program.pipeline import Pipeline, config_from_files
from eeon_engine.thrift.names import Context
from eeon_engine.thrift.whole import WholeCalls
from finsy.proto import p4r, rpc_code
from hypothesis import given, settings
from hypothesis import strategies as st
from made_frames import frame
from p4rt_client import (
    DELETE,
    INSERT,
    MODIFY,
    Names,
    bits,
    entity_of,
    exact,
    lpm,
    number_bytes,
    one_shot,
    p4info,
    program_json,
    ternary,
)

PROGRAM = Program(program_json())
NAMES = Names(p4info())
SCHEMA = Pipeline.from_config(config_from_files(program_json(), p4info())).schema
ROLLBACK = p4r.WriteRequest.ROLLBACK_ON_ERROR
CONTINUE = p4r.WriteRequest.CONTINUE_ON_ERROR
PORTS = st.integers(0, 5)


def forward(port: int) -> Any:
    return NAMES.action("forward", port)


def exact_entry(draw: Any) -> Any:
    return NAMES.entry(
        "exact_table", exact(1, draw(PORTS)), action=forward(draw(PORTS)), metadata=b"m" * draw(PORTS)
    )


def ternary_entry(draw: Any) -> Any:
    return NAMES.entry(
        "ternary_table",
        ternary(1, draw(PORTS), 0xFF),
        exact(2, 1),
        action=forward(draw(PORTS)),
        priority=1 + draw(PORTS),
    )


def prefix_entry(draw: Any) -> Any:
    action = p4r.TableAction(action_profile_group_id=draw(PORTS))
    if draw(st.booleans()):
        action = one_shot(*((forward(draw(PORTS)), 1 + draw(PORTS)) for _ in range(1 + draw(PORTS))))
    return NAMES.entry("lpm_table", lpm(1, draw(PORTS) << 24 or 1 << 24, 8), action=action)


def member_entry(draw: Any) -> Any:
    action = p4r.TableAction(action_profile_member_id=draw(PORTS))
    return NAMES.entry("member_table", exact(1, draw(PORTS)), action=action)


def member(draw: Any) -> Any:
    profile = draw(st.sampled_from(["selector", "plain_profile"]))
    return p4r.ActionProfileMember(
        action_profile_id=NAMES[profile], member_id=1 + draw(PORTS), action=forward(draw(PORTS))
    )


def group(draw: Any) -> Any:
    made = p4r.ActionProfileGroup(action_profile_id=NAMES["selector"], group_id=1 + draw(PORTS))
    for number in draw(st.lists(PORTS, max_size=3, unique=True)):
        made.members.add(
            member_id=1 + number, weight=1 + draw(PORTS), watch_port=b"\1" if draw(PORTS) else b""
        )
    return made


def default_entry(draw: Any) -> Any:
    return NAMES.entry("settings", action=forward(draw(PORTS)), is_default_action=True, metadata=b"d")


def counter(draw: Any) -> Any:
    data = p4r.CounterData(packet_count=draw(PORTS))
    entry = p4r.CounterEntry(counter_id=NAMES["both"], data=data)
    if draw(st.booleans()):
        entry.index.index = draw(PORTS)
    return entry


def direct_counter(draw: Any) -> Any:
    entry = NAMES.entry("exact_table", exact(1, draw(PORTS)))
    return p4r.DirectCounterEntry(table_entry=entry, data=p4r.CounterData(byte_count=draw(PORTS)))


def register(draw: Any) -> Any:
    return p4r.RegisterEntry(register_id=NAMES["wide_cells"], data=bits(draw(PORTS)))


def multicast(draw: Any) -> Any:
    ports = draw(st.lists(PORTS, max_size=3, unique=True))
    replicas = [p4r.Replica(port=number_bytes(port), instance=1) for port in ports]
    return p4r.MulticastGroupEntry(multicast_group_id=1 + draw(PORTS), replicas=replicas, metadata=b"g")


def session(draw: Any) -> Any:
    return p4r.CloneSessionEntry(
        session_id=1 + draw(PORTS), replicas=[p4r.Replica(port=number_bytes(draw(PORTS)))]
    )


WRITABLE = [
    exact_entry,
    ternary_entry,
    prefix_entry,
    member_entry,
    member,
    group,
    default_entry,
    counter,
    direct_counter,
    register,
    multicast,
    session,
]


@st.composite
def updates(draw: Any) -> list[p4r.Update]:
    """Updates of any kind, many of which are refused."""
    made = []
    for _ in range(draw(st.integers(1, 14))):
        entity = draw(st.sampled_from(WRITABLE))(draw)
        kind = draw(st.sampled_from([INSERT, INSERT, MODIFY, DELETE]))
        made.append(p4r.Update(type=kind, entity=entity_of(entity)))
    return made


class Subject:
    """A switch with both interfaces, without sockets."""

    def __init__(self) -> None:
        self.switch = Switch(PROGRAM)
        self.forwarding = Forwarding(self.switch, SCHEMA)
        self.thrift = WholeCalls(Context(self.switch), 0)

    def write(self, batch_: list[p4r.Update], atomicity: int) -> list[int]:
        results = batch.write(self.switch, self.forwarding, DEFAULT, batch_, atomicity)
        return [rpc_code.OK if error is None else error.code for error in results]

    def seen(self) -> tuple[Any, ...]:
        """Everything that either interface reads."""
        asked = p4r.TableEntry(counter_data=p4r.CounterData())
        kinds = [
            asked,
            p4r.TableEntry(is_default_action=True),
            p4r.ActionProfileMember(),
            p4r.ActionProfileGroup(),
            p4r.CounterEntry(),
            p4r.RegisterEntry(),
            p4r.PacketReplicationEngineEntry(),
        ]
        found = [one for kind in kinds for one in self.forwarding.read_whole(entity_of(kind))]
        state = json.loads(self.thrift.bm_serialize_state())
        return (
            [one.SerializeToString(deterministic=True) for one in found],
            state,
            self.switch.mirroring_sessions(),
        )


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(history=updates(), attempt=updates(), after=updates())
def test_a_batch_that_is_refused_leaves_everything_as_it_was(
    history: list[p4r.Update], attempt: list[p4r.Update], after: list[p4r.Update]
) -> None:
    asked, spared = Subject(), Subject()
    for subject in (asked, spared):
        subject.write(history, CONTINUE)
        subject.switch.inject(1, frame(1))
        subject.switch.advance_to(1_000_000)
    before = asked.seen()
    impossible = p4r.Update(type=INSERT, entity=entity_of(NAMES.entry("settings", action=forward(1))))
    assert asked.write([*attempt, impossible], ROLLBACK)[-1] != rpc_code.OK
    assert asked.seen() == before == spared.seen()
    # Handles, free rows and what is counted go on alike.
    assert asked.write(after, CONTINUE) == spared.write(after, CONTINUE)
    assert asked.seen() == spared.seen()


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(history=updates(), attempt=updates())
def test_an_update_that_is_refused_leaves_everything_as_it_was(
    history: list[p4r.Update], attempt: list[p4r.Update]
) -> None:
    subject = Subject()
    subject.write(history, CONTINUE)
    for update in attempt:
        before = subject.seen()
        if subject.write([update], CONTINUE) != [rpc_code.OK]:
            assert subject.seen() == before
