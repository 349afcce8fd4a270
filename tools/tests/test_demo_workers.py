"""The number of the demo's concurrent runs."""

import os
import signal
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_tools.cli.demo import demo
from eeon_tools.demo import runs
from made_results import MANIFEST


class Messages(Exception):
    """Ends the demo at the point where it would start its workers."""


@pytest.mark.parametrize(
    ("cores", "words", "workers"), [(8, [], 8), (64, [], 12), (None, [], 1), (8, ["--workers", "3"], 3)]
)
def test_the_demo_uses_the_cores_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int | None, words: list[str], workers: int
) -> None:
    asked: list[int] = []

    def started(trace: Path, count: int) -> None:
        asked.append(count)
        raise Messages

    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(runs, "make_trace", lambda *_: (tmp_path / "t.pcap", MANIFEST))
    monkeypatch.setattr(runs, "Workers", started)
    done = CliRunner().invoke(demo, ["-o", str(tmp_path), *words])
    assert isinstance(done.exception, Messages) and asked == [workers]


@pytest.mark.system
def test_ctrl_c_while_a_worker_starts_is_heard_when_all_have_started_and_ends_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[SpawnProcess] = []
    start = SpawnProcess.start

    def interrupted(process: SpawnProcess) -> None:
        signal.raise_signal(signal.SIGINT)
        start(process)
        started.append(process)

    monkeypatch.setattr(SpawnProcess, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runs.Workers(tmp_path / "none.pcap", 2)
    assert [process.is_alive() for process in started] == [False, False]
