"""The state folder: permissions, contents, locking."""

import contextlib
import os
import pwd
import re
import tempfile
from pathlib import Path

import click
import pytest
import revisions
from eeon_command import eeon
from eeon_control import config, operations, state, topology
from eeon_control.cli import options
from eeon_control.cli.config import waiting
from eeon_control.doctor import Level
from eeon_control.doctor.machine import state_folder
from eeon_control.errors import StateError
from eeon_control.fabric.undo import Snapshot
from eeon_control.plan import intended
from eeon_control.state import clock, folder
from eeon_control.state.folder import make
from eeon_control.state.lock import is_locked
from finsy.proto import p4r
from revisions import commit, meant

TARGETS = {"leaf1": "127.0.0.1:1", "leaf2": "127.0.0.1:2", "spine1": "[::1]:3?device_id=9", "spine2": "x:4"}


def intent(*names: str) -> state.Intent:
    return state.Intent.of(meant(topology.load("leaf-spine-4"), names, TARGETS))


def begin(store, before: dict[str, Snapshot]) -> None:
    """Writes the journal of a first apply, as if it was then killed."""
    with store.lock("eeon config apply") as lock:
        revisions.begin(store, lock, revisions.draft(intent("drop_tail")), before)


@pytest.fixture
def store(tmp_path):
    return state.StateStore.open(tmp_path / "fabric")


@pytest.mark.parametrize("replaced", [False, True], ids=["moved", "replaced"])
def test_wait_for_a_confirmation_in_a_folder_that_goes_away_claims_no_rollback(store, monkeypatch, replaced):
    pending = state.Pending(revision=1, back_to=0, since=clock.now(), seconds=60)
    commit(store, intent("drop_tail"), pending=pending)

    def move(_: float) -> None:
        store.folder.rename(store.folder.with_name("moved"))
        if replaced:
            another = state.StateStore.open(store.folder)
            commit(another, intent("red_ect"))

    monkeypatch.setattr("time.sleep", move)
    with pytest.raises(StateError, match="was moved or replaced while revision 1 waited"):
        waiting.wait(click.Context(click.Command("apply")), store, pending, lambda: None)


def test_folder_and_files_are_for_the_owner_alone(store):
    commit(store, intent("drop_tail"))
    for path in [store.folder, *store.folder.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_who_wants_the_lock_is_told_who_holds_it(store):
    holder = rf"held by `eeon config apply -c mine` of {state.Holder.me('').user}@.*, process {os.getpid()}, since "
    with store.lock("eeon config apply -c mine"), pytest.raises(state.LockHeld, match=holder):
        store.lock("other").__enter__()


def test_second_controller_with_the_same_election_id_is_refused_and_told_of_the_first(store):
    commit(store, intent("drop_tail"))
    with store.controller_lock(10):
        told = eeon("controller", "run", "--state", str(store.folder), code=1).stderr
        assert set(store.controllers()) == {10}
    assert store.controllers() == {}
    assert "a controller with election id 10 already runs on" in told
    assert f"process {os.getpid()}" in told
    assert "start a standby with a smaller --election-id" in told


def test_snapshot_in_the_journal_is_the_one_that_was_written(store):
    fabric = topology.load("leaf-spine-4")
    entries = list(intended(fabric, config.load("red_ack_syn", "eee_120us100"), 1000)["leaf1"])
    pipeline = p4r.ForwardingPipelineConfig(p4_device_config=b"\xff\x00")
    other = Snapshot(False, [], pipeline, [p4r.Entity(table_entry=p4r.TableEntry(table_id=7))], may_keep=True)
    snapshots = {"leaf1": Snapshot(True, entries), "leaf2": Snapshot(False), "spine1": other}
    begin(store, snapshots)
    assert store.journal().before == snapshots
    path = store.folder / "journal.json"
    written = path.read_text()
    for damage in ('"////"', "7"):
        path.write_text(re.sub(r'"entities": \[\s*"[^"]+"', f'"entities": [{damage}', written))
        with pytest.raises(
            StateError,
            match=r"journal\.json: damaged: before\.spine1\.entities\.0: .* not a P4Runtime Entity",
        ):
            store.journal()


def test_files_that_are_removed_as_they_are_read_are_not_there(store, monkeypatch):
    commit(store, intent("drop_tail"))
    begin(store, {"leaf1": Snapshot(False)})
    check = folder.check

    def remove_then_check(path: Path) -> None:
        (store.folder / "journal.json").unlink(missing_ok=True)
        check(path)

    monkeypatch.setattr(folder, "check", remove_then_check)
    (found,) = state_folder(store.folder)
    assert found.level is Level.OK
    begin(store, {"leaf1": Snapshot(False)})
    assert store.journal() is None


def test_place_of_the_folder_follows_option_variable_and_xdg():
    here = {"XDG_STATE_HOME": "/var/x", "HOME": "/home/me"}
    assert str(state.folder_of("a b", environment=here)) == "/var/x/eeon/a%20b"
    assert str(state.folder_of("a", environment={**here, "EEON_STATE": "/s"})) == "/s"
    assert str(state.folder_of("a", "/given", {**here, "EEON_STATE": "/s"})) == "/given"
    assert str(state.folder_of("..", environment=here)) == "/var/x/eeon/%2E."


@contextlib.contextmanager
def nobody():
    """Makes the process another user in its context."""
    if os.geteuid():
        pytest.skip("only root can become another user")
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_folder_in_which_this_user_may_not_look_is_named_with_the_way_out(store):
    path = store.folder / "controllers" / "10"
    path.touch()
    fabric = options.Fabric("leaf-spine-4", store.folder / "another")
    assert fabric.topology  # read before the process is somebody who may not read the files of this package
    with nobody():
        with pytest.raises(StateError, match="another: Permission denied; run as the owner"):
            _ = fabric.targets
        with pytest.raises(StateError, match="another: cannot be written: Permission denied"):
            operations.SavedPlan.model_construct(intent=None, switches={}).save(store.folder / "another")
        with pytest.raises(StateError, match=rf"{store.folder}: Permission denied; run as the owner"):
            state.StateStore.open(store.folder, create=False)
        for said, read in {
            "current: Permission denied; run as the owner": store.current,
            "journal.json: Permission denied; run as the owner": store.has_journal,
            "controllers: cannot be read: Permission denied": store.controllers,
            "revisions: cannot be created: Permission denied": lambda: make(store.folder / "revisions"),
        }.items():
            with pytest.raises(StateError, match=f"{store.folder}/{said}"):
                read()
        (found,) = state_folder(store.folder / "another")
        assert "another: Permission denied; run as the owner" in found.found
        with pytest.raises(StateError, match=rf"{path}: cannot be opened: Permission denied"):
            is_locked(path)


def test_folder_of_another_user_is_no_fabric_to_choose_from():
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        for name in ("mine", "others"):
            place = Path(home) / "eeon" / name
            place.mkdir(parents=True)
            (place / "current").write_text("1")
        os.chmod(place, 0o700)
        with nobody():
            assert [one.name for one in state.known_fabrics({"XDG_STATE_HOME": home})] == ["mine"]


@pytest.mark.parametrize(
    ("closed", "says"), [("eeon", "give a folder with --state"), (".", "run as the owner of its folder")]
)
def test_folder_of_fabrics_that_this_user_may_not_list_is_named(closed, says):
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "eeon").mkdir()
        os.chmod(home, 0o755)
        os.chmod(Path(home) / closed, 0o700)
        with nobody(), pytest.raises(StateError, match=rf"{home}/eeon: Permission denied; {says}"):
            state.known_fabrics({"XDG_STATE_HOME": home})


def test_user_without_a_home_is_told_which_variable_to_set(monkeypatch):
    def unknown(*_):
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(StateError, match="no home folder; set HOME or XDG_STATE_HOME"):
        state.folder_of("f", environment={})
    with pytest.raises(StateError, match="~nobody-here/x: no home folder is known"):
        state.folder_of("f", "~nobody-here/x")


def test_plan_replaces_no_device(tmp_path):
    device = tmp_path / "device"
    os.mkfifo(device)
    plan = operations.SavedPlan.model_construct(intent=None, switches={})
    with pytest.raises(StateError, match=rf"{device}: is not a regular file"):
        plan.save(device)
    assert device.is_fifo()


def test_plan_is_written_to_the_file_that_a_link_names_and_leaves_nothing_else(tmp_path, monkeypatch):
    plan = operations.SavedPlan.model_construct(intent=None, switches={})
    link, file = tmp_path / "latest", tmp_path / "new.plan"
    link.symlink_to(file.name)
    plan.save(link)
    assert link.is_symlink() and file.is_file()

    def full(handle, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(StateError, match=rf"{link}: cannot be written: No space left on device"):
            plan.save(link)
    assert set(tmp_path.iterdir()) == {link, file}
