"""The controller with BMv2's simple_switch_grpc, if installed: entries are written and read back.

No packets are sent here; ptf_tests tests their processing.
"""

import contextlib
import shutil

import pytest
from bmv2_process import start_bmv2
from eeon_control import config, fabric, operations, state
from eeon_control.constants import VERDICTS
from eeon_control.errors import ApplyError, NoRegisters
from eeon_control.fabric import sync
from eeon_control.fabric.undo import Snapshot
from other_program import breaks_once, check_failed_apply_brings_the_other_program_back
from revisions import meant
from scenarios import tell_verbs

BMV2 = shutil.which("simple_switch_grpc")
TICK_PS = 1_000_000
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(BMV2 is None, reason="simple_switch_grpc is not on PATH"),
]


@pytest.fixture(scope="module")
def targets(fabric4, tmp_path_factory):
    """Yields one simple_switch_grpc process per switch, without ports and without a program."""
    with contextlib.ExitStack() as stack:
        folder = tmp_path_factory.mktemp("bmv2")
        yield {
            name: stack.enter_context(start_bmv2(folder, device_id=switch.device_id)).address
            for name, switch in fabric4.switches.items()
        }


RED = ("red_ack_syn",)
THRESHOLD = ("mark_threshold",)


def test_every_verb_of_eeon_config_in_one_story(targets, tmp_path):
    """This must be the first test here: its switches must not have a program yet."""
    tell_verbs(tmp_path, targets, "1us")


def test_change_is_made_in_place_and_back(fabric4, targets):
    fabric.apply_sync(fabric4, config.load(*RED), targets, TICK_PS)
    report = fabric.apply_sync(
        fabric4, config.overridden(config.load(*THRESHOLD), {"routing.ecmp": False}), targets, TICK_PS
    )
    assert not any(one.push_pipeline for one in report.plan.switches.values())
    assert {change.kind.value for change in report.plan.switches["leaf1"].changes} == {"modify"}
    fabric.apply_sync(fabric4, config.load(*RED), targets, TICK_PS)
    assert fabric.plan_sync(fabric4, config.load(*RED), targets, TICK_PS).is_empty


def test_failure_of_one_switch_leaves_all_as_they_were(fabric4, targets, monkeypatch):
    fabric.apply_sync(fabric4, config.load(*RED), targets, TICK_PS)
    breaks_once("spine1", monkeypatch)
    with pytest.raises(ApplyError) as error:
        fabric.apply_sync(fabric4, config.load(*THRESHOLD), targets, TICK_PS)
    assert list(error.value.failures) == ["spine1"] and not error.value.not_undone
    assert fabric.plan_sync(fabric4, config.load(*RED), targets, TICK_PS).is_empty


def test_counters_read_zero_and_registers_are_said_to_be_missing(fabric4, targets):
    fabric.apply_sync(fabric4, config.load(*RED), targets, TICK_PS)
    counters = fabric.read_counters_sync(fabric4, targets)
    assert len(counters.verdicts) == 12 * 8 * len(VERDICTS) and not any(
        count.packets for count in counters.verdicts
    )
    with pytest.raises(NoRegisters, match="this target serves no registers over P4Runtime"):
        fabric.read_registers_sync(fabric4, targets, ["wakes"])


def test_failure_while_loading_the_program_brings_back_the_one_that_ran_before(fabric4, targets, monkeypatch):
    check_failed_apply_brings_the_other_program_back(fabric4, targets, TICK_PS, monkeypatch)


def test_apply_that_was_killed_is_undone_with_an_election_id_that_nobody_had(fabric4, targets, state_folder):
    """PI accepts a second, larger bid on the same stream."""
    store = state.StateStore.open(state_folder)
    old, new = (meant(fabric4, names, targets, "1us") for names in (RED, THRESHOLD))
    with store.lock("test") as lock:
        work = operations.Work(store, lock)
        sync.run(operations.apply(work, old))
        held = sync.run(fabric.read_entries(fabric4, targets))
        journal = state.Journal(
            revision=2,
            draft=work.draft(new, "apply", ""),
            holder=lock.holder,
            before={name: Snapshot(True, entries) for name, entries in held.items()},
            confirm_seconds=600,
        )
        store.begin(lock, journal)
        fabric.apply_sync(fabric4, config.load(*THRESHOLD), targets, TICK_PS)
        assert sync.run(operations.recover(work)).direction == "back"
        again = sync.run(operations.apply(work, old))
    assert again.report.plan.is_empty and again.revision.number == 1


def test_congestion_points_and_their_clone_session_are_held_and_removed(fabric4, targets):
    """A session must be read back as written, or every plan would write it again."""
    qcn = {
        "classes": {"gold": {"priority": 3, "dscp": [26]}},
        "profiles": {"queue": {"cee": {"buffer": "300KB", "qcn": {"classes": ["gold"]}}}},
        "roles": {"uplink": {"queue": "cee"}},
    }
    plain = config.load("mark_threshold")
    for wanted, sessions in ((config.overridden(plain, qcn), 1), (plain, 0)):
        sync.apply_sync(fabric4, wanted, targets, TICK_PS)
        left = sync.plan_sync(fabric4, wanted, targets, TICK_PS)
        assert [change for one in left.switches.values() for change in one.changes] == []
        held = sync.run(fabric.read_entries(fabric4, targets))["leaf1"]
        assert [entry.table for entry in held].count("clone_session") == sessions
