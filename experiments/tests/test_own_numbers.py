"""A user's experiment without claims: its numbers in a terminal, as CSV, as JSON and on a page."""

import csv
import json
from pathlib import Path

import made_runs
import pytest
from click.testing import Result
from eeon_experiments import files, store
from eeon_experiments.expand import expand
from eeon_experiments.report import points
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Results, Row
from eeon_experiments.sweep import Sweep
from eeon_experiments.versions import versions
from made_experiments import TINY, write
from made_work import outcome

from control_plane.tests.eeon_command import eeon

QUEUES, TRANSPORTS = ("drop_tail", "mark"), ("newreno", "dctcp")
# Two seeds of one point; some columns differ between points, others do not.
RUNTIMES = {("drop_tail", "newreno"): (10, 14), ("drop_tail", "dctcp"): (9, 9), ("mark", "newreno"): (8, 9)}


def rows() -> list[Row]:
    made = []
    for queue in QUEUES:
        for transport in TRANSPORTS:
            for seed, runtime in enumerate(RUNTIMES.get((queue, transport), (7, 8)), 1):
                axes = {"queue": queue, "transport": transport}
                fixed = {"runtime_seconds": float(runtime), "energy_used_joules": 500.0}
                fixed |= {
                    "queue_max_bytes_host_facing": 250_000,
                    "throughput_per_node_bps": 4.125e8 + runtime,
                }
                made.append(Row(made_runs.row("tiny", seed, axes, **fixed)))
    return made


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a file with results in the folder that `eeon experiment run` uses."""
    monkeypatch.chdir(tmp_path)
    made_runs.keep(tmp_path / "out" / "experiments" / "tiny", "tiny", rows(), ["queue", "transport"])
    return write(tmp_path)


def run(*words: str, code: int = 0) -> Result:
    return eeon("experiment", *words, code=code, columns=80)


def test_show_has_a_row_for_each_point_with_mean_and_spread(mine):
    lines = run("show", str(mine)).stdout.splitlines()
    there = lines[lines.index("from out/experiments/tiny:") :]
    assert there[1].split() == ["queue", "transport", "seeds", "runtime", "seconds"]
    assert there[2].split("  ")[0] == "drop_tail" and there[2].endswith("  12 (10 to 14)")
    assert there[3].endswith("  9")
    assert there[-1] == "means over seeds (lowest to highest)"
    assert all(len(line) <= 80 for line in there)


@pytest.mark.parametrize("command", ["show", "report"])
def test_rows_of_another_engine_are_named_unless_they_are_published(mine, command):
    told = "out/experiments/tiny: 8 rows of another program or engine; `eeon experiment run` repeats them\n"
    assert told not in run(command, str(mine)).stderr
    Path("out/experiments/tiny", store.RUNS).mkdir()
    assert told in run(command, str(mine)).stderr


@pytest.mark.parametrize("command", ["show", "report"])
def test_results_of_another_experiment_are_not_shown_as_ones_own(mine, command):
    mine.write_text(mine.read_text().replace("name: tiny", "name: huge"))
    (mine.parent / "out" / "experiments" / "tiny").rename(mine.parent / "out" / "experiments" / "huge")
    told = "out/experiments/huge: holds results of tiny, the full form, not of huge, the full form"
    assert told in run(command, str(mine), code=1).output


def test_a_column_that_is_asked_for_is_shown_and_a_mistyped_one_has_a_neighbour(mine):
    told = run("show", str(mine), "--column", "energy_used_joules").stdout
    assert "energy used joules" in told and "500" in told
    refused = run("show", str(mine), "--column", "timeout", code=1)
    assert "did you mean timeouts?" in refused.output


def test_csv_has_every_number_with_lowest_and_highest(mine, tmp_path):
    run("show", str(mine), "--csv", "points.csv")
    first, *_ = csv.DictReader((tmp_path / "points.csv").read_text().splitlines())
    assert (first["queue"], first["transport"], first["seeds"]) == ("drop_tail", "newreno", "2")
    assert [float(first[f"runtime_seconds_{one}"]) for one in ("mean", "low", "high")] == [12, 10, 14]
    assert "wall_seconds_mean" not in first
    run("show", str(mine), "--csv", "points.csv", "--column", "timeouts", "--column", "runtime_seconds")
    [head, *_] = csv.reader((tmp_path / "points.csv").read_text().splitlines())
    columns = [f"{name}_{one}" for name in ("timeouts", "runtime_seconds") for one in ("mean", "low", "high")]
    assert head == ["queue", "transport", "seeds", *columns]


def test_json_of_show_has_the_numbers(mine):
    told = json.loads(run("show", str(mine), "--json").stdout)
    assert told["numbers"][0]["axes"] == {"queue": "drop_tail", "transport": "newreno"}
    assert told["numbers"][0]["numbers"]["runtime_seconds"] == {"mean": 12, "low": 10, "high": 14}


@pytest.mark.parametrize(
    "changed", [{}, {"maps: 8": "maps: 9"}, {"maps: 8": "maps: 9", "mark: {": "a_new_name: {"}]
)
def test_numbers_of_other_settings_than_the_file_has_now_are_not_shown_as_its_own(
    tmp_path, monkeypatch, changed
):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "out" / "experiments" / "tiny"
    kept = store.Store(folder, "tiny", quick=False)
    kept.claim()
    # The seed 3 is that of an earlier `--seeds`.
    made = expand(files.load(write(tmp_path)), versions(), quick=False, seeds=[1, 2, 3])
    for point in made:
        kept.write(outcome(point.run, versions(), runtime_seconds=31.25))
    kept.collect(made, versions())
    text = TINY
    for old, new in changed.items():
        text = text.replace(old, new)
    mine = write(tmp_path, text)
    shown, told = run("show", str(mine)), run("report", str(mine))
    page = (tmp_path / "out" / "report" / "README.md").read_text()
    is_stale = bool(changed)
    outputs = (shown.stdout, told.stdout, page)
    assert [("31.25" in one) for one in outputs] == [not is_stale] * 3
    left_out = "12 results of settings that the file does not have now"
    assert [(left_out in one) for one in (shown.stderr, page)] == [is_stale] * 2
    compared = run("show", str(mine), "--compare", "transport=newreno,dctcp", code=int(is_stale))
    assert (left_out in compared.stderr) == is_stale
    told = json.loads(run("show", str(mine), "--json").stdout)
    assert (f"not used: {left_out}" in told["warnings"]) == is_stale


def test_the_report_has_numbers_and_a_picture_for_each_axis_and_nothing_about_papers(mine, tmp_path):
    told = run("report", str(mine)).stdout
    assert "0 reproduced" not in told and "no claims" not in told and "12 (10 to 14)" in told
    page = (tmp_path / "out" / "report" / "README.md").read_text().replace("\\_", "_")
    for absent in ("claim", "paper", "Papers", "takes hours", "docs/results"):
        assert absent not in page
    assert "| drop_tail | newreno | 2 | 12 (10 to 14) |" in page
    assert f"eeon experiment run {mine}" in page
    assert f"eeon experiment report {mine} --results out/experiments --output out/report" in page
    report = tmp_path / "out" / "report"
    assert {path.name for path in (report / "figures").iterdir()} == {
        "tiny-by-queue.svg",
        "tiny-by-transport.svg",
    }
    assert (report / "data" / "tiny" / points.FILE).is_file()


def test_a_run_ends_with_its_numbers(mine, monkeypatch):
    for found, told in (rows(), "12 (10 to 14)"), (rows()[:1], "1 row in elsewhere/"):
        monkeypatch.setattr(Sweep, "run", lambda self, found=found, **how: Results(found))
        assert told in run("run", str(mine), "-o", "elsewhere").stdout


def test_of_many_combinations_a_drawing_has_eight_and_says_how_many_are_left_out():
    made = [
        Row(made_runs.row("many", 1, {"size": size, "other": f"o{number}"}))
        for size in ("1", "2")
        for number in range(10)
    ]
    by_size, _ = points.drawings(Runs(made))
    assert len(by_size.panels[0].series) == 8 and by_size.panels[0].kind == "lines"
    assert "2 more combinations" in by_size.caption


@pytest.mark.parametrize("name", ["seed", "self", "metric", "column", "base"])
def test_an_axis_may_have_any_name(name):
    made = [Row(made_runs.row("any", seed, {name: value})) for value in ("1", "2") for seed in (1, 2)]
    [drawn] = points.drawings(Runs(made))
    assert all(value and value.seeds == 2 for value in drawn.panels[0].series[0].values)
    assert len(Results(made).values("runtime_seconds", **{name: "1"})) == 2
