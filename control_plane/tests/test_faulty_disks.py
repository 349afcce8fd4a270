"""A state folder on a full or read-only disk, at every moment: real file systems, mounted as root."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from eeon_command import eeon
from eeon_control import state
from eeon_control.errors import EeonError

pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")

from controller_process import ControllerProcess
from eeon_control.fabric.progress import Step, nobody
from fault_fabric import NEW, OLD, at

pytestmark = pytest.mark.system

PAGE = 4096


@pytest.fixture
def disk(tmp_path):
    """Yields a tmpfs of 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ("mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "none", place), capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted: {mounted.stderr.strip()}")
    yield place
    subprocess.run(("umount", "-l", place), check=True)


@pytest.fixture
def store(faulty, disk, monkeypatch):
    """Returns the fabric; every switch holds OLD, which is revision 1."""
    monkeypatch.setenv("EEON_STATE", str(disk / "state"))
    faulty.heal()
    store = state.StateStore.open(disk / "state")
    faulty.apply(store, OLD)
    return store


def fill(disk: Path, pages: int) -> Path:
    """Fills the disk up to that number of free pages."""
    filling = disk / "filling"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
    with filling.open("wb") as file:
        file.write(b"\0" * max(0, free - pages * PAGE))
    return filling


@pytest.mark.parametrize(
    ("moment", "files"),
    [(None, {"journal.json"}), (Step.JOURNALED, {"2.json", "current"})],
    ids=["from the start", "once the journal is written"],
)
def test_disk_that_is_full_at_any_moment_of_an_apply_leaves_old_or_new_and_the_next_command_mends(
    faulty, store, disk, moment, files
):
    full = set()
    for pages in range(60):
        if moment is None:
            fill(disk, pages)
        observer = at(moment, "", lambda: fill(disk, pages)) if moment else nobody  # noqa: B023 - called in this turn
        before = store.current_number()
        try:
            faulty.apply(store, NEW, observer)
        except EeonError as error:
            [where] = re.findall(r"(\S+): cannot be written: No space left on device", str(error))
            full.add(Path(where).name)
            assert faulty.holds(OLD), f"{pages} pages"
            assert store.current_number() == before
        (disk / "filling").unlink()
        faulty.settle(store)
        assert store.journal() is None
        applied = store.current_number() > before
        assert faulty.holds(NEW if applied else OLD)
        if applied:
            break
    assert applied and full & files, full


def test_read_only_state_folder_can_be_looked_at_and_changes_nothing(faulty, store, disk, tmp_path):
    subprocess.run(("mount", "-o", "remount,ro", disk), check=True)
    with faulty.command(tmp_path, "-q", stderr=subprocess.STDOUT) as command:
        said = command.stdout.read()
    assert command.returncode == 1
    assert "Read-only file system" in said and "Traceback" not in said, said
    assert faulty.holds(OLD)
    for verb in ("history", "drift", "show"):
        eeon("config", verb, code=0)


def test_controller_on_a_read_only_state_folder_ends_and_says_why(faulty, store, disk):
    subprocess.run(("mount", "-o", "remount,ro", disk), check=True)
    result = eeon("controller", "run", code=1)
    assert "Read-only file system" in result.stderr


def test_controller_whose_disk_fills_keeps_the_switches_and_says_so(faulty, store, disk):
    with ControllerProcess(store.folder) as controller:
        controller.wait_for_all("in_sync", list(faulty.switches))
        fill(disk, 0)
        leaf2 = faulty.switches["leaf2"]
        leaf2.kill()
        controller.wait_for("disconnected", switch="leaf2")
        leaf2.restart()
        controller.wait_for("restored", switch="leaf2")
        assert faulty.holds(OLD)
