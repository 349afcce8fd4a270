"""A failed batch leaves no trace: reads over both interfaces, and the next handles, are as on a switch that
never got it."""

import json
import sys
from pathlib import Path
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
from hypothesis import given
from hypothesis import strategies as st
from made_frames import frame
from p4rt_client import INSERT, entity_of, p4info, program_json

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))

from server_fuzz.draws import Draws
from server_fuzz.entities import Maker, Update
from server_fuzz.world import world

PROGRAM = Program(program_json())
SCHEMA = Pipeline.from_config(config_from_files(program_json(), p4info())).schema
ROLLBACK = p4r.WriteRequest.ROLLBACK_ON_ERROR
CONTINUE = p4r.WriteRequest.CONTINUE_ON_ERROR
_BYTES = 512
"""Number of random bytes for a batch. Most batches need fewer choices."""


@st.composite
def batches(draw: st.DrawFn) -> list[Update]:
    """Makes up to 16 updates with entities of the fuzzer, which are often repeated, to be modified or
    deleted."""
    updates: list[Update] = []
    maker = Maker(world("everything"), Draws(draw(st.binary(min_size=_BYTES, max_size=_BYTES))))
    for _ in range(draw(st.integers(1, 16))):
        if updates and draw(st.integers(0, 2)) == 0:
            updates.append((draw(st.sampled_from([1, 1, 2, 2, 3])), draw(st.sampled_from(updates))[1]))
        else:
            updates.append(maker.update())
    return updates


BATCHES = batches()


class Subject:
    """A switch with both interfaces, without sockets."""

    def __init__(self) -> None:
        self.switch = Switch(PROGRAM)
        self.forwarding = Forwarding(self.switch, SCHEMA)
        self.thrift = WholeCalls(Context(self.switch), 0)

    def write(self, updates: list[Update], atomicity: int) -> list[int]:
        batch_ = [p4r.Update(type=kind, entity=entity) for kind, entity in updates]
        results = batch.write(self.switch, self.forwarding, DEFAULT, batch_, atomicity)
        return [rpc_code.OK if error is None else error.code for error in results]

    def seen(self) -> tuple[Any, ...]:
        """Returns all state that either interface can read."""
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
@given(history=BATCHES, attempt=BATCHES, after=BATCHES)
def test_a_batch_that_is_refused_leaves_everything_as_it_was(
    history: list[Update], attempt: list[Update], after: list[Update]
) -> None:
    asked, spared = Subject(), Subject()
    for subject in (asked, spared):
        subject.write(history, CONTINUE)
        subject.switch.inject(1, frame(1))
        subject.switch.advance_to(1_000_000)
    before = asked.seen()
    assert asked.write([*attempt, (INSERT, p4r.Entity())], ROLLBACK)[-1] != rpc_code.OK
    assert asked.seen() == before == spared.seen()
    # Handles, free rows and counts continue in the same way.
    assert asked.write(after, CONTINUE) == spared.write(after, CONTINUE)
    assert asked.seen() == spared.seen()


@pytest.mark.slow
@given(history=BATCHES, attempt=BATCHES)
def test_an_update_that_is_refused_leaves_everything_as_it_was(
    history: list[Update], attempt: list[Update]
) -> None:
    subject = Subject()
    subject.write(history, CONTINUE)
    for update in attempt:
        before = subject.seen()
        if subject.write([update], CONTINUE) != [rpc_code.OK]:
            assert subject.seen() == before
