"""Commands that are ended by SIGTERM, as sent by `kill`, systemd and containers."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_program" / "topology.json"

pytestmark = [pytest.mark.system, pytest.mark.slow]

COMMANDS = [
    pytest.param(["demo", "-o", "{folder}"], "shuffle: ", id="demo"),
    pytest.param(["lab", "up", str(EXAMPLE), "--first-port", "17331"], "P4Runtime: ", id="lab"),
]


@pytest.mark.parametrize(("words", "first"), COMMANDS)
def test_sigterm_ends_a_command_with_its_workers_and_130(words, first, tmp_path):
    command = [sys.executable, "-m", "eeon_control", *(word.format(folder=tmp_path) for word in words)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    ) as process:
        said = ""
        while first not in (line := process.stdout.readline()):
            said += line
            assert line, f"the command ended: {said}"
        process.send_signal(signal.SIGTERM)
        # Until all processes with the pipe, including the workers, have ended.
        rest = process.stdout.read()
    assert process.returncode == 130, rest
    assert "stopped" in rest and "Traceback" not in rest


HAMMERED = """
import signal
from eeon_tools.cli.fabric import Stop
for round in range(400):
    stop = Stop()
    signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGTERM))
    signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + round % 97))
    while not stop.wait(1e-6):
        pass
print("stopped each time")
"""


def test_a_fabric_stops_at_whatever_moment_of_its_wait_the_signal_comes():
    done = subprocess.run(
        [sys.executable, "-c", HAMMERED], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "stopped each time\n", done.stderr


def test_a_second_fabric_does_not_write_over_the_addresses_of_one_that_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    command = [sys.executable, "-m", "eeon_control", *("fabric", "up", "leaf-spine-4")]
    targets = Path("out/targets.yaml")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        while "eeon show ports" not in (line := first.stdout.readline()):
            assert line, "the command ended"
        written = targets.read_text()
        second = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        assert targets.read_text() == written
        first.send_signal(signal.SIGTERM)
    assert second.returncode == 1
    assert f"{targets}: has the addresses of another fabric, which is running" in second.stderr
