"""`eeon tune attack`: the smallest traffic that breaks a promise."""

import json
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest
from eeon_control.sources import yaml_text
from eeon_experiments import files, store
from eeon_experiments.expand import expand
from eeon_experiments.resolve import Run
from eeon_experiments.run import run_one
from eeon_experiments.store import Outcome, Store
from eeon_experiments.tune import attack as attacks
from eeon_experiments.tune.attack import Found
from eeon_experiments.versions import versions
from eeon_experiments.workloads.flows import ListedFlow
from made_experiments import TEXTS, points
from made_work import VERSIONS, outcome

from control_plane.tests.eeon_command import eeon

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tune" / "headroom.yaml"
FILE = "name: small\nbase: {topology: leaf-spine-4, config: [drop_tail]}\n"


def flows_of(run: Run) -> list[ListedFlow]:
    workload = run.settings["workload"]
    assert isinstance(workload, dict)
    return [ListedFlow(**one) for one in workload["applications"]["attack"]["listed"]]


def two_of_twenty_kilobytes_to_h2(run: Run) -> float:
    return 3.0 if sum(one.destination == "h2" and one.bytes >= 20_000 for one in flows_of(run)) >= 2 else 0.0


def attacked(
    folder: Path, text: str, asked: list[str] | None = None, *, drops=two_of_twenty_kilobytes_to_h2
) -> Found | None:
    path = folder / "attack.yaml"
    path.write_text(text, encoding="utf-8")

    def work(runs: Iterable[Run]) -> Generator[Outcome, None, None]:
        for run in runs:
            if asked is not None:
                asked.append(run.id)
            yield outcome(run, tail_dropped_data=drops(run))

    file, document = attacks.load(path)
    kept = Store(folder / "out", file.name, quick=False)
    attack = attacks.Attack(file, document, path, kept, VERSIONS, work)
    hosts, _ = attack.checked()
    kept.claim()
    return attack.run(hosts)


def test_what_can_be_left_out_or_made_smaller_is(tmp_path):
    found = attacked(tmp_path, FILE)
    assert found is not None and found.is_least
    assert found.broken == ["drops 3, at most 0"]
    assert len(found.lot) == 2
    assert all(
        one.destination == "h2" and 20_000 <= one.bytes < 40_000 and not one.at_ps for one in found.lot
    )


def test_a_promise_that_nothing_breaks_takes_all_runs_and_finds_nothing(tmp_path):
    asked: list[str] = []
    assert attacked(tmp_path, FILE + "runs: 10\n", asked, drops=lambda run: 0.0) is None
    assert len(asked) == 10


def test_the_same_file_finds_the_same_and_the_second_time_runs_nothing(tmp_path):
    asked: list[str] = []
    first = attacked(tmp_path, FILE, asked)
    count = len(asked)
    assert attacked(tmp_path, FILE, asked) == first
    assert len(asked) == count


def test_runs_that_are_used_up_before_the_least_is_known_are_said(tmp_path):
    found = attacked(tmp_path, FILE + "runs: 12\n")
    assert found is not None and not found.is_least


def test_the_scenario_is_an_experiment_of_one_run_that_needs_no_other_file(tmp_path):
    found = attacked(tmp_path, FILE)
    assert found is not None
    file, _ = attacks.load(tmp_path / "attack.yaml")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "experiment.yaml").write_text(yaml_text(attacks.scenario(file, found)), encoding="utf-8")
    [point] = expand(files.load(elsewhere), VERSIONS)
    assert flows_of(point.run) == list(found.lot)


def test_warnings_about_the_configuration_are_told_with_the_result(tmp_path, monkeypatch):
    (tmp_path / "attack.yaml").write_text(
        FILE.replace("[drop_tail]", "[mark_threshold, {profiles: {queue: {edge: {buffer: 20KB}}}}]"),
        encoding="utf-8",
    )
    monkeypatch.setattr(attacks.Attack, "run", lambda attack, hosts: None)
    done = eeon("tune", "attack", str(tmp_path / "attack.yaml"), "-o", str(tmp_path / "out"), "--json")
    (told, *_) = json.loads(done.stdout)["warnings"]
    assert "not below the buffer (20KB)" in told and f"warning: {told}" in done.stderr


@pytest.mark.system
@pytest.mark.parametrize(
    ("classes", "dropped"), [("{}", None), ("{calm: {priority: 3, dscp: [26], pfc: one}}", 0)]
)
def test_drops_of_lossy_classes_are_none_of_a_lossless_one(tmp_path, classes, dropped):
    text = TEXTS["beside a lossless class"].replace("CLASSES", classes)
    [point] = points(tmp_path, text, versions=versions())
    found = run_one(point.run).measured
    assert found["status"] == "finished", found["error"]
    assert found["tail_dropped_data"] > 0
    assert found["lossless_dropped"] == dropped


@pytest.mark.nightly
@pytest.mark.system
def test_three_quarters_of_the_headroom_are_found_out_and_all_of_it_holds(tmp_path):
    output = tmp_path / "out"
    done = eeon("tune", "attack", str(EXAMPLE), "-o", str(output), "--json", code=2)
    found = json.loads(done.stdout)
    # At least two senders must meet at a port.
    assert found["least"] and 2 <= len(found["flows"]) <= 4
    assert (output / "attack.pcapng").is_file() and (output / "attack.html").is_file()
    [point] = expand(files.load(output), versions())
    assert run_one(point.run).measured["lossless_dropped"]
    whole = tmp_path / "whole.yaml"
    text = EXAMPLE.read_text(encoding="utf-8").replace("xoff: 91807B", "xoff: auto")
    whole.write_text(text + "runs: 24\n", encoding="utf-8")
    done = eeon("tune", "attack", str(whole), "-o", str(tmp_path / "whole"), code=0)
    assert done.stdout.startswith("no promise was broken in 24 runs")
    assert store.read_manifest(tmp_path / "whole")["experiment"] == "headroom"
