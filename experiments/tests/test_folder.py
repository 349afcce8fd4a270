"""An experiment's folder: its parts, in any place, and messages about mistakes in it."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_experiments import files, folder, setup, shipped
from eeon_experiments.cli.report import report
from eeon_experiments.report import gather, points
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Row, Spread
from eeon_tools.errors import InputError
from eeon_tools.svg import BLUE, INK
from made_experiments import TEXTS

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


def test_a_folder_of_ones_own_brings_its_claims_and_figures_to_the_report(mine: Path, tmp_path: Path) -> None:
    (mine / "claims.py").write_text(CLAIMS)
    (mine / "figures.py").write_text(FIGURES)
    output = tmp_path / "page"
    done = CliRunner().invoke(report, [str(mine), "--results", str(tmp_path), "-o", str(output)])
    assert done.exit_code == 0, done.output
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
def test_a_judge_of_ones_own_that_fails_or_checks_nothing_has_not_measured(
    mine: Path, tmp_path: Path, examine: str, told: str
) -> None:
    (mine / "claims.py").write_text(CLAIMS.partition("lambda")[0] + f"{examine}),)\n")
    [claim] = gather.family(str(mine), tmp_path).claims
    assert (claim.outcome, claim.measured) == ("not measured", told)


X1 = "X1: {statement: it is so, where: here, band: above 0"
PARTS = ", parts: [{says: time, number: runtime_seconds, where: [{}], within: [0, 1]}]"


@pytest.mark.parametrize(
    ("code", "told", "says"),
    [
        (CLAIMS, f"{X1}{PARTS}}}", "CLAIMS: leaves the parts in claims.yaml without effect"),
        (None, f"{X1}}}", "JUDGES: must have a judge for each claim in claims.yaml that has no parts"),
    ],
)
def test_a_claim_that_nothing_would_judge_is_refused(
    mine: Path, code: str | None, told: str, says: str
) -> None:
    (mine / "claims.yaml").write_text(told)
    if code is not None:
        (mine / "claims.py").write_text(code)
    with pytest.raises(InputError, match=says):
        folder.claims(mine)


def test_a_figure_has_the_texts_of_the_file_beside_it_unless_they_are_computed(mine: Path) -> None:
    (mine / "figures.yaml").write_text("own: {title: Mine, caption: Told., cut: 2.5, from_zero: false}")
    figure = Figures(str(mine / "figures.py"))
    made = figure("own", [], y_label="ms")
    assert made == Drawing("own", "Mine", "", "Told.", "", "ms", [], cut=2.5, from_zero=False)
    with pytest.raises(InputError, match=r"figures\.yaml: other: is missing"):
        figure("other", [])


PLOTTED = TEXTS["figures"]


def test_a_figure_of_the_file_has_the_numbers_that_it_asks_for(mine: Path) -> None:
    (mine / "figures.yaml").write_text(PLOTTED)
    (mine / "figures.py").write_text('NUMBERS = {"passes": lambda run: run.number("p4_passes")}')
    rows = [
        {"run_id": "1", "seed": seed, "status": "finished", "axis_queue": queue, "axis_load": load}
        | {
            "runtime_seconds": seconds * (10 if load == "high" else 1),
            "p4_passes": 4,
            "fct_mean_seconds": 1.5,
        }
        for queue, seed, seconds in (("tail", 1, 2.0), ("red", 1, 1.0), ("red", 2, 3.0))
        for load in ("low", "high")
    ]
    draw = folder.figures(mine)
    assert draw is not None
    [drawn] = draw(Runs(Row(row) for row in rows))
    assert drawn.caption == "As told. RED has 2.0 (1.0 to 3.0)."
    low, high = drawn.panels
    assert (low.title, low.kind, list(low.positions)) == ("all", "bars", ["drop tail", "RED"])
    means = {one.name: [value and value.mean for value in one.values] for one in low.series}
    assert means == {
        "against drop tail": [1.0, 0.5],
        "in ms a pass": [500.0, 500.0],
        "of both loads": [11.0, 11.0],
    }
    assert [one.colour for one in low.series] == [BLUE, "#123456", INK]
    assert [(rule.name, rule.value) for rule in low.rules] == [
        ("one", 1.0),
        ("the paper: twice", 2.0),
        ("high load", 20.0),
    ]
    assert [one.values for one in high.series][1:2] == [[Spread(375.0, 375.0, 375.0, 2)]]
    (mine / "figures.yaml").write_text(PLOTTED.replace("passes", "passe"))
    draw = folder.figures(mine)
    assert draw is not None
    with pytest.raises(InputError, match=r"passe: is neither a column .*did you mean passes"):
        draw(Runs(Row(row) for row in rows))


def test_a_folder_without_figures_has_those_of_its_points(mine: Path, tmp_path: Path) -> None:
    family = gather.family(str(mine), tmp_path)
    assert (family.claims, family.draw, family.setup) == ([], points.drawings, setup.Setup())
    (mine / "claims.py").write_text(CLAIMS)
    assert gather.family(str(mine), tmp_path).draw == points.drawings


def test_the_python_beside_a_file_of_another_name_is_not_run(mine: Path, tmp_path: Path) -> None:
    (mine / "claims.py").write_text("raise SystemExit")
    alone = mine / "alone.yaml"
    alone.write_text(EXPERIMENT)
    assert files.load(alone).folder is None
    assert gather.family(str(alone), tmp_path).claims == []


def test_two_folders_have_modules_of_the_same_name(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "points.py").write_text(f"HERE = {name!r}\n")
        (tmp_path / name / "more.py").write_text("from .points import HERE\n")
    found = [folder.module(tmp_path / name, "more") for name in ("one", "other")]
    assert [one and one.HERE for one in found] == ["one", "other"]


def test_a_setting_is_told_with_the_value_that_the_experiment_has(mine: Path) -> None:
    (mine / setup.FILE).write_text(
        "assumptions: [{what: least RTO, settings: [tcp.min_rto], source: ns-2}]\n"
    )
    [one] = setup.load(mine).assumptions
    assert one.sentence() == "Least RTO: `tcp.min_rto: 10ms` (ns-2)."


def test_the_pages_order_has_every_experiment_that_ships_once() -> None:
    assert sorted(shipped.in_order()) == shipped.names()
    assert shipped.in_order()[0] == "marking"
