"""Columns of results that are requested by name."""

from __future__ import annotations

import pytest
from eeon_experiments.results import Results, Row
from eeon_tools.errors import InputError


def row(**values: object) -> Row:
    return Row({"seed": 1, "status": "finished", **values})  # type: ignore[arg-type]


def test_a_column_that_does_not_exist_is_an_error_and_not_a_missing_number() -> None:
    results = Results([row(runtime_seconds=2.0)])
    assert results.mean("runtime_seconds") == 2.0
    with pytest.raises(InputError, match=r"is not a column \(did you mean runtime_seconds\?\)"):
        results.mean("runtime_second")
    with pytest.raises(InputError, match="not a column"):
        results.spread("runtime_second")


def test_a_column_without_numbers_is_a_missing_number() -> None:
    assert Results([row(map_share=None)]).mean("map_share") is None
    assert Results([]).mean("map_share") is None
