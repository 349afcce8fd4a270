"""Sweeps: several processes, resume after every kind of interruption, a Dask cluster. Runs are made up."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import made_work
import pytest
from distributed import LocalCluster
from eeon_experiments import files, store, versions
from eeon_experiments.sweep import Sweep
from eeon_experiments.workers import pool, run_all
from eeon_tools.errors import InputError, UnavailableError
from made_experiments import TINY, write

from control_plane.tests import waiting
from control_plane.tests.expected_rows import bases
from control_plane.tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.system]

HERE = Path(__file__).resolve().parent


@pytest.fixture(autouse=True)
def known_versions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Makes worker processes find the tests' modules and need no engine."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    started = tmp_path / "started"
    started.mkdir()
    monkeypatch.setenv(made_work.FOLDER, str(started))
    for module in ("eeon_experiments.workers", "eeon_experiments.dask_workers"):
        monkeypatch.setattr(f"{module}.versions", lambda: made_work.VERSIONS)
    return started


def sweep(folder: Path, text: str = TINY, **selection: Any) -> Sweep:
    experiment = files.load(write(folder, text))
    return Sweep(experiment, folder / "results", made_work.VERSIONS, **selection)


def test_ctrl_c_while_a_worker_starts_is_heard_when_it_has_started_and_ends_it(tmp_path, monkeypatch):
    started: list[SpawnProcess] = []
    start = SpawnProcess.start

    def interrupted(process: SpawnProcess) -> None:
        signal.raise_signal(signal.SIGINT)
        start(process)
        started.append(process)

    monkeypatch.setattr(SpawnProcess, "start", interrupted)
    runs = [point.run for point in sweep(tmp_path).points]
    with pytest.raises(KeyboardInterrupt):
        list(run_all(runs, made_work.at_once, 2))
    assert [process.is_alive() for process in started] == [False]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_all_runs_are_done_in_a_few_processes_and_become_rows(tmp_path):
    seen: list[int] = []
    folder = tmp_path / "results"
    results = sweep(tmp_path).run(
        count=2, work=made_work.at_once, ended=lambda one: seen.append(len(store.load(folder).rows))
    )
    assert len(results.finished) == len(seen) == 8
    assert seen[1] == 1, "the first result is a row at once, not after 15 s"
    assert 1 <= len({row.flows for row in results.rows}) <= 2
    assert os.getpid() not in {row.flows for row in results.rows}
    assert len(store.load(tmp_path / "results").rows) == 8


def test_what_is_finished_is_not_run_again(tmp_path, known_versions):
    sweep(tmp_path).run(count=2, work=made_work.noted)
    for path in known_versions.iterdir():
        path.unlink()
    results = sweep(tmp_path).run(count=2, work=made_work.noted)
    assert len(results.rows) == 8
    assert list(known_versions.iterdir()) == []


def test_what_is_left_takes_what_the_same_points_took_with_other_seeds(tmp_path):
    assert sweep(tmp_path).estimate() is None
    seed_one = sweep(tmp_path, seeds=[1])
    seed_one.run(count=2, work=made_work.weighed)
    assert (left := sweep(tmp_path).estimate()) is not None
    # Each of the four points took a different time with seed 1, and is expected to take it with seed 2.
    rows = store.load(tmp_path / "results").finished
    assert left.cpu_seconds == pytest.approx(sum(row.number("cpu_seconds") or 0 for row in rows))
    assert (left.rows, left.peak_rss_bytes) == (4, 250_000_000)
    sweep(tmp_path, seeds=[2], only={"queue": ["drop_tail"]}).run(count=1, work=made_work.weighed)
    assert (less := sweep(tmp_path).estimate()) is not None
    assert 0 < less.cpu_seconds < left.cpu_seconds


def test_failed_runs_are_kept_with_their_error_and_tried_again(tmp_path):
    results = sweep(tmp_path).run(count=2, work=made_work.seed_two_fails)
    assert [row.error for row in results.failed] == ["seed 2 is not liked"] * 4
    state = sweep(tmp_path).state()
    assert (len(state.finished), len(state.failed), len(state.missing)) == (4, 4, 0)
    results = sweep(tmp_path).run(count=2, work=made_work.at_once)
    assert len(results.finished) == 8


def test_a_worker_that_is_killed_takes_only_its_own_run_with_it(tmp_path):
    results = sweep(tmp_path).run(count=2, work=made_work.seed_two_is_killed)
    assert sorted(row.seed for row in results.finished) == [1] * 4
    assert {row.error for row in results.failed} == {
        "the process of this run was killed by signal SIGKILL, as happens when memory runs out"
    }
    assert len(sweep(tmp_path).run(count=2, work=made_work.at_once).finished) == 8


def test_a_worker_that_is_killed_between_two_batches_is_replaced(tmp_path):
    runs = [point.run for point in sweep(tmp_path).points]
    with closing(pool(made_work.at_once, 1)) as kept:
        [first] = kept.run(runs[:1])
        pid = first.measured["flows"]
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGKILL)
        [worker] = kept._workers
        # Its main thread is a zombie before the other one has ended, and only then is it dead.
        wait_until(lambda: not worker.process.is_alive(), "a killed worker is alive")
        assert all(one.finished for one in kept.run(runs))


def test_a_worker_that_is_killed_but_not_yet_dead_takes_only_one_run_with_it(tmp_path, monkeypatch):
    runs = [point.run for point in sweep(tmp_path).points]
    with closing(pool(made_work.at_once, 1)) as kept:
        list(kept.run(runs[:1]))
        [worker] = kept._workers
        worker.process.kill()
        worker.process.join()
        looks = iter([True])
        is_alive = worker.process.is_alive
        monkeypatch.setattr(worker.process, "is_alive", lambda: next(looks, is_alive()))
        first, *others = kept.run(runs)
        assert "was killed by signal SIGKILL" in str(first.measured["error"])
        assert all(one.finished for one in others)


def _sweep_in_a_process(tmp_path: Path) -> subprocess.Popen[bytes]:
    """Starts a sweep that hangs once two runs have finished, in a separate process group."""
    write(tmp_path)
    code = (
        "import made_work\n"
        "from pathlib import Path\n"
        "from eeon_experiments import files\n"
        "from eeon_experiments.sweep import Sweep\n"
        "if __name__ == '__main__':\n"
        f"    folder = Path({str(tmp_path)!r})\n"
        "    found = Sweep(files.load(folder), folder / 'results', made_work.VERSIONS)\n"
        "    found.run(count=2, work=made_work.slow_after_two)\n"
    )
    script = tmp_path / "sweep_in_a_process.py"
    script.write_text(code)
    return subprocess.Popen([sys.executable, str(script)], start_new_session=True, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("how", ["kill -9 of the parent", "Ctrl-C"])
def test_an_interrupted_sweep_loses_only_what_was_under_way_and_leaves_no_process(
    tmp_path, known_versions, how
):
    process = _sweep_in_a_process(tmp_path)
    runs = tmp_path / "results" / "runs"
    wait_until(lambda: runs.is_dir() and len(list(runs.glob("*.json"))) == 2, "two runs do not finish")
    wait_until(lambda: len(list(known_versions.iterdir())) == 4, "two more runs do not start")
    workers = {int(path.read_text()) for path in known_versions.iterdir()}
    if how == "Ctrl-C":
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.kill()
    process.wait(waiting.SECONDS)
    wait_until(lambda: not any(alive(pid) for pid in workers), "a worker outlives its parent")
    if how == "Ctrl-C":
        assert len(store.load(tmp_path / "results").rows) == 2
    resumed = sweep(tmp_path)
    assert len(resumed.state().finished) == 2
    assert len(resumed.run(count=2, work=made_work.at_once).finished) == 8


def test_only_and_seeds_select_points_and_results_add_up(tmp_path):
    first = sweep(tmp_path, only={"queue": ["mark"], "transport": ["dctcp"]})
    assert len(first.run(work=made_work.at_once).rows) == 2
    second = sweep(tmp_path, seeds=[9], only={"queue": ["mark"]})
    rows = second.run(work=made_work.at_once).rows
    assert sorted((row.axis("transport"), row.seed) for row in rows) == [
        ("dctcp", 1),
        ("dctcp", 2),
        ("dctcp", 9),
        ("newreno", 9),
    ]


def test_a_seed_that_is_not_selected_stops_no_run(tmp_path):
    flows = bases(Path(__file__).parent / "expected" / "workloads.yaml")["flows"]
    with_an_empty_seed = flows.replace("duration: 1s", "duration: 220ms").replace("[1]", "[2, 1]")
    only_one = sweep(tmp_path, with_an_empty_seed, seeds=[1])
    assert [row.seed for row in only_one.run(work=made_work.at_once).rows] == [1]


def test_a_dask_cluster_gives_the_same_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("eeon_experiments.dask_workers.versions", versions.versions)
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    sweep(tmp_path / "here").run(count=1, work=made_work.at_once)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = sweep(tmp_path / "there")
        results = there.run(dask=cluster.scheduler_address, work=made_work.seed_two_fails)
        assert len(results.finished) == 4 and len(results.failed) == 4
        results = sweep(tmp_path / "there").run(dask=cluster.scheduler_address, work=made_work.at_once)
    expected = store.load(tmp_path / "here" / "results")
    assert [(row.axes, row.seed, row.runtime_seconds) for row in results.rows] == [
        (row.axes, row.seed, row.runtime_seconds) for row in expected.rows
    ]


def test_a_dask_scheduler_that_is_lost_is_named(tmp_path):
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(UnavailableError, match=f"--dask: {address}: the scheduler was lost"):
            sweep(tmp_path).run(
                dask=address, work=made_work.slow_after_two, ended=lambda outcome: cluster.close()
            )


def test_a_dask_cluster_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("eeon_experiments.dask_workers._CONNECT_SECONDS", 1)
    with pytest.raises(InputError, match=r"--dask: tcp://127\.0\.0\.1:9: no scheduler"):
        sweep(tmp_path).run(dask="tcp://127.0.0.1:9", work=made_work.at_once)
