"""`eeon fabric up` and `down`, killed at any operation: `down` then removes the fabric, and nothing else."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from eeon_control import topology
from eeon_tools.errors import UnavailableError
from eeon_tools.live import network, running, state
from eeon_tools.live.state import Process
from killed_fabrics import killed_down, killed_up, leave_behind
from live_fabrics import NEEDS_FABRIC, remains, until

from control_plane.tests.eeon_command import eeon

pytestmark = pytest.mark.system

KILLED = -signal.SIGKILL
_, needs_root = NEEDS_FABRIC


@pytest.fixture
def name() -> Iterator[str]:
    """Yields the name of a fabric, which is removed at the end of the test."""
    found = f"k{os.getpid() % 1000:03d}"
    yield found
    down(found)
    shutil.rmtree(state.folder(found), ignore_errors=True)  # logs of a fabric that did not come up
    assert remains(found) == []


@contextlib.contextmanager
def foreign(namespace: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yields a process in a namespace that belongs to no fabric."""
    subprocess.run(("ip", "netns", "add", namespace), check=True)
    try:
        with subprocess.Popen(("ip", "netns", "exec", namespace, "sleep", "600")) as process:
            try:
                inside = Path("/run/netns") / namespace
                until(lambda: Path(f"/proc/{process.pid}/ns/net").samefile(inside))
                yield process
            finally:
                process.kill()
    finally:
        subprocess.run(("ip", "netns", "delete", namespace), check=True)


def down(name: str) -> None:
    with contextlib.suppress(UnavailableError):
        running.down(name)


def switches_of(name: str) -> list[str]:
    """Returns the switch processes on the fabric's interfaces, found by their command lines."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            found += [word for word in words if word.partition("@")[2].startswith(name)]
    return found


@needs_root
def test_up_that_is_killed_before_any_of_its_operations_is_removed_by_down(name):
    for number in range(1, 100):
        code = killed_up(name, number)
        with foreign(f"{name}-foreign") as theirs:
            down(name)
            assert remains(name) == [f"{name}-foreign"], number
            assert switches_of(name) == [], number
            assert theirs.poll() is None
        assert not (state.folder(name) / "fabric.json").exists()
        if code == 0:
            break
        assert code == KILLED
    # The claim, 2 namespaces, 4 links, 6 interfaces, 2 hosts by 3 commands, 3 switches started and saved, ...
    assert number > 25


@needs_root
@pytest.mark.parametrize("with_switches", [False, True])
def test_down_that_is_killed_before_any_of_its_operations_is_finished_by_the_next_down(name, with_switches):
    for number in range(1, 100):
        leave_behind(name, with_switches=with_switches)
        assert "is no longer running" in eeon("fabric", "status", "--name", name).stderr
        code = killed_down(name, number)
        down(name)
        assert remains(name) == [] and switches_of(name) == [], number
        if code == 0 or (with_switches and number == 2):
            break
        assert code == KILLED
    assert number > (1 if with_switches else 10)


@needs_root
def test_up_that_is_killed_while_its_names_are_anothers_leaves_nothing_for_down_to_remove(name):
    with foreign(f"{name}-h1") as theirs:
        assert killed_up(name, 1) == 1, "it sees that the name is taken before its first operation"
        down(name)
        assert remains(name) == [f"{name}-h1"] and theirs.poll() is None
        with pytest.raises(UnavailableError, match="no live fabric named"):
            state.load(name)


@needs_root
def test_name_that_somebody_takes_after_the_check_is_left_alone(name, monkeypatch):
    monkeypatch.setattr(network, "check_free", lambda record: None)
    with foreign(f"{name}-h2") as theirs:
        assert killed_up_here(name) == f"namespace {name}-h2 already exists"
        assert remains(name) == [f"{name}-h2"] and theirs.poll() is None
    subprocess.run(("ip", "link", "add", f"{name}2p1", "type", "veth", "peer", f"{name}x"), check=True)
    try:
        assert killed_up_here(name) == f"interface {name}2p1 already exists"
        assert remains(name) == [f"{name}2p1"]
    finally:
        subprocess.run(("ip", "link", "delete", f"{name}2p1"), check=True)


def killed_up_here(name: str) -> str:
    """Returns why a fabric cannot be brought up in this process."""
    with (
        pytest.raises(UnavailableError) as error,
        running.up(topology.load("leaf-spine-4"), "engine", Fraction(1, 10), name),
    ):
        raise AssertionError("it is up")
    return str(error.value).partition(" and does not")[0].split(" and ")[0]


def test_process_with_the_id_of_one_that_has_ended_gets_no_signal():
    with subprocess.Popen((sys.executable, "-c", "input()"), stdin=subprocess.PIPE) as other:
        process = Process.of(other.pid)
        Process(process.pid, process.started - 1).signal(signal.SIGKILL)
        network.end([Process(process.pid, process.started - 1)])
        assert other.poll() is None
        process.signal(signal.SIGKILL)
        assert other.wait(60) == -signal.SIGKILL
    process.signal(signal.SIGKILL)  # no process has this id, or another one


def test_process_is_found_by_its_fabrics_mark_and_by_no_other():
    mark = os.urandom(8).hex()
    environment = {**os.environ, state.MARK: mark}
    with subprocess.Popen(
        (sys.executable, "-c", "print(flush=True); input()"),
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"\n"
        assert [one.pid for one in state.marked(mark)] == [process.pid]
        assert state.marked(mark[:-1]) == [] and state.marked("") == []
        process.kill()
