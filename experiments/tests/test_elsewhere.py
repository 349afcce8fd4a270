"""Claims judged again in other registered set-ups: the rows, their names, and the pages with the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from eeon_control.errors import InputError
from eeon_experiments import shipped, store
from eeon_experiments.claims.model import Claim, Judgment
from eeon_experiments.columns import MEASURED_NAMES
from eeon_experiments.report import elsewhere
from eeon_experiments.report.elsewhere import Elsewhere
from eeon_experiments.report.family import ScaledDown
from made_runs import rows
from test_report import family

pytestmark = pytest.mark.slow


def test_a_judge_that_fails_has_no_result_elsewhere(tmp_path: Path) -> None:
    broken = Claim("E3", "", "", "", lambda results: Judgment("differs", str(results.rows[0]), {}))
    assert elsewhere.judged_elsewhere("eee", [broken], tmp_path, ("",)) == {}


def test_every_view_that_ships_names_claims_and_values_that_there_are() -> None:
    from eeon_experiments import files, folder

    load = cache(files.load)
    views = [(name, view) for name in shipped.names() for view in elsewhere.load(shipped.folder() / name)]
    assert len(views) >= 5
    for name, view in views:
        mine, theirs = load(name).file.axes, load(view.claims).file.axes
        assert set(view.only) <= {one.id for one in folder.claims(shipped.folder() / view.claims)}
        for axis, values in view.where.items():
            listed = values if isinstance(values, list) else [] if values is None else [values]
            assert set(listed) <= mine[axis].keys(), (name, axis)
        assert {*view.columns, *view.columns.values()} <= MEASURED_NAMES
        for axis, names in view.names.items():
            assert names.keys() <= mine[axis].keys() and set(names.values()) <= {*theirs[axis], None}


def test_a_file_that_is_no_list_of_views_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / elsewhere.FILE).write_text("views:\n  - {claims: marking}\n")
    with pytest.raises(InputError, match="words"):
        elsewhere.load(tmp_path)


def _page(of: Sequence[str] = ("M2",), **changed: object) -> str:
    from eeon_experiments.report import output

    whole = family("marking", rows("marking", (1,)))
    claims = [replace(one, **changed) if one.id in of else one for one in whole.claims]  # type: ignore[arg-type]
    return output.pages([replace(whole, claims=claims)], "x")["README.md"]


def _row_of(page: str, claim: str) -> str:
    [row] = [line for line in page.splitlines() if line.startswith(f"| [{claim}]")]
    return row


def test_a_row_names_what_a_claim_comes_out_with_first_and_what_was_tried() -> None:
    out = Elsewhere("three copies", "setup", "reproduced", "", 2, 2, (4,))
    not_out = Elsewhere("five fetches", "setup-quick", "differs", "", 1, 2, (4,))
    page = _page(elsewhere=[not_out, out], holding=1, parts=2)
    assert "| ✔ three copies; ✘ five fetches† (1 of 2) |" in _row_of(page, "M2")
    assert _row_of(page, "M3").endswith("| none tried |"), "it differs, and no other set-up was tried"
    assert _row_of(page, "M1").endswith("|  |"), "it does not differ"


def test_a_scaled_down_set_up_is_held_against_the_scaled_down_form() -> None:
    there = Elsewhere("five fetches", "setup-quick", "differs", "", 1, 4, (4,))
    quick = ScaledDown("differs", "", 2, 4)
    assert "five fetches† (1 of 4, worse) |" in _page(
        elsewhere=[there], holding=0, parts=4, scaled_down=quick
    )
    as_many = replace(quick, holding=1)
    assert "five fetches† (1 of 4) |" in _page(elsewhere=[there], holding=4, parts=4, scaled_down=as_many)


def test_of_a_set_up_the_largest_form_with_results_is_shown_first(tmp_path: Path) -> None:
    # `setup` has a view of `marking`; claims that its rows cannot decide are left out.
    place = tmp_path / "setup"
    place.mkdir()
    store.write_rows(place / store.ROWS, [], ["fetches"])
    (place / store.MANIFEST).write_text(
        '{"format": 1, "experiment": "setup", "quick": false, "program_digest": "", "engine_digest": ""}'
    )
    undecided = Claim("X1", "", "", "", lambda _: Judgment("not measured", "", {}))
    assert elsewhere.judged_elsewhere("marking", [undecided], tmp_path, ("", "-quick")) == {}
