"""Runs of the real twin: the engine runs the P4 program, the controller configures it, hosts run jobs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from eeon_experiments import store
from eeon_experiments.columns import MEASURED_NAMES, OF_THE_MACHINE
from eeon_experiments.run import run_one
from eeon_experiments.store import Outcome
from eeon_experiments.versions import versions
from made_experiments import TEXTS, TINY, points, write

from control_plane.tests.eeon_command import eeon

pytestmark = pytest.mark.system


def outcome(folder: Path, text: str = TINY, **axes: str) -> Outcome:
    found = points(folder, text, versions=versions())
    return run_one(next(point.run for point in found if axes.items() <= point.axes.items()))


def numbers(folder: Path, text: str = TINY, **axes: str) -> dict[str, Any]:
    found = dict(outcome(folder, text, **axes).measured)
    assert found["status"] == "finished", found["error"]
    return found


def test_the_same_run_gives_the_same_numbers_and_every_column(tmp_path):
    first, second = (numbers(tmp_path, queue="mark", transport="dctcp") for _ in range(2))
    assert {key: one for key, one in first.items() if key not in OF_THE_MACHINE} == {
        key: one for key, one in second.items() if key not in OF_THE_MACHINE
    }
    assert set(first) <= MEASURED_NAMES
    assert MEASURED_NAMES - set(first) == {"error"}
    assert json.loads(first["settings_json"])["tcp"] == {"algorithm": "dctcp", "min_rto": "10ms"}


def test_an_unfinished_run_says_how_many_packets_did_not_arrive(tmp_path):
    text = TINY.replace("time_limit: 60s", "time_limit: 30ms\n  faults: [leaf1@0s]")
    error = str(outcome(tmp_path, text).measured["error"])
    found = re.search(
        r"have not finished: mapreduce: sort; of ([0-9]+) packets ([0-9]+) were lost on links", error
    )
    assert found is not None and int(found[1]) >= int(found[2]) > 0, error


def test_queue_depths_are_kept_where_asked_for(tmp_path):
    assert outcome(tmp_path).queues is None
    text = TINY.replace("  time_limit: 60s", "  time_limit: 60s\n  queue_samples: true")
    kept = outcome(tmp_path, text).queues
    assert max(max(queue["max_bytes"]) for queue in kept["queues"]) > 10_000


def test_the_command_runs_resumes_and_tells(tmp_path):
    words = (str(write(tmp_path)), "--quick", "--output", str(tmp_path / "out"))
    done = eeon("experiment", "run", *words, "--workers", "2", code=0)
    assert "0 runs finished, 2 to run" in done.output
    assert "2 runs finished, 0 to run" in eeon("experiment", "run", *words).output
    assert "2 runs finished, 0 failed, 0 missing" in eeon("experiment", "status", *words).output
    results = store.load(tmp_path / "out")
    assert [row.axis("transport") for row in results.finished] == ["newreno", "dctcp"]
    assert results.rows[0].quick and results.rows[0].engine_digest == versions().engine
    planned = [point.run.entries for point in points(tmp_path, quick=True)]
    assert [row["entries_digest"] for row in results.rows] == planned


SLOWED = r"its sender slowed down [\d,.]+ us later: window from [\d,]+ B to [\d,]+ B"


def test_one_point_is_traced_by_hop(tmp_path):
    words = ("experiment", "trace", str(write(tmp_path)), "--quick", "--pcapng", str(tmp_path / "one.pcapng"))
    many = eeon(*words, code=1)
    assert "choose one with --only and --seeds: queue=mark, transport=newreno" in many.output
    words += ("--only", "transport=dctcp")
    done = eeon(*words, code=0)
    assert done.stderr.startswith("warning: tcp: min_rto is 10ms and ACKs are delayed")
    records = re.search(r"one.pcapng, ([\d,]+) records", done.output)
    assert records and int(records[1].replace(",", "")) > 1000
    assert (tmp_path / "one.pcapng").read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    page = tmp_path / "one.html"
    eeon(*words, "--html", str(page), code=0)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text())
    assert found is not None
    [run] = json.loads(found[1])["runs"]
    after_marks = [one[12] for one in run["details"] if one[3] == "marked"]
    reactions = [text for text in after_marks if re.fullmatch(SLOWED, text)]
    assert reactions and len(reactions) > len(after_marks) / 2
    assert "events more than the limit of 100 are left out" in eeon(*words, "--hops", "100").output


def test_the_command_names_failed_runs_and_keeps_the_others(tmp_path):
    text = TINY.replace("{tcp: {algorithm: dctcp}}", "{time_limit: 30ms, tcp: {algorithm: dctcp}}")
    words = (str(write(tmp_path, text)), "--quick", "--output", str(tmp_path / "out"), "--workers", "1")
    done = eeon("experiment", "run", *words, code=1)
    assert "1 run failed (the same command tries them again):" in done.output
    unfinished = "the time limit of 30ms was reached, but these have not finished: mapreduce: sort\n"
    assert f"queue=mark, transport=dctcp, seed 1: {unfinished}" in done.output
    assert len(store.load(tmp_path / "out").finished) == 1


def test_a_queue_falls_where_packets_are_dropped_and_stays_level_under_pfc(tmp_path):
    without, lossless = (numbers(tmp_path, TEXTS["hot spot"], pfc=pfc) for pfc in ("without", "lossless"))
    for column in ("tail_dropped_data", "retransmitted_segments"):
        assert without[column] > 0 == lossless[column], column
    assert lossless["runtime_seconds"] < without["runtime_seconds"]
    assert without["queue_falls"] > lossless["queue_falls"]
    assert lossless["queue_level_share"] > 0.9


INCAST_WITHOUT_DRAWS = TEXTS["incast without draws"]
WITH_DRAWS = INCAST_WITHOUT_DRAWS.replace("[drop_tail]", "[red_ect]").replace("20KB", "2MB")


@pytest.mark.parametrize(("text", "is_told"), [(INCAST_WITHOUT_DRAWS, True), (WITH_DRAWS, False)])
def test_seeds_that_change_nothing_are_named(tmp_path, text, is_told):
    path = write(tmp_path, text)
    told = eeon("experiment", "run", str(path), "--workers", "1", "-o", str(tmp_path / "out"), code=0)
    warning = "warning: seeds 1, 2, 3: the same numbers. This workload has no random draws"
    assert (warning in told.stderr) == is_told
