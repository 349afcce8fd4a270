"""`eeon experiment run`, stopped by its user."""

import json
from unittest.mock import Mock

import pytest
from eeon_experiments import files
from eeon_experiments.expand import expand
from eeon_experiments.store import Store
from eeon_experiments.sweep import Sweep
from eeon_experiments.versions import Versions, versions
from made_experiments import TINY, write
from made_work import outcome

from control_plane.tests.eeon_command import eeon


@pytest.fixture(autouse=True)
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sweep, "run", Mock(side_effect=KeyboardInterrupt))


def test_ctrl_c_says_what_is_kept_and_exits_130(tmp_path):
    done = eeon("experiment", "run", str(write(tmp_path, TINY)), "-o", str(tmp_path / "results"), code=130)
    assert "stopped: 0 runs kept, 8 missing; the same command continues" in done.stderr


def test_results_of_another_engine_are_told_when_a_run_stops_and_in_status_and_show(tmp_path):
    mine, folder = write(tmp_path, TINY), tmp_path / "results"
    kept = Store(folder, "tiny", quick=False)
    kept.claim()
    made = expand(files.load(mine), versions(), quick=False)
    now, other = versions(), Versions(versions().program, "f" * 64)
    for of, point in zip((now, other, other), made, strict=False):
        kept.write(outcome(point.run, of, runtime_seconds=31.25))
    kept.collect(made, now)

    words = (str(mine), "-o", str(folder))
    told = f"not used: 2 results of engine {'f' * 12} (not "
    assert told in eeon("experiment", "run", *words).stderr
    assert told in eeon("experiment", "status", *words).stdout
    (line,) = json.loads(eeon("experiment", "status", *words, "--json").stdout)["not_used"]
    assert line.startswith(told)
    assert told in eeon("experiment", "show", *words).stderr
