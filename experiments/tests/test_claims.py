"""The judges of all claims, at the points of their experiments, with made-up rows: numbers as in the papers
reproduce a claim, each change of `refuted_claims.txt` refutes it, rows without numbers do not measure it."""

import json
import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from eeon_experiments import files, folder, shipped
from eeon_experiments.claims import Claim, Judgment
from eeon_experiments.claims.model import Check, Checks
from eeon_experiments.columns import MEASURED_NAMES
from eeon_experiments.expand import combinations
from eeon_experiments.report import elsewhere
from eeon_experiments.results import Results, Row
from eeon_tools.trace.frames import CLASS_NAMES

Values = dict[str, Any]


def lines(file: str) -> list[str]:
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


CLAIMS = {one.id: (name, one) for name in shipped.names() for one in folder.claims(shipped.folder() / name)}
WRONG = [
    (one[1], one[2], one[3] or "")
    for line in lines("refuted_claims.txt")
    if (one := re.fullmatch(r"(\w+): (.*?)(?: -> (.*))?", line))
]


FIGURES = [line.split(": ", 1) for line in lines("claimed_figures.txt")]


@cache
def rows_of(experiment: str, quick: bool = False) -> list[Values]:
    """Returns a row for every point in the experiment's file, with the figures of its paper."""
    rows = []
    for number, (axes, seed) in enumerate(combinations(files.load(experiment), quick=quick)):
        row: Values = {"run_id": str(number), "status": "finished", "seed": seed}
        row |= {f"axis_{name}": value for name, value in axes.items()}
        for name, told in FIGURES:
            if name == experiment:
                change(row, told)
        if axes.get("rho"):
            row |= poisson(str(axes["eee"]), int(axes["rho"]) / 100)
        rows.append(row)
    return rows


def poisson(setting: str, load: float) -> Values:
    """Returns the energy of two 10GBASE-T transmitters, of which one sends, by the closed forms."""
    judge = folder.module(shipped.folder() / "eee", "load_claims")
    assert judge is not None
    used = judge.closed_form(setting, load) + judge.closed_forms.LPI_POWER
    return {"energy_10g_used_joules": used, "energy_10g_legacy_joules": 2}


def judged(id: str, rows: list[Values]) -> Judgment:
    return CLAIMS[id][1].judgment(Results([Row(row) for row in rows]))


def change(row: Values, told: str) -> None:
    """Makes a change of the two files in a row, if the row has its axes."""
    what, _, where = told.partition(" at ")
    for axis in where.split():
        name, _, values = axis.partition("=")
        here = row.get(f"axis_{name}") or "none"
        if not any(fnmatchcase(here, value) for value in values.split("|")):
            return
    if what.startswith("every drop is "):
        for name in CLASS_NAMES:
            row[f"early_dropped_{name}"] = 1000 if what == f"every drop is {name}" else 0
            row[f"tail_dropped_{name}"] = 0
        return
    column, sign, number = re.split(r" ([=x+]) ", what)
    if column.startswith("transfer "):
        ends = json.loads(row["coflow_completions_json"])
        ends[column.removeprefix("transfer ")] *= float(number)
        row["coflow_completions_json"] = json.dumps(ends)
    elif sign == "=":
        row[column] = number if column.endswith("_json") else float(number)
    elif column in row:
        row[column] = row[column] * float(number) if sign == "x" else row[column] + int(number)


@pytest.mark.parametrize("id", CLAIMS)
def test_a_claim_is_reproduced_by_the_figures_of_the_papers_and_measured_in_the_quick_form(id):
    judgment = judged(id, rows_of(CLAIMS[id][0]))
    assert (judgment.outcome, judgment.measured.partition("Outside")[2]) == ("reproduced", "")
    assert judgment.numbers
    assert judged(id, rows_of(CLAIMS[id][0], quick=True)).outcome != "not measured"


@pytest.mark.parametrize(("id", "told", "words"), WRONG, ids=[f"{id}-{words}" for id, _, words in WRONG])
def test_a_claim_differs_when_a_figure_does(id, told, words):
    before = rows_of(CLAIMS[id][0])
    rows = [dict(row) for row in before]
    for row in rows:
        change(row, told)
    assert rows != before, "the test changes something"
    judgment = judged(id, rows)
    assert judgment.outcome == "differs"
    assert words in (judgment.measured.partition("Outside its band:")[2] or judgment.measured)


def test_every_claim_has_a_figure_that_would_refute_it_and_is_listed_in_its_file():
    assert {id for id, _, _ in WRONG} == set(CLAIMS)
    # An id that two experiments have is listed twice.
    listed = [id for name in shipped.names() for id in files.load(name).file.claims]
    assert listed == list(CLAIMS)


def test_every_view_that_ships_names_claims_and_values_that_there_are():
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


def test_a_judge_that_fails_has_no_result_in_other_set_ups(tmp_path):
    broken = Claim("E3", "", "", "", lambda results: Checks([Check(str(results.rows[0]), False)]))
    assert elsewhere.judged_elsewhere("eee", [broken], tmp_path, ("",)) == {}


@pytest.mark.parametrize("id", CLAIMS)
def test_a_claim_without_rows_or_without_their_numbers_is_not_measured(id):
    rows = rows_of(CLAIMS[id][0])
    kept = ("run_id", "status", "seed")
    bare = [{key: row[key] for key in row if key in kept or key.startswith("axis_")} for row in rows]
    for few in ([], bare):
        judgment = judged(id, few)
        assert judgment.outcome == "not measured" and "measured: " in judgment.measured


def test_benchmarks_of_which_one_is_missing_are_not_judged():
    rows = [row for row in rows_of("cee_scientific") if row["axis_benchmark"] != "bt"]
    assert judged("C7", rows).outcome == "not measured"
