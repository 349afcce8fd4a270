"""An experiment's folder: its parts, in any place, and messages about mistakes in it."""

from pathlib import Path

import pytest
from eeon_experiments import files, folder, setup, shipped
from eeon_experiments.report import gather, points
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Row, Spread
from eeon_tools.errors import InputError
from eeon_tools.svg import BLUE, INK
from made_experiments import TEXTS

from control_plane.tests.eeon_command import eeon

EXPERIMENT = TEXTS["experiment of ones own"]
CLAIMS = """\
from eeon_experiments.claims import claim
from eeon_experiments.claims.model import Check, Checks

CLAIMS = (claim("X1", "it is so", "here", "always", lambda results: Checks([Check("so", True)], {})),)
"""
FIGURES = """\
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Row, Spread


def drawings(runs):
    return [Drawing("mine", "Mine", "", "", "", "", ())]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Returns a user's folder, outside the experiments that ship."""
    own = tmp_path / "somewhere" / "mine"
    own.mkdir(parents=True)
    (own / "experiment.yaml").write_text(EXPERIMENT)
    return own


def test_a_folder_of_ones_own_brings_its_claims_and_figures_to_the_report(mine, tmp_path):
    (mine / "claims.py").write_text(CLAIMS)
    (mine / "figures.py").write_text(FIGURES)
    output = tmp_path / "page"
    eeon("experiment", "report", str(mine), "--results", str(tmp_path), "-o", str(output), code=0)
    page = (output / "README.md").read_text()
    assert "#### X1: ✔ reproduced" in page
    assert '<a id="figure-mine"></a>' in page
    assert f"eeon experiment report {mine} --results {tmp_path} --output {output}" in page
    assert "docs/results" not in page


@pytest.mark.parametrize(
    ("examine", "told"),
    [
        ("lambda results: 1 / 0", "the judge failed: ZeroDivisionError: division by zero"),
        ("lambda results: Checks([], {})", "Not measured: the judge checked nothing."),
    ],
)
def test_a_judge_of_ones_own_that_fails_or_checks_nothing_has_not_measured(mine, tmp_path, examine, told):
    (mine / "claims.py").write_text(CLAIMS.partition("lambda")[0] + f"{examine}),)\n")
    [claim] = gather.family(str(mine), tmp_path).claims
    assert (claim.outcome, claim.measured) == ("not measured", told)


def test_a_figure_has_the_texts_of_the_file_beside_it_unless_they_are_computed(mine):
    (mine / "figures.yaml").write_text("own: {title: Mine, caption: Told., cut: 2.5, from_zero: false}")
    figure = Figures(str(mine / "figures.py"))
    made = figure("own", [], y_label="ms")
    assert made == Drawing("own", "Mine", "", "Told.", "", "ms", [], cut=2.5, from_zero=False)
    with pytest.raises(InputError, match=r"figures\.yaml: other: is missing"):
        figure("other", [])


def test_a_figure_of_the_file_asks_for_numbers_that_there_are_in_colours_with_names(mine):
    series = "series: {a: {colour: blue}, b: {colour: '#123456'}, c: {colour: ink}}"
    caption = "caption: [Told., 'It has {runtime_seconds}.', 'It has {fct_mean_seconds}.']"
    text = f"one: {{title: One, {caption}, number: passes, positions: {{all: {{}}}}, {series}}}"
    (mine / "figures.yaml").write_text(text)
    (mine / "figures.py").write_text('NUMBERS = {"passes": lambda run: run.number("p4_passes")}')
    row = {"run_id": "1", "seed": 1, "status": "finished", "p4_passes": 4, "fct_mean_seconds": 1.5}
    runs = Runs([Row(row)])
    draw = folder.figures(mine)
    assert draw is not None
    [drawn] = draw(runs)
    assert drawn.caption == "Told. It has 1.5.", "a sentence without its number is left out"
    [panel] = drawn.panels
    assert [one.colour for one in panel.series] == [BLUE, "#123456", INK]
    assert [one.values for one in panel.series] == [[Spread(4.0, 4.0, 4.0, 1)]] * 3
    (mine / "figures.yaml").write_text(text.replace("passes", "passe"))
    draw = folder.figures(mine)
    assert draw is not None
    with pytest.raises(InputError, match=r"passe: is neither a column .*did you mean passes"):
        draw(runs)


def test_a_folder_without_figures_has_those_of_its_points(mine, tmp_path):
    family = gather.family(str(mine), tmp_path)
    assert (family.claims, family.draw, family.setup) == ([], points.drawings, setup.Setup())
    (mine / "claims.py").write_text(CLAIMS)
    assert gather.family(str(mine), tmp_path).draw == points.drawings


def test_the_python_beside_a_file_of_another_name_is_not_run(mine, tmp_path):
    (mine / "claims.py").write_text("raise SystemExit")
    alone = mine / "alone.yaml"
    alone.write_text(EXPERIMENT)
    assert files.load(alone).folder is None
    assert gather.family(str(alone), tmp_path).claims == []


def test_two_folders_have_modules_of_the_same_name(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "points.py").write_text(f"HERE = {name!r}\n")
        (tmp_path / name / "more.py").write_text("from .points import HERE\n")
    found = [folder.module(tmp_path / name, "more") for name in ("one", "other")]
    assert [one and one.HERE for one in found] == ["one", "other"]


def test_a_setting_is_told_with_the_value_that_the_experiment_has(mine):
    (mine / setup.FILE).write_text(
        "assumptions: [{what: least RTO, settings: [tcp.min_rto], source: ns-2}]\n"
    )
    [one] = setup.load(mine).assumptions
    assert one.sentence() == "Least RTO: `tcp.min_rto: 10ms` (ns-2)."


def test_the_pages_order_has_every_experiment_that_ships_once():
    assert sorted(shipped.in_order()) == shipped.names()
    assert shipped.in_order()[0] == "marking"
