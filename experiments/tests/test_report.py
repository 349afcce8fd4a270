"""The report's page, figures and data from made-up rows; nothing in them was measured."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from eeon_experiments import folder, shipped
from eeon_experiments.claims.model import Check, Checks, Claim, Judge, Judgment, Missing
from eeon_experiments.claims.texts import Finding
from eeon_experiments.report import output
from eeon_experiments.report.draw import draw
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.elsewhere import Elsewhere
from eeon_experiments.report.family import Family, judged
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Results, Row, Spread
from eeon_experiments.setup import Entry, Setup
from eeon_tools import svg
from made_runs import EXPERIMENTS, rows
from markdown_it import MarkdownIt

from tools.tests.web_page import WebPage

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script> | a_b*c* [x](javascript:y) `code` & ]]> @someone #1\n\n# no heading"


def holding(holds: bool, text: str = "") -> Judge:
    return lambda _: Checks([Check(text or "it rose by 9.1 % (8.0 to 10.2)", holds, numbers={"rise": 0.091})])


def missing(_: Results) -> Checks:
    raise Missing("no row")


def made(id: str, judge: Judge | None = None, text: str = "") -> Claim:
    told = text or "throughput rises by 10 %", text or "paper, figure 7", text or "5 % to 20 %"
    return Claim(id, *told, judge or holding(True))


CLAIMS = (made("M1"), made("M2", holding(False)), made("M3", holding(False)), made("M12", missing))
FINDINGS = {"M3": Finding(reason="hosts queue in their NIC", evidence="`queue_max_bytes` 12 MB")}


def family(name: str, found: list[dict[str, Any]], **changed: Any) -> Family:
    results = Results([Row(row) for row in found])
    standard = Family(
        name=name,
        title=f"Experiment {name}",
        description="",
        quick=False,
        claims=judged(CLAIMS if name == "marking" else (), results, FINDINGS),
        runs=Runs(results.finished),
        draw=folder.figures(shipped.folder() / name),
        rows=results.rows,
        planned=len(found),
        origin={"program_digest": "a" * 64, "engine_digest": "b" * 64, "commits": ["c" * 40]},
    )
    return replace(standard, **changed)


@pytest.fixture(scope="module")
def whole() -> list[Family]:
    return [family(name, rows(name, (1, 2))) for name in ("marking", "eee_ecn")]


def test_the_claims_for_machines_are_json_without_what_json_does_not_have(whole):
    claims = [replace(whole[0].claims[0], numbers={"rise": float("nan"), "low": 1.5})]
    document = output.summary([replace(whole[0], claims=claims)])
    document = json.loads(json.dumps(document, allow_nan=False))
    assert document["claims"][0]["numbers"] == {"rise": None, "low": 1.5}
    assert document["experiments"]["marking"]["seeds"] == [1, 2]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_nothing_measured_is_said_on_the_page(name):
    page = output.pages([family(name, [])], "x")["README.md"]
    assert f"no finished runs of `{name}`" in page
    assert "![" not in page
    assert "Not measured." in page


@pytest.mark.parametrize("name", ["aqm", "eee", "threshold"])
def test_one_seed_and_missing_points_and_columns_are_drawn_as_far_as_they_go(name):
    found = rows(name, (1,))[::2]
    for row in found[::3]:
        row["runtime_seconds"] = None
        del row["latency_mean_us"]
        row["energy_used_joules"] = float("nan")
    page = output.pages([family(name, found)], "x")["README.md"]
    assert "points have no number" in page
    assert "nan" not in page.lower().replace("reported", "")


def test_failed_and_refused_and_missing_runs_are_named():
    failed = {"status": "failed", "error": "time limit of 3600 s: 3 maps unfinished", "seed": 7}
    made = family(
        "eee_ecn",
        [*rows("eee_ecn", (1,)), {"axis_buffer": "deep", **failed}],
        refused=["4 rows of engine 0123 (not 4567)"],
        not_run=["buffer deep, queue red_4ms, seed 1"],
    )
    page = output.pages([made], "x")["README.md"]
    assert "Failed: buffer deep, seed 7: time limit of 3600 s: 3 maps unfinished" in page
    assert "4 rows of engine 0123" in page
    assert re.search(r"Not run of \d+ planned: buffer deep, queue red\\_4ms, seed 1", page)


def test_two_runs_of_one_seed_at_one_point_are_not_averaged():
    found = rows("eee_ecn", (1,)) + [
        {**row, "axis_host": "fast"} for row in rows("eee_ecn", (1,)) if row["axis_eee"] == "off"
    ]
    page = output.pages([family("eee_ecn", found)], "x")["README.md"]
    assert "Not drawn: control tcp, eee off, buffer shallow" in page
    assert "several runs of seed 1" in page


def test_figures_that_fail_are_named_on_the_page_and_do_not_prevent_it():
    def broken(runs: Runs) -> list[Drawing]:
        raise AttributeError("no such column")

    page = output.pages([family("eee_ecn", rows("eee_ecn", (1,)), draw=broken)], "x")["README.md"]
    assert "Not drawn: the figures failed: AttributeError: no such column." in page


HOSTILE_ENTRY = Entry(what=HOSTILE, value=HOSTILE, source=HOSTILE, text=HOSTILE)


def hostile() -> Family:
    claims = judged((made("M1", holding(True, HOSTILE), HOSTILE),), Results([]), {})
    return family(
        "marking",
        [],
        title=HOSTILE,
        description=HOSTILE,
        claims=claims,
        setup=Setup(setup=[HOSTILE_ENTRY], assumptions=[HOSTILE_ENTRY]),
        base=HOSTILE,
        rows=[Row({"axis_buffer": HOSTILE, "seed": 1, "status": "failed", "error": HOSTILE})],
        refused=[HOSTILE],
        origin={"commits": [HOSTILE]},
    )


def test_hostile_text_stays_text_in_html():
    page = WebPage(output.web_page([hostile()], "x"))
    assert page.open == []
    assert page.seen["script"] == 0
    assert page.fetched == []


def test_the_html_page_needs_nothing_but_itself_and_has_every_claim(whole):
    text = output.web_page([replace(whole[1], claims=whole[0].claims)], "eeon experiment report")
    page = WebPage(text)
    assert page.open == []
    assert page.fetched == []
    assert [one for one in page.ids if one.startswith("claim-")] == [
        "claim-m1", "claim-m2", "claim-m3", "claim-m12",
    ]  # fmt: skip
    assert page.seen["svg"] > 5
    assert "<metadata>" not in text


def test_hostile_text_stays_text_in_markdown():
    page = output.pages([hostile()], "x")["README.md"]
    rendered = MarkdownIt("commonmark").enable("table").render(page)
    assert "<script" not in rendered
    assert {link for link in re.findall(r'href="([^"]*)"', rendered) if link != "#claim-m1"} == set()
    assert "no heading</h1>" not in rendered
    assert "<em>" not in rendered
    found = re.findall(r"<tr>\s*<td>.*?</tr>", rendered, re.DOTALL)
    assert [row.count("<td>") for row in found] == [3, 3]


def test_a_run_that_dropped_nothing_is_not_shown_as_one_that_was_not_made():
    found = [row for row in rows("marking", (1,)) if row["axis_queue"] in ("drop_tail", "red_100us")]
    for row in found:
        if row["axis_queue"] == "red_100us" and row["axis_buffer"] == "deep":
            row |= {name: 0 for name in row if name.startswith(("early_dropped", "tail_dropped"))}
    drawn = {one.drawing.name: one.drawing for one in family("marking", found).figures}
    assert svg.document(draw(drawn["marking-drops-ecn"])).count(">none<") == 1


def test_what_lies_beyond_the_cut_is_written_at_the_edge_of_the_axis():
    def drawing(*means: float) -> Drawing:
        values = [Spread(mean, mean, mean, 1) for mean in means]
        panel = Panel("shallow", ["2 ms", "1 ms", "100 µs"], [Series("RED", values, svg.INK)])
        return _drawing(panel, from_zero=False, cut=2.0)

    beyond = draw(drawing(0.9, 1.2, 12.85))
    assert beyond.axes[0].get_ylim() == (pytest.approx(0.85), 2.0)
    assert "12.85 ↑" in svg.document(beyond)
    within = draw(drawing(0.9, 1.2, 1.4))
    assert within.axes[0].get_ylim()[1] < 1.6
    assert "↑" not in svg.document(within)


def _drawing(*panels: Panel, **more: Any) -> Drawing:
    return Drawing("some", "Some", "", "A caption.", "", "", panels, **more)


def _bars(title: str, value: Spread | None, *rules: Rule) -> Panel:
    return Panel(title, ["2 ms"], [Series("RED", [value], svg.INK)], "bars", rules)


def test_a_panel_without_a_number_is_not_drawn_and_the_caption_says_so():
    drawing = _drawing(_bars("shallow", Spread(1.5, 1.4, 1.6, 3)), _bars("deep", None))
    assert [axis.get_title("left") for axis in draw(drawing).axes] == ["shallow"]
    whole = family("marking", rows("marking", (1,)), draw=lambda _: [drawing])
    assert "Not measured, and not drawn: deep." in output.pages([whole], "x")["README.md"].replace("\n", " ")


def test_a_line_joins_points_of_as_many_seeds():
    of_one, of_three = (Spread(1.0, 1.0, 1.0, seeds) for seeds in (1, 3))
    series = Series("ecn", (of_one, of_one, of_three, of_three), "black")
    panel = Panel("shallow", ("a", "b", "c", "d"), (series,))
    [axis] = draw(_drawing(panel)).axes
    marked = [line for line in axis.get_lines() if line.get_marker() == "o"]
    assert [list(line.get_xdata()) for line in marked] == [[0, 1], [2, 3]]


def test_the_number_that_a_paper_names_is_drawn_and_named_in_the_legend():
    figure = draw(_drawing(_bars("shallow", Spread(1.5, 1.4, 1.6, 3), paper(1.35, "at worst, +35 %"))))
    assert 1.35 in [line.get_ydata()[0] for line in figure.axes[0].get_lines()]
    named = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert named == ["RED", "the paper: at worst, +35 %"]


@pytest.mark.parametrize(("parts_of_quick", "told"), [(2, "(1 of 4, worse)"), (1, "(1 of 4)")])
def test_a_scaled_down_set_up_is_held_against_the_scaled_down_form(parts_of_quick, told):
    there = Elsewhere("differs", "", {}, 1, 4, words="five fetches", experiment="setup-quick", seeds=[4])
    [claim] = judged((made("M2", holding(False)),), Results([]), {})
    quick = Judgment("differs", "", {}, parts_of_quick, 4)
    claims = [replace(claim, elsewhere=[there], holding=3, parts=4, scaled_down=quick)]
    page = output.pages([family("marking", [], claims=claims)], "x")["README.md"]
    assert f"| ✘ five fetches† {told} |" in page and "**Reason:** not yet explained" in page
