"""Faults during the configuration of a fabric: afterwards, it holds all of the old or all of the new state.

Real engine switches with real P4Runtime servers, in processes that are killed. After every fault, the
switches are read without the controller's code, and the message must name the resulting configuration.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from eeon_command import eeon
from eeon_control import operations, state
from eeon_control.election import LARGEST
from eeon_control.errors import ApplyError, FabricError, NothingWritten, Stopped
from eeon_control.fabric import Step, sync, undo
from eeon_control.fabric import session as sessions

pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")

from fault_fabric import NEW, OLD, TOPOLOGY, FaultyFabric, at, entries_of, next_id, primacy, write_as
from revisions import done

from ptf_tests.lib.p4rt_session import Failed

pytestmark = pytest.mark.system

SWITCHES = list(TOPOLOGY.switches)  # leaf1, leaf2, spine1
UPDATES_OF_LEAF = 6  # from OLD to NEW: AQM and EEE of three ports


@pytest.fixture
def store(faulty, state_folder):
    """Returns the store; every switch is up and holds OLD, which is revision 1."""
    faulty.heal()
    store = state.StateStore.open(state_folder)
    faulty.apply(store, OLD)
    yield store
    faulty.heal()


def read_until(stream: IO[str], text: str) -> None:
    while text not in (line := stream.readline()):
        assert line, "the command ended"


# -- a switch is killed before, during and after each step of an apply ----------------------------------------


@pytest.mark.parametrize(
    ("step", "switch"),
    [
        (Step.READ, "leaf2"),
        (Step.JOURNALED, ""),
        (Step.WRITING, "leaf2"),
        (Step.WRITTEN, "leaf2"),
        (Step.WRITTEN, "spine1"),
    ],
)
def test_switch_killed_at_a_step_undoes_the_others_at_once_and_itself_when_it_is_back(
    faulty, store, step, switch
):
    with pytest.raises(ApplyError) as error:
        faulty.apply(store, NEW, at(step, switch, faulty.switches["leaf2"].kill))
    assert set(error.value.not_undone) == {"leaf2"}
    assert set(error.value.undone) == {"leaf1", "spine1"}
    assert re.search(
        r"the fabric is NOT as before.*leaf2 .*UNAVAILABLE.*as before, read back: ", str(error.value), re.S
    )
    assert "`eeon config recover`" in str(error.value)
    if (step, switch) == (Step.WRITTEN, "leaf2"):
        assert "at last contact it held the new configuration" in error.value.not_undone["leaf2"]
    for name in ("leaf1", "spine1"):
        assert entries_of(faulty.switches[name]) == faulty.images[OLD][name]
    # It restarts empty: the journal has its earlier state.
    faulty.switches["leaf2"].restart()
    [said] = faulty.settle(store)
    assert "every switch is as it was before; revision 1 is in force" in said
    assert faulty.holds(OLD)
    assert store.journal() is None


@pytest.mark.parametrize("number", [1, 3, UPDATES_OF_LEAF])
def test_switch_that_dies_at_an_update_undoes_the_others_and_is_brought_back(faulty, store, number):
    faulty.switches["leaf1"].dies_at_update(number)
    with pytest.raises(ApplyError, match=r"leaf1 .*it may hold part of the new configuration") as error:
        faulty.apply(store, NEW)
    assert re.match(r"leaf1 .*: did not answer a write: .*\(UNAVAILABLE\)", error.value.failures["leaf1"])
    assert set(error.value.undone) == {"leaf2", "spine1"}
    assert faulty.heals_to(OLD, store)


def test_switch_that_restarts_at_once_is_undone_in_the_same_apply(faulty, store):
    restart = faulty.switches["leaf2"].restart
    with pytest.raises(ApplyError, match="every switch is as it was before") as error:
        faulty.apply(store, NEW, at(Step.WRITING, "leaf2", restart))
    assert not error.value.not_undone
    assert faulty.holds(OLD)
    assert store.journal() is None


def test_first_switch_killed_while_the_program_is_loaded_leaves_the_others_without_entries(
    faulty, state_folder
):
    for one in faulty.switches.values():
        one.kill()
    faulty.heal()
    first = state.StateStore.open(state_folder / "first")
    with pytest.raises(
        ApplyError, match=r"leaf1 had no program before.*forwards nothing, as before"
    ) as error:
        faulty.apply(first, OLD, at(Step.LOADED, "leaf2", faulty.switches["leaf2"].kill))
    assert set(error.value.not_undone) == {"leaf2"}
    assert "at last contact it had just loaded the program" in error.value.not_undone["leaf2"]
    faulty.heal()
    [said] = faulty.settle(first)
    assert "no revision is in force yet" in said
    assert faulty.apply(first, OLD).revision.number == 1
    assert faulty.holds(OLD)


def test_switch_killed_while_the_others_are_undone_keeps_the_journal_until_it_is_back(faulty, store):
    faulty.switches["spine1"].refuses_update(1)
    with pytest.raises(ApplyError, match="the table is full") as error:
        faulty.apply(store, NEW, at(Step.UNDOING, "leaf2", faulty.switches["leaf2"].kill))
    assert set(error.value.undone) == {"leaf1", "spine1"}
    with pytest.raises(
        FabricError, match=r"is not undone on:\n  leaf2 .*\nas before, read back: leaf1, spine1"
    ):
        faulty.settle(store)
    with pytest.raises(FabricError, match="eeon config recover"):
        faulty.apply(store, NEW)  # the unfinished apply must be finished first
    assert faulty.heals_to(OLD, store)


# -- a switch refuses one update of many ------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "number"), [("leaf1", 1), ("spine1", 3)])
def test_switch_that_refuses_one_update_leaves_all_as_they_were_and_is_named(faulty, store, name, number):
    faulty.switches[name].refuses_update(number)
    with pytest.raises(ApplyError) as error:
        faulty.apply(store, NEW)
    assert faulty.holds(OLD)
    assert list(error.value.failures) == [name]
    assert re.search(
        rf"{name} .*refused a write: modify port_\w+ port=\d: the table is full", str(error.value)
    )
    assert "every switch is as it was before" in str(error.value)
    assert store.journal() is None and store.current_number() == 1


def test_switch_that_notices_late_that_a_session_has_ended_is_undone_over_a_new_one(
    faulty, store, monkeypatch
):
    """The stream of the session that failed stays primary for as long as the undo takes."""
    really_close, kept = sessions.P4RuntimeSession.close, []

    async def close(session):
        if session.name == "leaf1" and not kept:
            kept.append(session)
        else:
            await really_close(session)

    monkeypatch.setattr(sessions.P4RuntimeSession, "close", close)
    # Four of its six updates, and the two that undo the others.
    faulty.switches["leaf1"].refuses_update(3, times=6)
    with pytest.raises(ApplyError, match="every switch is as it was before"):
        faulty.apply(store, NEW)
    assert kept and faulty.holds(OLD)


# -- the controller is killed ---------------------------------------------------------------------------------


def test_controller_killed_at_any_disk_operation_leads_to_old_or_new_and_says_which(faulty, store):
    holds, ends = OLD, []
    for number in range(1, 100):
        before, other = store.current_number(), NEW if holds is OLD else OLD
        code = faulty.killed_controller(store, "disk", number, names=other)
        said = " ".join(faulty.settle(store))
        after = store.current_number()
        holds = other if after > before else holds
        assert faulty.holds(holds)
        assert f"revision {after} is in force" in said or not said
        ends.append("forward" if after > before else "back")
        if code == 0:
            break
    # Up to the renaming of the journal, nothing was written. From the next disk operation on, the syncing of
    # its folder, the journal is found. Further operations follow the last write to a switch.
    assert ends == ["back", "back", "back", *["forward"] * 9]


# -- two controllers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("above_ours", [0, 1])
def test_controller_of_another_machine_is_in_the_way_and_named_by_its_id(faulty, store, above_ours):
    theirs = next_id()
    says = pytest.raises(FabricError, match=rf"leaf2 .*election id {theirs}\b.*takes the switches back")
    with primacy(faulty.switches["leaf2"], theirs), says:
        faulty.apply(store, NEW, election_id=theirs - above_ours)
    assert faulty.holds(OLD)
    assert store.journal() is None


def test_controller_that_takes_over_in_the_middle_leaves_the_fabric_as_it_was(faulty, store):
    """A larger election id appears between the journal and the first write: leaf2 refuses our writes."""
    theirs = next_id()
    with contextlib.ExitStack() as stack:
        takes_over = at(
            Step.JOURNALED, "", lambda: stack.enter_context(primacy(faulty.switches["leaf2"], theirs))
        )
        with pytest.raises(ApplyError, match=rf"is not the primary.*election id {theirs} is") as error:
            faulty.apply(store, NEW, takes_over)
    assert "every switch is as it was before" in str(error.value)
    assert faulty.holds(OLD)


def test_controller_that_takes_over_after_the_write_is_named_and_undone_when_it_has_gone(faulty, store):
    theirs = next_id()
    faulty.switches["spine1"].refuses_update(1)
    with contextlib.ExitStack() as stack:
        takes_over = at(
            Step.UNDOING, "leaf2", lambda: stack.enter_context(primacy(faulty.switches["leaf2"], theirs))
        )
        with pytest.raises(ApplyError, match=rf"leaf2 .*election id {theirs}") as error:
            faulty.apply(store, NEW, takes_over)
        assert set(error.value.not_undone) == {"leaf2"}
    faulty.settle(store)
    assert faulty.holds(OLD)


def test_apply_beside_the_controller_of_the_same_folder_takes_one_id_above_it(faulty, store):
    ours = next_id()
    with primacy(faulty.switches["leaf2"], ours), store.controller_lock(ours):
        faulty.apply(store, NEW)
    assert faulty.holds(NEW)


def test_client_that_bid_the_largest_id_and_left_stops_no_apply_and_no_undoing(faulty, store):
    leaf2 = faulty.switches["leaf2"]
    try:
        with primacy(leaf2, LARGEST):
            pass
        faulty.apply(store, NEW)
        assert faulty.holds(NEW)
        faulty.switches["spine1"].refuses_update(1)
        with pytest.raises(ApplyError, match="every switch is as it was before"):
            faulty.apply(store, OLD)
        assert faulty.holds(NEW)
    finally:
        leaf2.kill()  # it no longer accepts smaller ids


def test_client_that_keeps_the_largest_id_stops_an_apply_which_names_no_larger_one(faulty, store):
    leaf2 = faulty.switches["leaf2"]
    try:
        says = pytest.raises(
            FabricError, match=r"leaf2 .*455 \(the largest possible\).*end that client, or restart"
        )
        with primacy(leaf2, LARGEST), says as error:
            faulty.apply(store, NEW)
        assert "--election-id" not in str(error.value)
        assert faulty.holds(OLD)
    finally:
        leaf2.kill()


def test_write_of_a_dead_controller_that_arrives_during_or_after_the_recovery_is_refused(
    faulty, store, monkeypatch
):
    """A request may be in flight for long. The recovery uses an election id that the request cannot have."""
    assert faulty.killed_controller(store, "journaled", 1) == -9
    really_restore, arrived = undo.restore, []

    def arrives() -> None:
        with pytest.raises(Failed, match="is not the primary"):
            write_as(faulty.switches["leaf2"], 10)

    async def restore(session, snapshot):
        if session.name == "leaf2":
            arrived.append(arrives())
        return await really_restore(session, snapshot)

    monkeypatch.setattr(undo, "restore", restore)
    faulty.settle(store)
    assert len(arrived) == 1
    arrives()
    assert faulty.holds(OLD)


# -- a switch hangs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, UPDATES_OF_LEAF])
def test_switch_that_does_not_answer_in_time_is_undone_when_it_has_accepted_the_writes_after_all(
    faulty, store, answers_within, number
):
    """The same as in a network that loses its answers, or parts."""
    answers_within(3.0)
    leaf2 = faulty.switches["leaf2"]
    leaf2.hangs_at_update(number)
    with pytest.raises(ApplyError, match=r"NOT as before[^\n]*\n  leaf2") as error:
        faulty.apply(store, NEW)
    assert set(error.value.undone) == {"leaf1", "spine1"}
    leaf2.continues()
    faulty.settle(store)
    assert faulty.holds(OLD)


# -- a confirmation that does not come ----------------------------------------------------------------------------


def test_killed_apply_that_asked_for_a_confirmation_goes_back(faulty, store):
    """Everything was written, but an apply without a visible end cannot be confirmed."""
    assert faulty.killed_controller(store, "written", 3, confirm_seconds=600) == -9
    faulty.settle(store)
    assert faulty.holds(OLD)


@pytest.mark.usefixtures("hears_hangup")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_command_that_waits_for_a_confirmation_goes_back_at_once_when_it_is_stopped(
    faulty, store, tmp_path, number
):
    with faulty.command(tmp_path, "--confirm", "1h", stderr=subprocess.PIPE) as waiting:
        read_until(waiting.stdout, "it goes back to revision 1 in 60 min")
        read_until(waiting.stderr, "leaf1: read back")
        assert faulty.holds(NEW)
        waiting.send_signal(number)
        read_until(waiting.stderr, "leaf1: written")
        waiting.send_signal(number)  # as a closed terminal and an impatient user do
        rest = waiting.stdout.read()
    assert waiting.returncode == 130
    assert "this is revision 3" in rest
    assert faulty.holds(OLD) and store.pending() is None


def test_apply_with_targets_of_another_fabric_leaves_no_fabric_to_choose_from(
    faulty, store, tmp_path, monkeypatch
):
    monkeypatch.delenv("EEON_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    asked = eeon("config", "history", code=1).stderr
    assert "which fabric? give -t or --state (nothing was applied yet)" in asked
    first = state.StateStore.open(state.folder_of(TOPOLOGY.name))
    faulty.apply(first, OLD)
    (tmp_path / "targets.yaml").write_text("tick: 1ns\nswitches: {leaf1: 127.0.0.1:1}\n")
    place = ["-t", "leaf-spine-4", "-T", str(tmp_path / "targets.yaml"), "-c", "drop_tail"]
    failed = eeon("config", "apply", *place, code=1)
    assert not state.folder_of("leaf-spine-4").exists(), failed.output
    # A first apply with unreachable switches leaves an empty folder.
    (tmp_path / "targets.yaml").write_text(
        "tick: 1ns\nswitches: {leaf1: 127.0.0.1:1, leaf2: 127.0.0.1:1, spine1: 127.0.0.1:1, spine2: 127.0.0.1:1}\n"
    )
    failed = eeon("config", "apply", *place, code=1)
    assert state.folder_of("leaf-spine-4").is_dir(), failed.output
    eeon("config", "history", code=0)


# -- Ctrl-C -----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def stopped_while_leaf2_hangs(faulty: FaultyFabric, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Yields an apply that has written to spine1 and got Ctrl-C. Kills leaf2 in the end."""
    leaf2 = faulty.switches["leaf2"]
    leaf2.hangs_at_update(3)
    try:
        with faulty.command(folder, stderr=subprocess.STDOUT) as command:
            read_until(command.stdout, "spine1: written")
            leaf2.wait_until_it_hangs()
            command.send_signal(signal.SIGINT)
            yield command
    finally:
        leaf2.kill()


def test_apply_that_is_stopped_while_a_switch_hangs_says_which_is_not_as_before_and_what_to_do(
    faulty, store, tmp_path
):
    with stopped_while_leaf2_hangs(faulty, tmp_path) as command:
        said = command.stdout.read()
    assert command.returncode == 130
    found = re.search(
        r"\nstopped\nthe fabric is NOT as before; the change could not be undone on:\n  leaf2 .*\n"
        r"as before, read back: leaf1, spine1\nthe journal in \S+ is kept: `eeon config recover`",
        said,
    )
    assert found and "Traceback" not in said, said
    assert store.journal() is not None
    assert faulty.heals_to(OLD, store)


def test_apply_that_is_stopped_twice_says_that_switches_may_hold_a_mix(faulty, store, tmp_path):
    with stopped_while_leaf2_hangs(faulty, tmp_path) as command:
        read_until(command.stdout, "leaf1: as before")
        command.send_signal(signal.SIGINT)
        said = command.stdout.read()
    assert command.returncode == 130
    assert f"The journal in {store.folder} is kept: `eeon config recover` restores them" in said, said
    assert faulty.heals_to(OLD, store)


@pytest.mark.parametrize("commits", [True, False])
def test_command_that_is_stopped_says_which_revision_is_in_force_if_it_changed_that(
    store, monkeypatch, commits
):
    def stopped(work, *_, **__):
        if commits:
            pending = state.Pending(revision=2, back_to=1, since=state.clock.now(), seconds=600)
            work.store.commit(work.lock, work.draft(work.store.intended(), "apply", ""), pending)
        raise KeyboardInterrupt

    monkeypatch.setattr(operations, "rollback", stopped)
    said = eeon("config", "rollback", "1", "--state", str(store.folder), code=130).stderr.strip()
    in_force = (
        ", but revision 2 was already in force on all switches; without `eeon config confirm`, "
        "revision 1 returns"
    )
    assert said == "stopped" + (in_force if commits else "")


# -- output that nobody reads -----------------------------------------------------------------------------------


def test_apply_whose_messages_nobody_reads_configures_the_fabric(faulty, store, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)  # as after `2>&1 | head -1`
    with faulty.command(tmp_path, stderr=writer) as command:
        os.close(writer)
        try:
            said, _ = command.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            command.kill()
            raise
    assert command.returncode == 0 and "this is revision 2" in said
    assert faulty.holds(NEW) and store.journal() is None


def test_apply_whose_outcome_cannot_be_written_says_so_and_still_waits_for_its_confirmation(
    faulty, store, tmp_path
):
    with (
        Path("/dev/full").open("w") as full,
        faulty.command(tmp_path, "-q", "--confirm", "1s", stdout=full, stderr=subprocess.PIPE) as command,
    ):
        said = command.stderr.read()
    assert command.returncode == 1 and "Traceback" not in said, said
    assert "revision 2 was rolled back; revision 3 is in force" in said
    assert faulty.holds(OLD)


@pytest.mark.parametrize(("closed", "code", "said"), [("/dev/full", 1, "No space left"), (None, 0, "")])
def test_apply_without_a_place_for_its_outcome_ends_without_a_traceback(
    faulty, store, tmp_path, closed, code, said
):
    (tmp_path / "run").write_text('exec "$@" >' + (closed or "&-"))
    words = ["sh", tmp_path / "run", *faulty.words(tmp_path, "-q")]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert (ended.returncode, "Traceback" in ended.stderr) == (code, False), ended.stderr
    assert said in ended.stderr
    assert faulty.holds(NEW)


def test_apply_that_is_stopped_while_it_reads_says_that_nothing_was_written(faulty, store, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        silent.settimeout(60)
        leaf2 = f"127.0.0.1:{silent.getsockname()[1]}"
        with faulty.command(tmp_path, stderr=subprocess.STDOUT, leaf2=leaf2) as command:
            connection, _ = silent.accept()
            command.send_signal(signal.SIGINT)
            said = command.stdout.read()
            connection.close()
    assert command.returncode == 130
    assert said.endswith("stopped\nnothing was written to any switch\n"), said
    assert faulty.holds(OLD) and store.journal() is None


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (NothingWritten("leaf2: no answer"), "leaf2: no answer\nstopped\nnothing was written to any switch"),
        (
            ApplyError({"leaf2": "leaf2 refused"}, ["leaf1"]),
            "stopped\nleaf2 refused\nundone on leaf1: every switch is as it was before",
        ),
    ],
)
def test_apply_that_fails_by_itself_as_it_is_stopped_says_how_it_left_the_switches(failure, said):
    async def work() -> None:
        """Fails before the cancellation reaches it, like a request that ends at the same moment."""
        signal.raise_signal(signal.SIGINT)
        raise failure

    with pytest.raises(Stopped) as stopped:
        sync.run(work())
    assert str(stopped.value) == said


# -- and a rollback is an apply like any other ----------------------------------------------------------------------


def test_rollback_that_fails_leaves_the_fabric_in_the_newer_configuration(faulty, store):
    faulty.apply(store, NEW)
    faulty.switches["leaf1"].refuses_update(2)
    with pytest.raises(ApplyError, match="as it was before"):
        done(store, operations.rollback)
    assert faulty.holds(NEW) and store.current_number() == 2
    outcome = done(store, operations.rollback)
    assert faulty.holds(OLD)
    assert (outcome.revision.number, outcome.revision.action) == (3, "rollback to 1")
