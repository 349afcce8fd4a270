"""Random requests over valid P4Infos, by hypothesis: no bug shows, and what is taken back leaves no trace.

Entities are made from the P4Info, so that most of them are accepted or nearly so; `test_p4rt_hostile` throws
messages that mean nothing.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4d, p4r, rpc_code
from p4rt_client import Client, Failed, codes, number_bytes, p4info, program_json

pytest.importorskip("hypothesis", reason="hypothesis is not installed")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PROGRAMS = ("everything", "resources")

# What a bug looks like from outside: UNKNOWN without details, or one of these.
_BUGS = {rpc_code.INTERNAL, rpc_code.UNKNOWN}

Draw = st.DrawFn


class Maker:
    """Entities of one P4Info."""

    def __init__(self, info: Any) -> None:
        self.info = info
        self.actions = {action.preamble.id: action for action in info.actions}

    # ---- values

    def value(self, draw: Draw, width: int) -> bytes:
        # Few values, so that keys meet again; now and then one that is too wide, padded or empty.
        number = draw(st.sampled_from([0, 1, 2, 3, (1 << width) - 1, 1 << width]))
        return draw(st.sampled_from([number_bytes(number)] * 6 + [b"\0\0" + number_bytes(number), b""]))

    def match(self, draw: Draw, field: Any) -> p4r.FieldMatch:
        match = p4r.FieldMatch(field_id=field.id)
        width = field.bitwidth
        kind = draw(st.sampled_from([field.match_type] * 9 + [2, 3, 4, 5, 6]))
        match kind:
            case 2:
                match.exact.value = self.value(draw, width)
            case 3:
                length = draw(st.sampled_from([0, 1, width // 2, width, width + 1]))
                bits = draw(st.sampled_from([1, 2, 3])) << max(0, width - length)
                match.lpm.value, match.lpm.prefix_len = number_bytes(bits), length
            case 4:
                mask = draw(st.sampled_from([0, 1, 3, (1 << width) - 1]))
                match.ternary.value = number_bytes(draw(st.sampled_from([0, 1, 2, 3])) & mask)
                match.ternary.mask = number_bytes(mask)
            case 5:
                match.range.low, match.range.high = self.value(draw, width), self.value(draw, width)
            case _:
                match.optional.value = self.value(draw, width)
        return match

    def action(self, draw: Draw, refs: list[int]) -> p4r.Action:
        ref = draw(st.sampled_from(refs))
        action = p4r.Action(action_id=ref)
        for param in self.actions[ref].params:
            action.params.add(param_id=param.id, value=self.value(draw, param.bitwidth))
        return action

    def counter(self, draw: Draw) -> p4r.CounterData:
        number = st.sampled_from([0, 1, 5, -1, 2**63 - 1])
        return p4r.CounterData(packet_count=draw(number), byte_count=draw(number))

    def meter(self, draw: Draw) -> p4r.MeterConfig:
        low, high = draw(st.sampled_from([(0, 0), (1, 5), (5, 2**40), (1, 1), (5, 1), (-1, 1), (1, 2**62)]))
        return p4r.MeterConfig(cir=low, cburst=draw(st.sampled_from([1, 5])), pir=high, pburst=5)

    def index(self, draw: Draw) -> p4r.Index | None:
        chosen = draw(st.sampled_from([None, 0, 1, 3, 15, 1000, -1]))
        return None if chosen is None else p4r.Index(index=chosen)

    # ---- entities

    def table_entry(self, draw: Draw) -> p4r.TableEntry:
        table = draw(st.sampled_from(list(self.info.tables)))
        entry = p4r.TableEntry(table_id=table.preamble.id)
        entry.is_default_action = draw(st.integers(0, 7)) == 0
        if not entry.is_default_action:
            entry.match.extend(
                self.match(draw, field) for field in table.match_fields if draw(st.integers(0, 9))
            )
            by_priority = any(field.match_type in (4, 5, 6) for field in table.match_fields)
            entry.priority = draw(st.sampled_from([1, 2, 2**31 - 1, 0] if by_priority else [0, 0, 0, 1]))
        refs = [ref.id for ref in table.action_refs]
        if draw(st.integers(0, 9)):
            if table.implementation_id and draw(st.integers(0, 9)):
                self.indirect_action(draw, entry.action, refs)
            else:
                entry.action.action.CopyFrom(self.action(draw, refs))
        if draw(st.integers(0, 3)) == 0:
            entry.metadata = draw(st.binary(max_size=3))
        if draw(st.integers(0, 5)) == 0:
            entry.counter_data.CopyFrom(self.counter(draw))
        if draw(st.integers(0, 5)) == 0:
            entry.meter_config.CopyFrom(self.meter(draw))
        if draw(st.integers(0, 5)) == 0:
            entry.idle_timeout_ns = draw(st.sampled_from([1, 10**12, -1]))
        return entry

    def indirect_action(self, draw: Draw, action: p4r.TableAction, refs: list[int]) -> None:
        match draw(st.sampled_from(["member", "group", "one-shot"])):
            case "member":
                action.action_profile_member_id = draw(st.integers(0, 3))
            case "group":
                action.action_profile_group_id = draw(st.integers(0, 3))
            case _:
                for _ in range(draw(st.integers(0, 3))):
                    weight = draw(st.sampled_from([1, 2, 17, 0, -1]))
                    action.action_profile_action_set.action_profile_actions.add(
                        action=self.action(draw, refs), weight=weight
                    )

    def member(self, draw: Draw) -> p4r.ActionProfileMember:
        profile = draw(st.sampled_from(list(self.info.action_profiles)))
        table = next(t for t in self.info.tables if t.preamble.id in profile.table_ids)
        return p4r.ActionProfileMember(
            action_profile_id=profile.preamble.id,
            member_id=draw(st.integers(0, 3)),
            action=self.action(draw, [ref.id for ref in table.action_refs]),
        )

    def group(self, draw: Draw) -> p4r.ActionProfileGroup:
        profile = draw(st.sampled_from(list(self.info.action_profiles)))
        group = p4r.ActionProfileGroup(
            action_profile_id=profile.preamble.id, group_id=draw(st.integers(0, 3))
        )
        for _ in range(draw(st.integers(0, 3))):
            group.members.add(member_id=draw(st.integers(1, 3)), weight=draw(st.sampled_from([1, 2, 0])))
        return group

    def replication(self, draw: Draw) -> p4r.PacketReplicationEngineEntry:
        replicas = [
            p4r.Replica(port=self.value(draw, 9), instance=draw(st.sampled_from([0, 1, 65_536])))
            for _ in range(draw(st.integers(0, 3)))
        ]
        number = draw(st.sampled_from([1, 2, 0, 40_000]))
        if draw(st.booleans()):
            group = p4r.MulticastGroupEntry(multicast_group_id=number, replicas=replicas)
            return p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
        session = p4r.CloneSessionEntry(
            session_id=number,
            replicas=replicas,
            class_of_service=draw(st.sampled_from([0, 0, 1, 8])),
            packet_length_bytes=draw(st.sampled_from([0, 64, -1])),
        )
        return p4r.PacketReplicationEngineEntry(clone_session_entry=session)

    def array(self, draw: Draw) -> Any:
        """A cell of a counter, meter or register, a value set or a digest."""
        kinds = [
            k for k in ("counters", "meters", "registers", "value_sets", "digests") if getattr(self.info, k)
        ]
        kind = draw(st.sampled_from(kinds))
        item = draw(st.sampled_from(list(getattr(self.info, kind))))
        number, index = item.preamble.id, self.index(draw)
        match kind:
            case "counters":
                return p4r.CounterEntry(counter_id=number, index=index, data=self.counter(draw))
            case "meters":
                config = self.meter(draw) if draw(st.booleans()) else None
                return p4r.MeterEntry(meter_id=number, index=index, config=config)
            case "registers":
                data = p4d.P4Data(bitstring=self.value(draw, 16))
                return p4r.RegisterEntry(register_id=number, index=index, data=data)
            case "value_sets":
                entry = p4r.ValueSetEntry(value_set_id=number)
                for _ in range(draw(st.integers(0, 5))):
                    entry.members.add(match=[self.match(draw, field) for field in item.match])
                return entry
        timeout = st.sampled_from([0, 10**15, -1])
        config = p4r.DigestEntry.Config(max_timeout_ns=draw(timeout), ack_timeout_ns=draw(timeout))
        return p4r.DigestEntry(digest_id=number, config=config)

    def direct(self, draw: Draw) -> Any:
        entry = self.table_entry(draw)
        if draw(st.booleans()):
            return p4r.DirectCounterEntry(table_entry=entry, data=self.counter(draw))
        return p4r.DirectMeterEntry(table_entry=entry, config=self.meter(draw))

    def entity(self, draw: Draw) -> Any:
        makers = [self.table_entry] * 4 + [self.replication, self.array, self.array, self.direct]
        if self.info.action_profiles:
            makers += [self.member, self.member, self.group]
        return draw(st.sampled_from(makers))(draw)


@st.composite
def batches(draw: Draw, program: str) -> list[tuple[int, Any]]:
    """Updates over a P4Info; an entity often comes again, as what it would modify or delete."""
    maker = Maker(p4info(program))
    updates: list[tuple[int, Any]] = []
    for _ in range(draw(st.integers(1, 12))):
        if updates and draw(st.integers(0, 2)) == 0:
            entity = draw(st.sampled_from(updates))[1]
        else:
            entity = maker.entity(draw)
        updates.append((draw(st.sampled_from([1, 1, 2, 2, 3])), entity))
    return updates


def state(client: Client) -> list[bytes]:
    """Everything that can be read, to the byte."""
    resources = {"counter_data": p4r.CounterData(), "meter_config": p4r.MeterConfig()}
    found = client.read(
        p4r.TableEntry(**resources),
        p4r.TableEntry(is_default_action=True, **resources),
        p4r.ActionProfileMember(),
        p4r.ActionProfileGroup(),
        p4r.CounterEntry(),
        p4r.MeterEntry(),
        p4r.DirectMeterEntry(),
        p4r.RegisterEntry(),
        p4r.ValueSetEntry(),
        p4r.DigestEntry(),
        p4r.PacketReplicationEngineEntry(),
    )
    return [entity.SerializeToString(deterministic=True) for entity in found]


@pytest.fixture(scope="module", params=PROGRAMS)
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, Switch, Client]]:
    """A switch that goes through all examples of a test, and is never put back by anything but its
    clients."""
    switch = Switch(Program(program_json(request.param)))
    with serve(switch, p4info=p4info(request.param)) as server:
        client = Client(server.address, stream_timeout_s=3600)
        client.arbitrate()
        yield request.param, switch, client
        client.close()


def check(failed: Failed) -> None:
    """A refusal that says what is wrong with each update."""
    assert failed.code == rpc_code.UNKNOWN and failed.updates, failed
    assert not _BUGS & set(codes(failed)), failed.updates
    assert all(message for code, message in failed.updates if code != rpc_code.OK), failed.updates


_SETTINGS = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)


@pytest.mark.system
@_SETTINGS
@given(data=st.data())
def test_random_batches_are_accepted_or_refused_update_by_update(
    served: tuple[str, Switch, Client], data: st.DataObject
) -> None:
    program, switch, client = served
    updates = data.draw(batches(program))
    try:
        client.write(*updates)
    except Failed as failed:
        check(failed)
    for table in p4info(program).tables:
        there = client.read(p4r.TableEntry(table_id=table.preamble.id))
        assert len(there) == len(switch.mt_get_entries(table.preamble.name)), table.preamble.name


@pytest.mark.slow
@_SETTINGS
@given(data=st.data())
def test_a_random_batch_that_is_taken_back_leaves_the_state_as_it_was_to_the_byte(
    served: tuple[str, Switch, Client], data: st.DataObject
) -> None:
    """What is refused is taken out, until only the last update, which nobody can accept, takes all others
    back."""
    program, _, client = served
    updates = data.draw(batches(program))
    atomicity = data.draw(st.sampled_from([1, 2]))
    before = state(client)
    while True:
        failed = client.refused(*updates, (1, p4r.Entity()), atomicity=atomicity)
        check(failed)
        assert state(client) == before
        (refused,) = (at for at, code in enumerate(codes(failed)) if code != rpc_code.ABORTED)
        if refused == len(updates):
            break
        del updates[refused]
    client.write(*updates, atomicity=atomicity)


@pytest.mark.slow
@_SETTINGS
@given(data=st.data())
def test_random_reads_are_answered_or_refused(
    served: tuple[str, Switch, Client], data: st.DataObject
) -> None:
    program, _, client = served
    maker = Maker(p4info(program))
    requests = [data.draw(st.composite(maker.entity)()) for _ in range(data.draw(st.integers(1, 4)))]
    failed = client.read_some(*requests)[1]
    if failed is not None:
        check(failed)
