"""Comparisons of claims with rows."""

from typing import Any

import pytest
from eeon_experiments import claims
from eeon_experiments.claims import model
from eeon_experiments.claims.model import Check, Checks, Missing, claim
from eeon_experiments.results import Results, Row, Spread


def rows(*values: dict[str, Any]) -> Results:
    return Results(
        [Row({"run_id": str(i), "status": "finished", "seed": 1, **v}) for i, v in enumerate(values)]
    )


RED = {"queue": "red"}
PLAIN = {"queue": "plain"}


def test_a_change_is_taken_seed_by_seed() -> None:
    results = rows(
        {"axis_queue": "plain", "seed": 1, "t": 10.0},
        {"axis_queue": "plain", "seed": 2, "t": 20.0},
        {"axis_queue": "red", "seed": 1, "t": 11.0},
        {"axis_queue": "red", "seed": 2, "t": 24.0},
        {"axis_queue": "red", "seed": 3, "t": 99.0},
    )
    found = model.change(results, "t", RED, PLAIN)
    assert (found.low, found.high, found.seeds) == (pytest.approx(0.1), pytest.approx(0.2), 2)
    assert found.text(model.percent) == "+15.0 % (+10.0 % to +20.0 %, 2 seeds)"


def test_a_mean_is_rounded_once_because_versions_of_python_add_floats_differently() -> None:
    tenths = rows(*({"seed": seed, "t": 0.1} for seed in range(10)))
    assert tenths.mean("t") == Spread.of([0.1] * 10).mean == 0.1
    assert tenths.spread("t") == (0.1, 0.1, 0.1)
    assert model.mean([Spread.of([0.1])] * 10) == Spread(0.1, 0.1, 0.1, 1)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([{"axis_queue": "red", "t": 1.0}], "no t of plain"),
        ([{"axis_queue": "red", "t": 1.0}, {"axis_queue": "plain", "t": None}], "no t of plain"),
        ([{"axis_queue": "red"}, {"axis_queue": "plain"}], "no t of red"),
        (
            [{"axis_queue": "red", "t": 1.0}, {"axis_queue": "plain", "t": 1.0, "seed": 2}],
            "no seed in common",
        ),
        ([{"axis_queue": "red", "t": 1.0}, {"axis_queue": "plain", "t": 0.0}], "is zero"),
        ([{"axis_queue": "red", "t": 1.0}, {"axis_queue": "red", "t": 2.0}], "not one point"),
        (
            [{"axis_queue": "red", "t": 1.0}, {"axis_queue": "plain", "t": 1.0, "status": "failed"}],
            "no t of plain",
        ),
    ],
)
def test_what_cannot_be_compared_is_named(values: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(Missing, match=words):
        model.change(rows(*values), "t", RED, PLAIN)


def judgment(*checks: Check) -> claims.Judgment:
    found = claim("X1", "s", "w", "b", lambda results: Checks(checks, {"n": 1.0}))
    return found.judge(Results([]))


def test_what_only_stands_beside_the_parts_is_told_and_not_counted() -> None:
    found = judgment(Check("a 1", False), Check("b 2", True), Check("c 3", True, part=False))
    assert (found.outcome, found.holding, found.parts) == ("differs", 1, 2)
    assert "c 3" in found.measured


def test_a_claim_is_reproduced_when_every_check_holds() -> None:
    assert judgment(Check("a 1", True), Check("b 2", True)) == claims.Judgment(
        "reproduced", "a 1; b 2.", {"n": 1.0}, holding=2, parts=2
    )


def test_a_claim_differs_when_one_does_not_and_says_which() -> None:
    found = judgment(Check("a 1", True), Check("b 2", False))
    assert (found.outcome, found.measured) == ("differs", "a 1; b 2. Outside its band: b 2.")


def test_a_claim_whose_rows_are_not_there_is_not_measured() -> None:
    def examine(results: Results) -> Checks:
        raise Missing("no t of red")

    found = claim("X1", "s", "w", "b", examine).judge(Results([]))
    assert found == claims.Judgment("not measured", "Not measured: no t of red.", {})


def test_a_band_includes_its_ends() -> None:
    for value, holds in [(0.09, False), (0.1, True), (0.2, True), (0.21, False)]:
        assert model.within(Spread.of([value]), 0.1, 0.2, "x").holds is holds
