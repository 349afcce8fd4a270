"""`eeon experiment run`, stopped by its user."""

import json
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from eeon_control.cli import main
from eeon_experiments import files
from eeon_experiments.expand import expand
from eeon_experiments.store import Store
from eeon_experiments.sweep import Sweep
from eeon_experiments.versions import Versions, versions
from made_experiments import TINY, write
from made_work import outcome


@pytest.fixture(autouse=True)
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sweep, "run", Mock(side_effect=KeyboardInterrupt))


def test_ctrl_c_says_what_is_kept_and_exits_130(tmp_path):
    words = ["experiment", "run", str(write(tmp_path, TINY)), "-o", str(tmp_path / "results")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 130
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

    def eeon(verb: str, *more: str):
        return CliRunner().invoke(main, ["experiment", verb, str(mine), "-o", str(folder), *more])

    told = f"not used: 2 results of engine {'f' * 12} (not "
    assert told in eeon("run").stderr
    assert told in eeon("status").stdout
    (line,) = json.loads(eeon("status", "--json").stdout)["not_used"]
    assert line.startswith(told)
    assert told in eeon("show").stderr
