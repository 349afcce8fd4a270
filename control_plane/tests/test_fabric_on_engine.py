"""The controller with the engine's P4Runtime server: entries, undo, and counts of real packets."""

import other_program
import pytest
from carried_frames import frame_of
from eeon_control import config, fabric, plan, program
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.errors import ApplyError
from eeon_control.fabric import difference, sync
from eeon_control.routing import Flow
from engine_switches import TICK_PS, serving
from programs import without_table
from scenarios import tell_verbs

pytestmark = pytest.mark.system

engine = pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")


def data_frame(fabric4) -> bytes:
    """Returns a TCP segment of h1 to h3 with 100 bytes of payload."""
    return frame_of(fabric4.hosts["h1"], fabric4.hosts["h3"], Flow(6, 1, 2), 4, payload=100)


@pytest.fixture
def served(fabric4):
    with serving(fabric4) as both:
        yield both


@pytest.fixture
def switches(served):
    return served[0]


@pytest.fixture
def targets(served):
    return served[1]


@pytest.mark.parametrize("queues", ["drop_tail", "red_ect", "red_ack_syn", "mark_threshold"])
@pytest.mark.parametrize("eee", ["eee_off", "eee_standard", "eee_120us100"])
def test_example_goes_in_and_reads_back(fabric4, targets, queues, eee):
    wanted = config.load(queues, eee)
    assert not fabric.apply_sync(fabric4, wanted, targets, TICK_PS).plan.is_empty
    assert fabric.plan_sync(fabric4, wanted, targets, TICK_PS).is_empty


def test_change_without_ecmp_shrinks_the_groups_and_back(fabric4, targets):
    with_ecmp = config.load("drop_tail")
    without = config.overridden(with_ecmp, {"routing.ecmp": False})
    for wanted in (with_ecmp, without, with_ecmp):
        fabric.apply_sync(fabric4, wanted, targets, TICK_PS)
        assert fabric.plan_sync(fabric4, wanted, targets, TICK_PS).is_empty


def test_packets_are_counted_by_class_and_verdict_and_eee_registers_tell_of_the_wake(
    fabric4, switches, targets
):
    fabric.apply_sync(fabric4, config.load("mark_threshold", "eee_standard"), targets, TICK_PS)
    leaf = switches["leaf1"]
    frame = data_frame(fabric4)
    start_ps = 10**12
    leaf.inject(1, frame, start_ps)
    sent = leaf.advance_to(start_ps + 10**9)
    [(at_ps, port, _)] = sent
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


def test_program_that_only_adds_a_table_is_loaded_and_entries_and_counts_stay(fabric4, switches, targets):
    wanted = config.load("mark_threshold")
    entries = plan.intended(fabric4, wanted, TICK_PS)

    async def run_an_earlier_program() -> None:
        earlier = without_table(program.load().schema().get_pipeline_config(), "port_pfc")
        for name in fabric4.switches:
            async with other_program.session(fabric4, targets, name) as one:
                await one.push_pipeline(earlier)
                await one.write_changes(difference(await one.read_entries(["port_eee"]), entries[name]))

    sync.run(run_an_earlier_program())
    leaf = switches["leaf1"]
    leaf.inject(1, data_frame(fabric4), 10**12)
    assert len(leaf.advance_to(10**12 + 10**9)) == 1
    report = fabric.apply_sync(fabric4, wanted, targets, TICK_PS)
    assert [(one.push_pipeline, one.changes) for one in report.plan.switches.values()] == [(True, ())] * 4
    counters = fabric.read_counters_sync(fabric4, targets)
    assert [one.packets for one in counters.received if one.packets] == [1]
    assert fabric.plan_sync(fabric4, wanted, targets, TICK_PS).is_empty


def test_the_engine_runs_the_program_that_ships():
    assert engine.Program(program.load().json).digest == program.load().digest


def test_a_program_has_a_deadline_of_its_own_to_load(fabric4, targets, monkeypatch):
    monkeypatch.setattr("eeon_control.fabric.session.LOAD_SECONDS", 0.001)
    with pytest.raises(ApplyError, match=r"did not answer the pipeline: no answer within 0\.001 s"):
        fabric.apply_sync(fabric4, config.load("drop_tail"), targets, TICK_PS)


def test_failure_while_loading_the_program_brings_back_the_one_that_ran_before(fabric4, targets, monkeypatch):
    other_program.check_failed_apply_brings_the_other_program_back(fabric4, targets, TICK_PS, monkeypatch)


def test_every_verb_of_eeon_config_in_one_story(fabric4, targets, tmp_path):
    tell_verbs(tmp_path, targets, "1ns")
    held = sync.run(fabric.read_entries(fabric4, targets))["leaf1"]
    # All except the clone session of copies, which only a configuration with QCN has.
    assert {entry.table for entry in held} == set(plan.TABLES) - {CLONE_SESSIONS}
