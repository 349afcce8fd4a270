"""Comparisons of claims with rows: what the published claims and their made-up rows do not show."""

from typing import Any

import pytest
from eeon_experiments.claims import model, parts
from eeon_experiments.claims.model import Missing
from eeon_experiments.claims.parts import Order, Part
from eeon_experiments.results import Results, Row, Spread


def rows(*values: dict[str, Any]) -> Results:
    return Results(
        [Row({"run_id": str(i), "status": "finished", "seed": 1, **v}) for i, v in enumerate(values)]
    )


def test_a_mean_is_rounded_once_because_versions_of_python_add_floats_differently():
    tenths = rows(*({"seed": seed, "t": 0.1} for seed in range(10)))
    assert tenths.mean("t") == Spread.of([0.1] * 10).mean == 0.1
    assert tenths.spread("t") == (0.1, 0.1, 0.1)
    assert model.mean([Spread.of([0.1])] * 10) == Spread(0.1, 0.1, 0.1, 1)


def test_a_part_for_each_of_some_values_has_them_in_its_texts():
    names = ['a "b"', "c"]
    of = rows(*({"axis_queue": name, "runtime_seconds": 2.0} for name in names))
    where: Any = [{"queue": "{queue}"}]
    part = Part(
        says="of {queue}", number="runtime_seconds", where=where, for_each={"queue": names}, within=(2, 2)
    )
    assert [check.measured for check in parts.checks([part], of)] == ['of a "b" +200.0 %', "of c +200.0 %"]


def test_an_order_holds_if_figures_fall_and_all_are_there():
    order = Order(falling=["high", "low"], says="more", otherwise="not more")
    found = [order.check(rows(), {"high": high, "low": 2.0}) for high in (2.1, 2.0)]
    assert [(one.measured, one.holds) for one in found] == [("more", True), ("not more", False)]
    with pytest.raises(Missing, match="a figure high before the part that says more"):
        parts.checks([order], rows())


def test_a_band_includes_its_ends():
    for value, holds in [(0.09, False), (0.1, True), (0.2, True), (0.21, False)]:
        assert model.within(Spread.of([value]), 0.1, 0.2, "x").holds is holds
