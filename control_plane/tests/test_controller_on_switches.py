"""`eeon controller run` with switches in separate processes, which are killed and restarted."""

import contextlib
import os
import signal
import socket

import pytest
from controller_process import ControllerProcess
from eeon_control import config, fabric, operations, state
from eeon_control.fabric import undo
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.sync import run
from eeon_control.program import load as load_program
from eeon_control.targets import resolve
from revisions import begin, done
from scraping import scrape
from switch_processes import meant_for, running
from waiting import SECONDS, wait_until

pytestmark = pytest.mark.system

ON_BOTH = pytest.mark.parametrize("switches", ["engine", "bmv2"], indirect=True)
RED, THRESHOLD = "red_ack_syn", "mark_threshold"
NAMES = ["leaf1", "leaf2", "spine1", "spine2"]


@pytest.fixture(scope="module")
def switches(request, fabric4):
    """Yields four switches, of the engine unless a test is for both targets."""
    with running(getattr(request, "param", "engine"), fabric4) as found:
        yield found


@pytest.fixture
def store(tmp_path, fabric4, switches):
    """Returns a state folder whose first revision the switches hold."""
    for one in switches.values():
        if one.process is None:
            one.restart()
    found = state.StateStore.open(tmp_path / "state")
    apply(found, fabric4, switches, RED)
    return found


@pytest.fixture
def controllers(store):
    """Yields a function that starts controllers, and kills the remaining ones at the end."""
    with contextlib.ExitStack() as started:
        yield lambda *arguments: started.enter_context(ControllerProcess(store.folder, *arguments))


def apply(store, fabric4, switches, name: str, **options):
    return done(store, operations.apply, meant_for(switches, fabric4, name), **options)


def held(fabric4, switches, name: str) -> bool:
    """Returns whether all switches hold an example configuration, read without the controller."""
    of = {switch: one.address for switch, one in switches.items()}
    return fabric.plan_sync(fabric4, config.load(name), of, switches["leaf1"].tick_ps).is_empty


async def write_behind_its_back(fabric4, switches, name: str) -> None:
    """Deletes the entries of one switch, as another, short-lived primary."""
    target = resolve(fabric4, {switch: one.address for switch, one in switches.items()})[name]
    async with P4RuntimeSession(name, target, load_program().schema(), election_id=1000) as session:
        await session.write_changes(fabric.difference(await session.read_entries(["ipv4_route"]), []))


def test_metrics_of_counters_that_are_zero_are_left_out_if_asked(switches, store, controllers):
    controller = controllers("--metrics-address", "0", "--metrics-nonzero")
    address = str(controller.wait_for("metrics")["address"])
    controller.wait_for_all("in_sync", NAMES)
    samples = scrape(address)
    assert samples["eeon_config_applies_total", "committed"] == 1
    found = {key[0] for key in samples}
    assert "eeon_port_occupancy_bytes" in found and "eeon_port_received_packets_total" not in found


@ON_BOTH
def test_entries_taken_away_behind_its_back_come_again_at_once_because_it_was_demoted(
    fabric4, switches, store, controllers
):
    controller = controllers("--check-interval", "0")
    controller.wait_for_all("in_sync", NAMES)
    run(write_behind_its_back(fabric4, switches, "spine2"))
    controller.wait_for("restored", switch="spine2")
    assert held(fabric4, switches, RED)


@ON_BOTH
def test_apply_beside_a_running_controller_works_and_the_controller_writes_nothing(
    fabric4, switches, store, controllers
):
    controller = controllers()
    controller.wait_for_all("in_sync", NAMES, revision=1)
    assert apply(store, fabric4, switches, THRESHOLD).revision.number == 2
    controller.wait_for_all("in_sync", NAMES, revision=2)
    assert apply(store, fabric4, switches, RED).revision.number == 3
    controller.wait_for_all("in_sync", NAMES, revision=3)
    assert not controller.events("writing") and held(fabric4, switches, RED)


@ON_BOTH
def test_standby_takes_over_from_a_killed_controller_which_is_primary_again_when_it_returns(
    fabric4, switches, store, controllers
):
    first = controllers()
    first.wait_for_all("in_sync", NAMES)
    standby = controllers("--election-id", "5")
    standby.wait_for_all("backup", NAMES)
    first.end(signal.SIGKILL)
    standby.wait_for_all("in_sync", NAMES)
    switches["spine1"].restart()
    standby.wait_for("restored", switch="spine1")
    assert held(fabric4, switches, RED)
    again = controllers()
    again.wait_for_all("in_sync", NAMES)
    standby.wait_for_all("backup", NAMES)
    assert not again.events("writing") and held(fabric4, switches, RED)
    assert standby.end() == 0
    assert [line["switch"] for line in standby.read_rest() if line["event"] == "writing"] == ["spine1"]


def test_killed_apply_that_cannot_be_finished_does_not_keep_the_other_switches_waiting(
    fabric4, switches, store, controllers
):
    kill_apply_half_way(store, fabric4, switches)
    switches["leaf1"].kill()
    switches["spine1"].restart()
    controller = controllers()
    unfinished = controller.wait_for("unfinished")
    assert "leaf1" in str(unfinished["reason"])
    controller.wait_for("restored", switch="spine1")
    switches["leaf1"].restart()
    controller.wait_for("finished")
    wait_until(lambda: held(fabric4, switches, RED), "the old configuration is not back")
    assert not store.has_journal()


def test_switch_that_hangs_is_given_up_and_taken_back_when_it_answers_again(
    fabric4, switches, store, controllers
):
    controller = controllers("--check-interval", "1s")
    controller.wait_for_all("in_sync", NAMES)
    process = switches["spine2"].process.pid
    os.kill(process, signal.SIGSTOP)
    try:
        controller.wait_for("disconnected", switch="spine2")
    finally:
        os.kill(process, signal.SIGCONT)
    controller.wait_for("in_sync", switch="spine2")
    assert held(fabric4, switches, RED)


def test_apply_that_nobody_confirms_is_rolled_back(fabric4, switches, store, controllers):
    controller = controllers("--metrics-address", "0")
    address = str(controller.wait_for("metrics")["address"])
    controller.wait_for_all("in_sync", NAMES)
    apply(store, fabric4, switches, THRESHOLD, confirm_seconds=2.0)
    controller.wait_for_all("in_sync", NAMES, revision=3)
    assert scrape(address)["eeon_config_finished_total", "confirmation", "rolled_back"] == 1
    assert store.revision(3).action.startswith("rollback to 1: revision 2 was not confirmed within 2 s")
    assert held(fabric4, switches, RED)


def test_sigterm_ends_it_cleanly_the_service_manager_is_told_and_the_switches_keep_what_they_hold(
    fabric4, switches, store, controllers, monkeypatch, tmp_path
):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(SECONDS)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        controller = controllers()
        assert systemd.recv(100) == b"READY=1"
        controller.wait_for_all("in_sync", NAMES)
        assert controller.end() == 0
        assert systemd.recv(100) == b"STOPPING=1"
    assert controller.read_rest()[-1]["event"] == "stopped"
    assert held(fabric4, switches, RED)


def test_controller_without_a_revision_waits_for_the_first(tmp_path, fabric4, switches):
    with ControllerProcess(tmp_path / "empty") as controller:
        controller.wait_for("no_revision")
        apply(state.StateStore.open(tmp_path / "empty"), fabric4, switches, RED)
        controller.wait_for_all("in_sync", NAMES, revision=1)


def kill_apply_half_way(store, fabric4, switches) -> None:
    """Leaves the state of an apply that was killed after half of the writes to one switch."""

    async def write_half(work) -> None:
        wanted = meant_for(switches, fabric4, THRESHOLD)
        name = "leaf1"
        target = resolve(fabric4, wanted.targets.switches)[name]
        async with P4RuntimeSession(name, target, load_program().schema(), election_id=work.bid()) as session:
            before = await undo.take_snapshot(session)
            plan = await fabric.plan(fabric4, wanted.config, wanted.targets.switches, wanted.targets.tick)
            begin(work.store, work.lock, work.draft(wanted, "apply", ""), {name: before})
            changes = plan.switches[name].changes
            await session.write_changes(changes[: len(changes) // 2])

    with store.lock("an apply that is killed") as lock:
        run(write_half(operations.Work(store, lock)))
