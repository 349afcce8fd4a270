"""`eeon init` at terminals and on full disks; its files are in `expected/scenarios/init.yaml`."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from eeon_command import eeon
from eeon_control import topology
from eeon_control.units import DataRate


def test_files_that_the_disk_cannot_take_are_removed(tmp_path, monkeypatch):
    def full(path: Path, *_: object, **__: object) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        refused = eeon("init", "--yes", str(tmp_path / "mine"))
    assert refused.stderr == f"{tmp_path / 'mine'}: cannot be written: No space left on device\n"
    eeon("init", str(tmp_path / "mine"), code=0)


@pytest.mark.system
def test_at_a_terminal_what_is_not_given_is_asked(tmp_path):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "eeon_control", "init", "mine", "--leaves", "3"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path) as process:
        os.close(theirs)
        os.write(ours, b"1\n\n25Gbps\n\n")  # spines, hosts, their rate, the up-links'
        process.wait(120)
    os.close(ours)
    fabric = topology.load(tmp_path / "mine" / "topology.yaml")
    assert (len(fabric.leaves), len(fabric.switches), len(fabric.hosts)) == (3, 4, 12)
    port = fabric.port("leaf1:1")
    assert port is not None and port.rate == DataRate.parse("25Gbps")


@pytest.mark.system
def test_output_that_does_not_fit_on_the_disk_is_told(tmp_path):
    command = [sys.executable, "-m", "eeon_control", "init", "--yes", "mine"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        "the output cannot be written: No space left on device; free space, or write elsewhere\n",
    )
