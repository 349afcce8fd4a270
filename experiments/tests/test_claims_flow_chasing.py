"""F1 to F4 with rows that match the paper's claims, and with rows that do not."""

from __future__ import annotations

import json

import pytest
from eeon_experiments.results import Results, Row, Value
from parts_of import claims_of, finished_row

CLAIMS = {claim.id: claim for claim in claims_of("flow_chasing")}
TRANSFER, SHUFFLE, RUNTIME = "reducer_shuffle_mean_seconds", "shuffle_seconds", "runtime_seconds"
WITHOUT = {TRANSFER: 232.0, SHUFFLE: 792.0, RUNTIME: 1050.0}
WITH = {TRANSFER: 217.52, SHUFFLE: 754.0, RUNTIME: 1029.0}
EXAMPLES = {
    ("example", "exact_fair"): (6.0, 4.0),
    ("example", "exact_fca"): (6.0, 3.0),
    ("example_later", "exact_myopic"): (6.0, 3.0),
    ("example_later", "exact_fca"): (6.0, 2.0),
}


def jobs(size: str, with_: dict[str, float], without: dict[str, float] = WITHOUT) -> list[Row]:
    return [
        finished_row(
            {"case": "terasort", "size": size, "scheduler": scheduler, "unknown": None}, values, seed
        )
        for scheduler, values in (("none", without), ("fca", with_))
        for seed in (1, 2)
    ]


def examples(bent: dict[tuple[str, str], tuple[float, float]] | None = None) -> list[Row]:
    found = []
    for (case, scheduler), (a, b) in {**EXAMPLES, **(bent or {})}.items():
        told = json.dumps({"example/a": a, "example/b": b})
        values: dict[str, Value] = {RUNTIME: max(a, b), "coflow_completions_json": told}
        axes = {"case": case, "size": None, "scheduler": scheduler, "unknown": None}
        found.append(finished_row(axes, values))
    return found


def outcome(name: str, rows: list[Row]) -> str:
    return CLAIMS[name].judge(Results(rows)).outcome


@pytest.mark.parametrize("name", CLAIMS)
def test_rows_as_the_paper_has_them_reproduce_its_claim(name: str) -> None:
    assert outcome(name, jobs("200GB", WITH) + examples()) == "reproduced"


@pytest.mark.parametrize(
    ("name", "column", "seconds"),
    [
        # The ends of the bands: -11.2 and -1.2 %, -9.8 and 0 %, -7 and 0 %.
        ("F1", TRANSFER, 232.0 * 0.887),
        ("F1", TRANSFER, 232.0 * 0.989),
        ("F2", SHUFFLE, 792.0 * 0.901),
        ("F2", SHUFFLE, 792.0 * 1.001),
        ("F3", RUNTIME, 1050.0 * 0.929),
        ("F3", RUNTIME, 1050.0 * 1.001),
    ],
)
def test_a_change_outside_its_band_differs(name: str, column: str, seconds: float) -> None:
    assert outcome(name, jobs("200GB", {**WITH, column: seconds})) == "differs"


@pytest.mark.parametrize(
    ("column", "seconds"),
    # The shuffle loses less than the job; a reducer less than the shuffle.
    [(SHUFFLE, 792.0 * 0.985), (TRANSFER, 232.0 * 0.96)],
)
def test_changes_in_another_order_differ(column: str, seconds: float) -> None:
    assert outcome("F3", jobs("200GB", {**WITH, column: seconds})) == "differs"


@pytest.mark.parametrize("point", EXAMPLES)
@pytest.mark.parametrize("which", [0, 1])
def test_one_number_of_the_example_that_is_six_percent_off_differs(
    point: tuple[str, str], which: int
) -> None:
    bent = list(EXAMPLES[point])
    bent[which] *= 1.06
    assert outcome("F4", examples({point: (bent[0], bent[1])})) == "differs"


def test_the_largest_job_that_was_run_both_ways_decides() -> None:
    worse = {**WITH, TRANSFER: 240.0}
    assert outcome("F1", jobs("20GB", worse) + jobs("200GB", WITH)) == "reproduced"
    assert outcome("F1", jobs("20GB", worse) + jobs("200GB", WITH)[:2]) == "differs"


def test_what_is_unknown_does_not_decide() -> None:
    axes = {"case": "terasort", "size": "200GB", "scheduler": "fca", "unknown": "newreno"}
    other = finished_row(axes, {TRANSFER: 1.0})
    assert outcome("F1", [*jobs("200GB", WITH), other]) == "reproduced"
