"""Claims judged again in other registered set-ups: the rows, their names, and the pages with the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from eeon_control.errors import InputError
from eeon_experiments import shipped, store
from eeon_experiments.claims.model import Check, Checks, Claim, Judgment, by_seed, claim
from eeon_experiments.columns import MEASURED_NAMES
from eeon_experiments.report import elsewhere
from eeon_experiments.report.elsewhere import Elsewhere, SamePoints, View
from eeon_experiments.report.family import Judged, ScaledDown
from eeon_experiments.report.output import summary
from eeon_experiments.results import Results, Row
from made_runs import rows
from test_report import family

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[2] / "docs" / "results" / "data"


def _row(fetches: str | None, transport: str, runtime: float, seed: int = 4) -> Row:
    return Row(
        {
            "run_id": f"{fetches}{transport}{seed}",
            "seed": seed,
            "status": "finished",
            "axis_fetches": fetches,
            "axis_transport": transport,
            "runtime_seconds": runtime,
        }
    )


ROWS = Results([_row("5", "drops", 10.0), _row("all", "drops", 90.0), _row("5", "ecn", 12.0)])


def _faster() -> Claim:
    def examine(results: Results) -> Checks:
        drops = by_seed(results, "runtime_seconds", {"transport": "newreno"})[4]
        ecn = by_seed(results, "runtime_seconds", {"transport": "ecn"})[4]
        return Checks([Check(f"{drops} s", drops < ecn), Check(f"{ecn} s", ecn < 11)], {})

    return claim("X1", "drops end earlier", "nowhere", "earlier; below 11 s", examine)


def test_a_view_selects_rows_and_calls_them_what_the_judge_calls_them() -> None:
    view = View(claims="aqm", words="five", where={"fetches": "5"}, names={"transport": {"drops": "newreno"}})
    seen = elsewhere.seen(ROWS, view)
    assert [(row.axis("transport"), row["runtime_seconds"]) for row in seen.rows] == [
        ("newreno", 10.0),
        ("ecn", 12.0),
    ]
    assert ROWS.rows[0].axis("transport") == "drops", "the rows themselves stay as they are"


def test_a_view_of_an_axis_that_the_judge_does_without_reads_as_runs_without_it() -> None:
    view = View(claims="aqm", words="five", where={"fetches": "5"}, names={"fetches": {"5": None}})
    assert [row.axis("fetches") for row in elsewhere.seen(ROWS, view).rows] == [None, None]


def test_a_view_of_other_columns_gives_the_judge_their_numbers_and_keeps_the_rows() -> None:
    row = Row({"run_id": "a", "energy_used_joules": 9.0, "energy_10g_used_joules": 4.0})
    without = Row({"run_id": "b", "energy_used_joules": 9.0})
    columns = {"energy_used_joules": "energy_10g_used_joules"}
    view = View(claims="eee", words="energy per NIC of 10GbE", columns=columns)
    seen = elsewhere.seen(Results([row, without]), view).rows
    assert [one["energy_used_joules"] for one in seen] == [4.0, None]
    assert row["energy_used_joules"] == 9.0


def test_energy_per_nic_of_10gbe_is_what_the_paper_says_with_three_copies() -> None:
    from eeon_experiments import folder

    claims = folder.claims(shipped.folder() / "eee")
    found = elsewhere.judged_elsewhere("eee", claims, DATA, ("",))
    e3 = {one.words: one for one in found["E3"]}
    assert e3["three copies"].outcome == "differs"
    assert e3["three copies, 10GbE energy only"].outcome == "reproduced"
    e7 = {one.words: one for one in found["E7"]}
    assert e7["three copies, 24 and 80 nodes, 10GbE energy only"].outcome == "reproduced"


def test_a_judge_that_fails_has_no_result_elsewhere(tmp_path: Path) -> None:
    broken = Claim("E3", "", "", "", lambda results: Judgment("differs", str(results.rows[0]), {}))
    assert elsewhere.judged_elsewhere("eee", [broken], tmp_path, ("",)) == {}


def test_a_judgment_says_how_many_of_its_parts_hold() -> None:
    view = View(claims="aqm", words="five", where={"fetches": "5"}, names={"transport": {"drops": "newreno"}})
    judgment = _faster().judge(elsewhere.seen(ROWS, view))
    assert (judgment.outcome, judgment.holding, judgment.parts) == ("differs", 1, 2)


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


def test_what_came_of_a_claim_elsewhere_stands_beside_it_and_changes_no_outcome() -> None:
    from eeon_experiments.report import output

    there = Elsewhere("five fetches", "setup", "reproduced", "it fell by 9 %", 2, 2, (4,))
    whole = family("marking", rows("marking", (1,)))
    claims = [replace(one, elsewhere=[there]) if one.id == "M2" else one for one in whole.claims]
    page = output.pages([replace(whole, claims=claims)], "x")["README.md"]
    assert "✔ five fetches |" in page
    assert "**With five fetches:** reproduced (`setup`, seeds 4): it fell by 9 %" in page
    assert "#### M2: ✘ differs" in page
    told = {one["id"]: one["elsewhere"] for one in summary([replace(whole, claims=claims)])["claims"]}
    assert told["M2"][0]["holding"] == 2 and told["M1"] == []


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


def test_what_a_set_up_makes_worse_is_told_with_the_claim_and_where_it_changes_several_by_itself() -> None:
    there = Elsewhere("five fetches", "setup", "differs", "", 1, 4, (4,))
    told = "With five fetches: fewer parts reproduced of "
    worse = _page(elsewhere=[there], holding=3, parts=4)
    assert "✘ five fetches (1 of 4, worse) |" in _row_of(worse, "M2") and told not in worse
    both = _page(("M2", "M3"), elsewhere=[there], holding=3, parts=4)
    assert f"{told}M2, M3." in both
    better = _page(elsewhere=[there], holding=0, parts=4)
    assert "(1 of 4) |" in better and "fewer parts reproduced of" not in better
    other_parts = _page(elsewhere=[there], holding=3, parts=5)
    assert "(1 of 4) |" in other_parts, "of different parts none is fewer"


def test_set_ups_in_which_the_same_came_out_stand_together() -> None:
    ones = [
        Elsewhere(words, "setup", "differs", "", 1, 4, (4,)) for words in ("five fetches", "three copies")
    ]
    other = Elsewhere("64 MB", "setup", "differs", "", 2, 4, (4,))
    page = _page(elsewhere=[ones[0], other, ones[1]], holding=2, parts=4)
    assert "✘ five fetches, three copies (1 of 4 each, worse); 64 MB (2 of 4) |" in _row_of(page, "M2")


def test_a_scaled_down_set_up_is_held_against_the_scaled_down_form() -> None:
    there = Elsewhere("five fetches", "setup-quick", "differs", "", 1, 4, (4,))
    quick = ScaledDown("differs", "", 2, 4)
    assert "five fetches† (1 of 4, worse) |" in _page(
        elsewhere=[there], holding=0, parts=4, scaled_down=quick
    )
    as_many = replace(quick, holding=1)
    assert "five fetches† (1 of 4) |" in _page(elsewhere=[there], holding=4, parts=4, scaled_down=as_many)


def test_points_that_another_set_up_lacks_are_no_part_of_what_it_is_held_against() -> None:
    def at(scenario: str, seed: int, **others: str) -> Row:
        values = {"run_id": "", "seed": seed, "status": "finished", "axis_scenario": scenario}
        return Row(values | {f"axis_{axis}": value for axis, value in others.items()})

    published = Results([at("batch_24", 1), at("batch_80", 1), at("batch_24", 2)])
    there = Results([at("batch_24", 4, fetches="5")])
    assert [(row.axis("scenario"), row.seed) for row in elsewhere.on_points_of(there, published).rows] == [
        ("batch_24", 1),
        ("batch_24", 2),
    ]


def test_where_the_points_alone_make_the_difference_the_page_says_so() -> None:
    out = Elsewhere("three copies", "setup", "reproduced", "", 2, 2, (4,), SamePoints("reproduced", 2, 2))
    page = _page(elsewhere=[out], holding=1, parts=2)
    assert "| ✔ three copies‡ |" in _row_of(page, "M2")
    told = " ".join(page.split())
    assert "at the same points; ‡: the published set-up has the same result at those points." in told
    assert "reproduced (`setup`, seeds 4; published set-up at the same points: reproduced)" in told


def test_a_set_up_is_worse_than_the_published_one_on_its_own_points_not_on_all() -> None:
    same = SamePoints("reproduced", 2, 2)
    fewer = Elsewhere("three copies", "setup", "differs", "", 1, 2, (4,), same)
    page = _page(elsewhere=[fewer], holding=1, parts=2)
    assert "✘ three copies (1 of 2, worse) |" in _row_of(page, "M2")
    assert "‡" not in page


def test_an_experiment_that_others_claims_are_judged_on_says_what_came_of_them() -> None:
    from eeon_experiments.report import output

    same = SamePoints("reproduced", 4, 4)
    there = Elsewhere("five fetches", "setup", "differs", "", 1, 4, (4,), same)
    plain = replace(there, words="five fetches and no FINs", same_points=None)
    lacking = replace(there, words="64 MB", same_points=SamePoints("not measured", 0, 0))
    judged = family("marking", rows("marking", (1,)))
    claims = [
        replace(one, elsewhere=[there, plain, lacking], holding=3, parts=4) if one.id == "M2" else one
        for one in judged.claims
    ]
    of_setup = replace(judged, name="setup", claims=[], results=Path("data/setup"))
    pages = output.pages([replace(judged, claims=claims), of_setup], "x")
    assert "| [M2](marking.md#claim-m2) | five fetches | ✘ 1 of 4 | ✔ 4 of 4 |" in pages["setup.md"]
    assert "| five fetches and no FINs | ✘ 1 of 4 | ✘ 3 of 4 |" in pages["setup.md"]
    assert "| 64 MB | ✘ 1 of 4 | – not measured |" in pages["setup.md"]
    assert "Claims judged again" not in pages["marking.md"]


def test_the_claims_that_the_published_set_up_has_on_fewer_points_are_known() -> None:
    """E6 differs only because of the fabrics with 50 and 80 nodes, F2 only because of the job of 200 GB."""
    from eeon_experiments import folder

    results = Path(__file__).parents[2] / "docs" / "results" / "data"
    for name, claim_id, words in (
        ("eee", "E6", "three copies"),
        ("flow_chasing", "F2", "maps before reducers"),
    ):
        claims = [one for one in folder.claims(shipped.folder() / name) if one.id == claim_id]
        there = elsewhere.judged_elsewhere(name, claims, results, ("",))[claim_id]
        (one,) = [one for one in there if one.words == words]
        assert one.same_points is not None and one.same_points.outcome == one.outcome == "reproduced"


def test_of_a_set_up_the_largest_form_with_results_is_shown_first(tmp_path: Path) -> None:
    # `setup` has a view of `marking`; claims that its rows cannot decide are left out.
    place = tmp_path / "setup"
    place.mkdir()
    store.write_rows(place / store.ROWS, [], ["fetches"])
    (place / store.MANIFEST).write_text(
        '{"format": 1, "experiment": "setup", "quick": false, "program_digest": "", "engine_digest": ""}'
    )
    assert elsewhere.judged_elsewhere("marking", [_faster()], tmp_path, ("", "-quick")) == {}


def test_a_claim_has_nothing_elsewhere_unless_it_was_judged_there() -> None:
    assert Judged("M1", "", "", "", "differs", "", {}).elsewhere == ()
