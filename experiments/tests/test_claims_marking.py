"""The judges of M1 to M12 and Q1 to Q5 with made-up rows at the points of the experiments' own files."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from eeon_experiments import files
from eeon_experiments.claims.bands import CLASSES
from eeon_experiments.claims.model import Judgment
from eeon_experiments.expand import Point, expand
from eeon_experiments.results import Results, Row
from eeon_experiments.versions import Versions
from parts_of import change, claims_of, refutations

VERSIONS = Versions("p" * 64, "e" * 64)
Values = dict[str, Any]

# Rows that match the papers' claims: DropTail is 100 s, 1 Gbit/s, 1000 us (deep 6000 us).
RED_RUNTIME = {"red_100us": 1.35, "red_300us": 1.2, "red_500us": 1.1, "red_1ms": 1.05, "red_2ms": 1.0}


def as_in_the_papers(axes: dict[str, str | None]) -> Values:
    """Returns a row of the marking experiment."""
    buffer, transport, queue, protect = (axes.get(key) for key in ("buffer", "transport", "queue", "protect"))
    assert queue is not None
    runtime, throughput, latency = 1.0, 1.0, 1.0
    drops = {"data": 1000}
    deep = buffer == "deep"
    if deep and queue == "drop_tail":
        runtime = 0.9
    if queue.startswith("red") and protect == "ect":
        runtime = RED_RUNTIME[queue]
        throughput = 1 / runtime
        drops = {"ack": 900, "data": 100} if transport == "ecn" else {"syn": 700, "ack": 200, "data": 100}
        if queue == "red_2ms":
            drops = {"data": 1000}
    if queue.startswith("red") and protect != "ect":
        runtime = 0.9 if deep or queue == "red_500us" else 0.93
        throughput = 1.1
        latency = (0.4 if queue == "red_2ms" else 0.15) if deep else 0.6
        drops = {"ack": 100} if protect == "ece" else {"data": 8}
    if queue.startswith("codel"):
        hard = protect == "ect"
        runtime = (1.1 if hard else 0.92) if not deep else 0.93
        throughput = (0.9 if hard else 1.08) if not deep else 0.97
        latency = (0.6 if not deep else 0.2) * (1 if transport == "ecn" else 1.5 if deep else 1)
    if queue.startswith("threshold"):
        runtime = 0.9
        throughput = 1.1
        latency = 0.5 if transport == "ecn" else 0.7
    row: Values = {
        "runtime_seconds": 100 * runtime,
        "throughput_per_node_bps": 1e9 * throughput,
        "latency_mean_us": (6000 if deep else 1000) * latency,
        "fct_small_mean_seconds": 0.010 if transport == "dctcp" else 0.013,
    }
    for name in CLASSES:
        row[f"early_dropped_{name}"] = drops.get(name, 0) * 3 // 4
        row[f"tail_dropped_{name}"] = drops.get(name, 0) - drops.get(name, 0) * 3 // 4
    return row


def as_in_chapter_5(axes: dict[str, str | None]) -> Values:
    """Returns a row of the AQM experiment."""
    buffer, transport, queue = (axes.get(key) for key in ("buffer", "transport", "queue"))
    assert queue is not None and transport is not None
    deep = buffer == "deep"
    base = 6000.0 if deep else 1000.0
    runtime, throughput, latency = (0.9 if deep else 1.0), (1.1 if deep else 1.0), base
    match queue:
        case "red_100us":
            throughput, latency = 0.7, base * 0.1
        case "red_1ms":
            runtime, latency = 0.95, base * 0.15
        case "red_500us":
            latency = base * 0.4
        case "red_70_70" | "red_25_51" | "red_25_75":
            runtime, latency = 1.1, base * 0.1
        case "red_50_150":
            runtime, latency = 1.0, base * 0.1
        case "codel_1":
            latency = base * (0.65 if deep else 0.75)
        case "codel_2":
            latency = 650.0 if deep else 500.0
        case "codel_4":
            latency, throughput = (350.0 if deep else 300.0), 0.9
    more = {"plain": 1.0, "newreno": 1.0, "ecn": 1.2, "dctcp": 1.5}[transport]
    return {
        "runtime_seconds": 100 * runtime,
        "throughput_per_node_bps": 1e9 * throughput,
        "latency_mean_us": latency * (more if queue.startswith("codel") else 1),
    }


MAKERS = {"marking": as_in_the_papers, "aqm": as_in_chapter_5}
CLAIMS = {one.id: (name, one) for name in MAKERS for one in claims_of(name)}


@cache
def points_of(experiment: str) -> list[Point]:
    """Returns the points in the experiment's file."""
    return expand(files.load(experiment), VERSIONS, quick=False)


def rows_of(experiment: str) -> list[Values]:
    """Returns one made-up row for every point in the experiment's file."""
    found = []
    for number, point in enumerate(points_of(experiment)):
        axes = {f"axis_{name}": value for name, value in point.axes.items()}
        made = MAKERS[experiment](dict(point.axes))
        found.append({"run_id": str(number), "status": "finished", "seed": point.run.seed, **axes, **made})
    return found


def judgment_of(id: str, rows: list[Values]) -> Judgment:
    return CLAIMS[id][1].judge(Results([Row(row) for row in rows]))


WRONG = refutations("marking, aqm")


@pytest.mark.parametrize("id", CLAIMS)
def test_a_claim_is_reproduced_by_the_figures_of_the_papers(id: str) -> None:
    judgment = judgment_of(id, rows_of(CLAIMS[id][0]))
    assert (judgment.outcome, judgment.measured.partition("Outside")[2]) == ("reproduced", "")
    assert judgment.numbers


@pytest.mark.parametrize(("id", "told", "words"), WRONG, ids=[f"{id}-{words}" for id, _, words in WRONG])
def test_a_claim_differs_when_a_figure_does(id: str, told: str, words: str) -> None:
    rows = rows_of(CLAIMS[id][0])
    before = [dict(row) for row in rows]
    for row in rows:
        change(row, told)
    assert rows != before, "the test changes something"
    judgment = judgment_of(id, rows)
    assert judgment.outcome == "differs"
    assert words in (judgment.measured.partition("Outside its band:")[2] or judgment.measured)


def test_every_claim_has_a_figure_that_would_refute_it() -> None:
    assert {id for id, _, _ in WRONG} == set(CLAIMS)
