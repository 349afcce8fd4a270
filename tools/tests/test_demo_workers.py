"""The processes of the demo's runs."""

import os
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest
from eeon_tools.demo import runs
from eeon_tools.errors import ReplayError
from made_results import MANIFEST

from control_plane.tests.eeon_command import eeon


class Messages(Exception):
    """Ends the demo at the point where it would start its workers."""


@pytest.mark.parametrize(
    ("cores", "words", "workers"), [(8, [], 8), (64, [], 12), (None, [], 1), (8, ["--workers", "3"], 3)]
)
def test_the_demo_uses_the_cores_that_are_there(tmp_path, monkeypatch, cores, words, workers):
    asked: list[int] = []

    def started(trace: Path, count: int) -> None:
        asked.append(count)
        raise Messages

    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(runs, "make_trace", lambda *_: (tmp_path / "t.pcap", MANIFEST))
    monkeypatch.setattr(runs, "run_all", started)
    with pytest.raises(Messages):
        eeon("demo", "-o", str(tmp_path), *words)
    assert asked == [workers]


@pytest.mark.system
def test_a_run_whose_process_is_killed_ends_the_demo_with_a_message(tmp_path, monkeypatch):
    start = SpawnProcess.start

    def killed(process: SpawnProcess) -> None:
        start(process)
        process.kill()

    monkeypatch.setattr(SpawnProcess, "start", killed)
    monkeypatch.setattr(runs, "make_trace", lambda *_: (tmp_path / "t.pcap", MANIFEST))
    done = eeon("demo", "-o", str(tmp_path), "--workers", "1", code=1)
    assert "the process of the run `drop_tail, eee off` was killed by signal SIGKILL" in done.stderr


@pytest.mark.system
def test_the_error_of_a_run_is_the_demos(tmp_path):
    with pytest.raises(ReplayError, match=r"none\.pcap: .*No such file"):
        list(runs.run_all(tmp_path / "none.pcap", 2))
