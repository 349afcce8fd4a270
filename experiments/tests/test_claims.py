"""The judges of all claims, at the points of their experiments, with made-up rows: numbers as in the papers
reproduce a claim, each change of `refuted_claims.txt` refutes it, rows without numbers do not measure it."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from eeon_experiments import files, folder, shipped
from eeon_experiments.claims import Claim, Judgment
from eeon_experiments.columns import MEASURED_NAMES
from eeon_experiments.expand import combinations
from eeon_experiments.report import elsewhere
from eeon_experiments.results import Results, Row
from eeon_tools.trace.frames import CLASS_NAMES

Axes = Mapping[str, str | None]
Values = dict[str, Any]

# DropTail is 100 s, 1 Gbit/s, 1000 us (deep 6000 us).
RED_RUNTIME = {"red_100us": 1.35, "red_300us": 1.2, "red_500us": 1.1, "red_1ms": 1.05, "red_2ms": 1.0}


def marking(at: Axes) -> Values:
    transport, queue, protect = at["transport"], str(at["queue"]), at["protect"]
    runtime, throughput, latency = 1.0, 1.0, 1.0
    drops = {"data": 1000}
    deep = at["buffer"] == "deep"
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
        runtime, throughput, latency = 0.9, 1.1, 0.5 if transport == "ecn" else 0.7
    row: Values = {
        "runtime_seconds": 100 * runtime,
        "throughput_per_node_bps": 1e9 * throughput,
        "latency_mean_us": (6000 if deep else 1000) * latency,
        "fct_small_mean_seconds": 0.010 if transport == "dctcp" else 0.013,
    }
    for name in CLASS_NAMES:
        row[f"early_dropped_{name}"] = drops.get(name, 0) * 3 // 4
        row[f"tail_dropped_{name}"] = drops.get(name, 0) - drops.get(name, 0) * 3 // 4
    return row


def aqm(at: Axes) -> Values:
    queue, deep = str(at["queue"]), at["buffer"] == "deep"
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
    if queue.startswith("codel"):
        latency *= {"newreno": 1.0, "ecn": 1.2, "dctcp": 1.5}[str(at["transport"])]
    return {
        "runtime_seconds": 100 * runtime,
        "throughput_per_node_bps": 1e9 * throughput,
        "latency_mean_us": latency,
    }


ENERGY = {"standard": 1.0, "12us10": 0.75, "120us100": 0.6, "1ms1000": 0.55, "10ms1000": 0.54, "off": 6.5}
STALLED = {"0us": 100, "50us": 105, "500us": 120, "5ms": 200}
DELAYED = {"100us": (1.02, 1), "500us": (1.1, 1), "1ms": (1.2, 1.01), "5ms": (2, 1.1), "10ms": (3, 1.4)}
"""Runtime of small and of batch jobs, by the delay of each link."""
LOADED = {"5": 1.2, "10": 1.12, "25": 1.05}


def eee(at: Axes) -> Values:
    setting, scenario = str(at["eee"]), str(at["scenario"])
    if at["rho"]:
        load = folder.module(shipped.folder() / "eee", "load_claims")
        assert load is not None
        share = load.closed_form(setting, int(at["rho"]) / 100) + load.closed_forms.LPI_POWER
        return {"energy_10g_used_joules": share, "energy_10g_legacy_joules": 2}
    runtime, energy = 1.0, ENERGY.get(setting.removesuffix("_10g"), 0.8 if "batch" in scenario else 0.45)
    if at["load"]:
        runtime = LOADED.get(at["load"], 1.0) if setting == "1ms1000_10g" else 1.0
    elif at["stall"]:
        runtime, energy = 1.005 if at["stall"] == "0us" else 1.0, STALLED[at["stall"]] / 100
    elif at["delay"]:
        runtime = DELAYED.get(at["delay"], (1, 1))["batch" in scenario]
    elif at["buffer"] == "shallow" and setting in ("1ms1000", "10ms1000"):
        runtime = {"tuned": 1.25, "default": 3.0}[str(at["window"])] * (2 if setting == "10ms1000" else 1)
    return {
        "runtime_seconds": 100 * runtime,
        "energy_used_joules": 100 * energy,
        "energy_legacy_joules": 650,
        "energy_ideal_joules": 50,
        "energy_10g_used_joules": 50 * (0.5 if setting.endswith("+") else energy),
        "energy_1g_used_joules": 50 if setting == "standard" else 48.5,
    }


ABOVE_IDEAL = {"off": 8, "standard": 1.78, "12us10": 1.4, "120us100": 1.1, "500us500": 1.07, "1ms1000": 1.05}
LONGER = {
    ("tcp", "shallow"): 1.12,
    ("tcp", "deep"): 1.06,
    ("red_ecn", "shallow"): 1.5,
    ("red_ecn", "deep"): 1.1,
}


def eee_ecn(at: Axes) -> Values:
    setting, buffer, control = str(at["eee"]).removesuffix("_all"), str(at["buffer"]), str(at["control"])
    runtime = {"500us500": 1.25, "1ms1000": 1.6}.get(setting, 1.0) if control == "red_ecn" else 1.0
    latency = (1000 if buffer == "shallow" else 10_000) * (1 if control == "tcp" else 0.1)
    return {
        "runtime_seconds": 100 * runtime,
        "throughput_per_node_bps": 1e8 / runtime,
        "latency_mean_us": latency * (LONGER[control, buffer] if setting == "1ms1000" else 1),
        "energy_10g_used_joules": ABOVE_IDEAL[setting] * runtime,
        "energy_10g_ideal_joules": 1.0,
    }


EXAMPLES = {
    ("example", "exact_fair"): (6.0, 4.0),
    ("example", "exact_fca"): (6.0, 3.0),
    ("example_later", "exact_myopic"): (6.0, 3.0),
    ("example_later", "exact_fca"): (6.0, 2.0),
}


def flow_chasing(at: Axes) -> Values:
    if at["case"] != "terasort":
        ends = EXAMPLES.get((str(at["case"]), str(at["scheduler"])), (6.0, 4.0))
        told = json.dumps(dict(zip("ab", ends, strict=True)))
        return {"runtime_seconds": max(ends), "coflow_completions_json": told}
    times = (232.0, 792.0, 1050.0) if at["scheduler"] == "none" else (217.52, 754.0, 1029.0)
    columns = ("reducer_shuffle_mean_seconds", "shuffle_seconds", "runtime_seconds")
    return dict(zip(columns, times, strict=True))


def cee_queue(at: Axes) -> Values:
    shape = (0.4, 5, 90) if at["pfc"] == "off" else (0.95, 1, 0)
    found = dict(zip(("queue_level_share", "queue_falls", "tail_dropped_data"), shape, strict=True))
    return found | {"coflow_completions_json": '{"a": 0.45, "b": 1.0}'}


def cee_commercial(at: Axes) -> Values:
    """Returns times as in the paper: PFC helps except QCN/20; Vegas is best, CUBIC worst; RED beats QCN."""
    query = {"newreno": 1000.0, "cubic": 1200.0, "vegas": 800.0}[str(at["tcp"])]
    query *= {"drop_tail": 1.0, "red": 0.9, "qcn_20": 3.0, "qcn_66": 1.5}[str(at["queue"])]
    query *= 1.0 if at["pfc"] == "off" or at["queue"] == "qcn_20" else 0.97
    return {"query_mean_us": query, "queue_max_bytes_host_facing": 70_000, "tail_dropped_data": 0}


def cee_scientific(at: Axes) -> Values:
    best = {("red", "headroom"): 0.05, ("qcn_20", "off"): 0.08}
    return {"runtime_seconds": best.get((str(at["queue"]), str(at["pfc"])), 0.1)}


def mq_ecn(at: Axes) -> Values:
    kind, _, number = str(at["traffic"]).partition("_")
    by_port, many = at["marking"] == "port_32", int(number)
    if kind == "against":
        return {"runtime_seconds": 0.2 * (1 + many) if by_port or not many else 0.4, "latency_mean_us": 170.0}
    if at["marking"] == "queue_5":
        return {"runtime_seconds": 0.2 * many, "latency_mean_us": 40.0 if many == 1 else 200.0}
    return {"runtime_seconds": 0.17 * many, "latency_mean_us": 170.0 * (1 if by_port else many)}


MAKERS: dict[str, Callable[[Axes], Values]] = {
    made.__name__: made
    for made in (marking, aqm, eee, eee_ecn, flow_chasing, cee_queue, cee_commercial, cee_scientific, mq_ecn)
}
CLAIMS = {one.id: (name, one) for name in shipped.names() for one in folder.claims(shipped.folder() / name)}
WRONG = [
    (one[1], one[2], one[3] or "")
    for line in Path(__file__).with_name("refuted_claims.txt").read_text(encoding="utf-8").splitlines()
    if (one := re.fullmatch(r"(\w+): (.*?)(?: -> (.*))?", line))
]


@cache
def rows_of(experiment: str, quick: bool = False) -> list[Values]:
    """Returns a row for every point in the experiment's file."""
    return [
        {
            "run_id": str(number),
            "status": "finished",
            "seed": seed,
            **{f"axis_{name}": value for name, value in axes.items()},
            **MAKERS[experiment](axes),
        }
        for number, (axes, seed) in enumerate(combinations(files.load(experiment), quick=quick))
    ]


def judged(id: str, rows: list[Values]) -> Judgment:
    return CLAIMS[id][1].judge(Results([Row(row) for row in rows]))


def change(row: Values, told: str) -> None:
    """Makes a change of `refuted_claims.txt` in a row, if the row has its axes."""
    what, _, where = told.partition(" at ")
    axes = dict(axis.split("=") for axis in where.split())
    if any((row.get(f"axis_{name}") or "none") != value for name, value in axes.items()):
        return
    if what.startswith("every drop is "):
        for name in CLASS_NAMES:
            row[f"early_dropped_{name}"] = 1000 if what == f"every drop is {name}" else 0
            row[f"tail_dropped_{name}"] = 0
        return
    column, sign, number = what.rsplit(" ", 2)
    if column.startswith("transfer "):
        ends = json.loads(row["coflow_completions_json"])
        ends[column.removeprefix("transfer ")] *= float(number)
        row["coflow_completions_json"] = json.dumps(ends)
    elif column in row:
        row[column] = row[column] * float(number) if sign == "x" else row[column] + int(number)


@pytest.mark.parametrize("id", CLAIMS)
def test_a_claim_is_reproduced_by_the_figures_of_the_papers_and_measured_in_the_quick_form(id: str) -> None:
    judgment = judged(id, rows_of(CLAIMS[id][0]))
    assert (judgment.outcome, judgment.measured.partition("Outside")[2]) == ("reproduced", "")
    assert judgment.numbers
    assert judged(id, rows_of(CLAIMS[id][0], quick=True)).outcome != "not measured"


@pytest.mark.parametrize(("id", "told", "words"), WRONG, ids=[f"{id}-{words}" for id, _, words in WRONG])
def test_a_claim_differs_when_a_figure_does(id: str, told: str, words: str) -> None:
    before = rows_of(CLAIMS[id][0])
    rows = [dict(row) for row in before]
    for row in rows:
        change(row, told)
    assert rows != before, "the test changes something"
    judgment = judged(id, rows)
    assert judgment.outcome == "differs"
    assert words in (judgment.measured.partition("Outside its band:")[2] or judgment.measured)


def test_every_claim_has_a_figure_that_would_refute_it_and_is_listed_in_its_file() -> None:
    assert {id for id, _, _ in WRONG} == set(CLAIMS)
    # An id that two experiments have is listed twice.
    listed = [id for name in shipped.names() for id in files.load(name).file.claims]
    assert listed == list(CLAIMS)


def test_every_view_that_ships_names_claims_and_values_that_there_are() -> None:
    axes = {name: files.load(name).file.axes for name in shipped.names()}
    for name in shipped.names():
        for view in elsewhere.load(shipped.folder() / name):
            mine, theirs = axes[name], axes[view.claims]
            assert set(view.only) <= {id for id, (of, _) in CLAIMS.items() if of == view.claims}
            for axis, values in view.where.items():
                listed = values if isinstance(values, list) else [] if values is None else [values]
                assert set(listed) <= mine[axis].keys(), (name, axis)
            assert {*view.columns, *view.columns.values()} <= MEASURED_NAMES
            for axis, names in view.names.items():
                assert names.keys() <= mine[axis].keys() and set(names.values()) <= {*theirs[axis], None}


def test_a_judge_that_fails_has_no_result_in_other_set_ups(tmp_path: Path) -> None:
    broken = Claim("E3", "", "", "", lambda results: Judgment("differs", str(results.rows[0]), {}))
    assert elsewhere.judged_elsewhere("eee", [broken], tmp_path, ("",)) == {}


@pytest.mark.parametrize("id", CLAIMS)
def test_a_claim_without_rows_or_without_their_numbers_is_not_measured(id: str) -> None:
    rows = rows_of(CLAIMS[id][0])
    kept = ("run_id", "status", "seed")
    bare = [{key: row[key] for key in row if key in kept or key.startswith("axis_")} for row in rows]
    for few in ([], bare):
        judgment = judged(id, few)
        assert judgment.outcome == "not measured" and "measured: " in judgment.measured


def test_benchmarks_of_which_one_is_missing_are_not_judged() -> None:
    rows = [row for row in rows_of("cee_scientific") if row["axis_benchmark"] != "bt"]
    assert judged("C7", rows).outcome == "not measured"
