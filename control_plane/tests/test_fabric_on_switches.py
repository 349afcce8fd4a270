"""The controller with the P4Runtime servers of the engine, and of BMv2's simple_switch_grpc if it is installed: entries
are written and read back, and undone; counts of real packets.

ptf_tests tests the processing of packets.
"""

import other_program
import pytest
from eeon_control import config, fabric, operations, plan, program, state
from eeon_control.constants import VERDICTS
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.errors import ApplyError, NoRegisters
from eeon_control.fabric import sync
from eeon_control.fabric.undo import Snapshot
from eeon_control.routing import Flow
from engine_switches import TICK_PS
from revisions import begin, meant
from scenarios import tell_verbs
from switch_processes import TARGETS, running

from ptf_tests.lib.packets import of_flow

pytestmark = pytest.mark.system

engine = pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")
RED, THRESHOLD = config.load("red_ack_syn"), config.load("mark_threshold")


@pytest.fixture(scope="module", params=list(TARGETS))
def switches(request, fabric4):
    """Yields one process per switch, without a program."""
    with running(request.param, fabric4) as found:
        yield found


@pytest.fixture
def tick_ps(switches) -> int:
    return switches["leaf1"].tick_ps


@pytest.fixture
def targets(switches) -> dict[str, str]:
    return {name: one.address for name, one in switches.items()}


def test_every_verb_of_eeon_config_in_one_story(fabric4, switches, targets, tick_ps, tmp_path):
    """This must be the first test here: its switches must not have a program yet."""
    tell_verbs(tmp_path, targets, f"{tick_ps}ps")
    held = sync.run(fabric.read_entries(fabric4, targets))["leaf1"]
    # All except the clone session of copies, which only a configuration with QCN has.
    assert {entry.table for entry in held} == set(plan.TABLES) - {CLONE_SESSIONS}


@pytest.mark.parametrize("switches", ["bmv2"], indirect=True)
def test_counters_read_zero_and_registers_are_said_to_be_missing(fabric4, targets, tick_ps):
    fabric.apply_sync(fabric4, RED, targets, tick_ps)
    counters = fabric.read_counters_sync(fabric4, targets)
    assert len(counters.verdicts) == 12 * 8 * len(VERDICTS)
    assert not any(count.packets for count in counters.verdicts)
    with pytest.raises(NoRegisters, match="this target serves no registers over P4Runtime"):
        fabric.read_registers_sync(fabric4, targets, ["wakes"])


def test_failure_while_loading_the_program_brings_back_the_one_that_ran_before(
    fabric4, targets, tick_ps, monkeypatch
):
    """The other program has the same P4Info, and its own route (a one-shot set), port entry and default action."""
    sync.run(other_program.run_it(fabric4, targets))
    before = sync.run(other_program.held(fabric4, targets))
    its = (other_program.COOKIE, set(other_program.ENTRIES))
    assert before == dict.fromkeys(fabric4.switches, its)
    other_program.breaks_once("spine1", monkeypatch)
    with pytest.raises(ApplyError) as error:
        fabric.apply_sync(fabric4, config.load("drop_tail"), targets, tick_ps)
    assert list(error.value.failures) == ["spine1"], str(error.value)
    assert not error.value.not_undone, str(error.value)
    assert sync.run(other_program.held(fabric4, targets)) == before


def test_apply_that_was_killed_is_undone_with_an_election_id_that_nobody_had(
    fabric4, targets, tick_ps, state_folder
):
    """PI accepts a second, larger bid on the same stream."""
    store = state.StateStore.open(state_folder)
    old, new = (meant(fabric4, one, targets, f"{tick_ps}ps") for one in (RED, THRESHOLD))
    with store.lock("test") as lock:
        work = operations.Work(store, lock)
        sync.run(operations.apply(work, old))
        held = sync.run(fabric.read_entries(fabric4, targets))
        before = {name: Snapshot(True, entries) for name, entries in held.items()}
        begin(store, lock, work.draft(new, "apply", ""), before, confirm_seconds=600)
        fabric.apply_sync(fabric4, THRESHOLD, targets, tick_ps)
        assert sync.run(operations.recover(work)).direction == "back"
        again = sync.run(operations.apply(work, old))
    assert again.report.plan.is_empty and again.revision.number == 1


# -- engine switches in this process, whose clocks the test advances ------------------------------------------------


def test_packets_are_counted_by_class_and_verdict_and_eee_registers_tell_of_the_wake(fabric4, switches4):
    targets, leaf1 = switches4.targets, switches4.switches["leaf1"].engine
    fabric.apply_sync(fabric4, config.load("mark_threshold", "eee_standard"), targets, TICK_PS)
    frame = of_flow(fabric4.hosts["h1"], fabric4.hosts["h3"], Flow(6, 1, 2), 4, payload=100)
    start_ps = 10**12
    leaf1.inject(1, frame, start_ps)
    [(at_ps, port, _)] = leaf1.advance_to(start_ps + 10**9)
    counters = fabric.read_counters_sync(fabric4, targets)
    assert [
        (one.switch, one.port, one.packet_class, one.packets, one.bytes)
        for one in counters.received
        if one.packets
    ] == [("leaf1", 1, "data", 1, len(frame))]
    assert [
        (one.switch, one.port, one.packet_class, one.verdict, one.packets)
        for one in counters.verdicts
        if one.packets
    ] == [("leaf1", port, "data", "forwarded", 1)]
    assert port in (3, 4)
    registers = fabric.read_registers_sync(fabric4, targets, ["wakes", "lpi_ticks", "occupancy_bytes"])
    values = registers["leaf1", port]
    # The link slept from 2.88us after the start of time, and woke for 4.48us.
    assert (values["wakes"], values["occupancy_bytes"]) == (1, 0)
    assert values["lpi_ticks"] == start_ps // TICK_PS - 2880
    assert at_ps == start_ps + 4_480_000


def test_the_engine_runs_the_program_that_ships():
    assert engine.Program(program.load().json).digest == program.load().digest


def test_a_program_has_a_deadline_of_its_own_to_load(fabric4, switches4, monkeypatch):
    monkeypatch.setattr("eeon_control.fabric.session.LOAD_SECONDS", 0.001)
    with pytest.raises(ApplyError, match=r"did not answer the pipeline: no answer within 0\.001 s"):
        fabric.apply_sync(fabric4, config.load("drop_tail"), switches4.targets, TICK_PS)
