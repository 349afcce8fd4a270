"""`eeon experiment report` from files: an experiment, results in a store, findings, assumptions."""

import json
import shutil
from pathlib import Path
from typing import Any

import made_runs
import pytest
from eeon_experiments import files, shipped
from eeon_experiments.expand import expand
from eeon_experiments.report import family as families
from eeon_experiments.report import gather
from eeon_experiments.results import Row
from eeon_experiments.versions import versions
from made_experiments import TEXTS
from made_runs import rows

from control_plane.tests.eeon_command import eeon

pytestmark = pytest.mark.slow

REPORT = ("experiment", "report")
EXPERIMENT = TEXTS["coalescing"]
SETUP = TEXTS["set-up of coalescing"]
CLAIMS = """\
from eeon_experiments.claims import claim
from eeon_experiments.claims.model import Check, Checks

from .numbers import LEGACY

_FOUND = Checks([Check("6.1 instead of 5", False)], {"legacy": LEGACY})
CLAIMS = (claim("J1", "legacy above 5x ideal", "thesis 7.4", "5 to 6", lambda _: _FOUND),)
"""


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Returns (folder of experiments, folder of results)."""
    experiments, results = tmp_path / "experiments", tmp_path / "results"
    own = experiments / "eee_ecn"
    own.mkdir(parents=True)
    (own / "experiment.yaml").write_text(EXPERIMENT)
    (own / "setup.yaml").write_text(SETUP)
    (own / "claims.py").write_text(CLAIMS)
    (own / "numbers.py").write_text("LEGACY = 6.1\n")
    shutil.copy(shipped.folder() / "eee_ecn" / "figures.yaml", own)
    (own / "findings.yaml").write_text("J1: {reason: Ports are idle., evidence: busy 4 %}\n")
    monkeypatch.setattr(shipped, "_PLACES", (experiments,))
    # A name means a folder here first, and the experiments' folder has one with this name.
    monkeypatch.chdir(tmp_path)
    return experiments, results


AXES = ("buffer", "control", "eee")


def keep(results: Path, made: list[dict[str, Any]]) -> None:
    made_runs.keep(results / "eee_ecn", "eee_ecn", [Row(row) for row in made], AXES)


def test_a_family_is_read_from_its_files(folders):
    _, results = folders
    failed = {"status": "failed", "error": "time limit of 60 s"}
    made = rows("eee_ecn", (1,))
    made[0] |= failed
    made[1] |= {"engine_digest": "d" * 64}
    keep(results, made)
    family = gather.family("eee_ecn", results)
    assert family.base.splitlines()[0] == "base:  # every run"
    assert "# a comment that matters" in family.base
    assert "axes" not in family.base
    assert [one.sentence() for one in family.setup.assumptions] == [
        "Links: a delay of 500 ns. The thesis does not say.",
        "Delayed ACKs: off (ns-2).",
    ]
    assert family.setup.table() == (
        ("what", "value", "source"),
        [("fabric", "80 nodes", "table 7.1"), ("`tcp`", "`topology: leaf-spine-4`", "")],
    )
    assert [row["error"] for row in family.failed] == ["time limit of 60 s"]
    assert len(family.refused) == 1 and "d" * 12 in family.refused[0]
    assert len(family.runs) == len(made) - 2
    assert family.origin["commits"] == ["c" * 40]
    assert family.claims[0].finding is not None
    assert family.claims[0].finding.reason == "Ports are idle."


def test_without_results_the_form_that_is_asked_for_has_no_runs_and_says_what_is_planned(tmp_path):
    for form, is_quick in (("", False), (families.QUICK, True)):
        family = gather.family("eee_ecn", tmp_path, form)
        points = expand(files.load("eee_ecn"), versions(), quick=is_quick)
        assert (family.quick, family.planned) == (is_quick, len(points))
        assert (len(family.runs), family.failed, family.origin) == (0, [], {"quick": is_quick})


def test_the_command_writes_page_figures_and_data_that_it_can_be_made_from_again(folders, tmp_path):
    keep(folders[1], rows("eee_ecn", (1,)))
    output, again, html = tmp_path / "page", tmp_path / "again", tmp_path / "page.html"
    done = eeon(*REPORT, "--results", str(folders[1]), "-o", str(output), "--html", str(html), code=0)
    assert "0 reproduced, 1 differs, 0 not measured" in done.output
    there = {str(path.relative_to(output)): path.read_bytes() for path in output.rglob("*") if path.is_file()}
    assert {"README.md", "data/claims.json", "data/eee_ecn/rows.csv.xz", "data/eee_ecn/manifest.json"} < set(
        there
    )
    assert json.loads(there["data/claims.json"])["claims"][0]["numbers"] == {"legacy": 6.1}
    assert html.read_text().startswith("<!DOCTYPE html>")
    assert str(tmp_path) not in there["README.md"].decode()

    eeon(*REPORT, "--results", str(output / "data"), "-o", str(again), code=0)
    assert {
        str(path.relative_to(again)): path.read_bytes() for path in again.rglob("*") if path.is_file()
    } == there


def test_without_output_the_page_goes_below_out_and_never_over_the_committed_one(
    folders, tmp_path, monkeypatch
):
    keep(folders[1], rows("eee_ecn", (1,)))
    committed = tmp_path / "docs" / "results" / "README.md"
    committed.parent.mkdir(parents=True)
    committed.write_text("committed")
    monkeypatch.chdir(tmp_path)
    eeon(*REPORT, "--results", str(folders[1]), code=0)
    assert committed.read_text() == "committed"
    assert (tmp_path / "out" / "report" / "README.md").is_file()


def test_the_quick_form_has_its_own_folder_and_is_called_so(folders, tmp_path):
    keep(folders[1], rows("eee_ecn", (1,)))
    output = tmp_path / "page"
    words = (*REPORT, "--quick", "--results", str(folders[1]), "-o", str(output))
    eeon(*words, code=0)
    assert "no finished runs" in (output / "README.md").read_text()
    made = [Row({**row, "quick": True}) for row in rows("eee_ecn", (1,))[:4]]
    made_runs.keep(folders[1] / "eee_ecn-quick", "eee_ecn", made, AXES, quick=True)
    eeon(*words, code=0)
    page = (output / "README.md").read_text()
    assert "scaled-down form" in page and "eeon experiment run eee_ecn --quick" in page.replace("\\_", "_")
    assert "`data/NAME-quick/rows.csv.xz`" in page
    assert (output / "data" / "eee_ecn-quick" / "rows.csv.xz").is_file()


def test_values_of_which_every_point_is_missing_stand_for_their_points():
    planned = [{"queue": queue, "seed": seed} for queue in ("red", "codel") for seed in ("4", "5", "6")]
    missing = [one for one in planned if one["seed"] == "6" or one == {"queue": "red", "seed": "5"}]
    assert list(gather._in_words(missing, planned)) == ["all 2 of seed 6", "queue red, seed 5"]
    assert list(gather._in_words(planned, planned)) == ["all 3 of queue red", "all 3 of queue codel"]
    assert list(gather._in_words([], planned)) == []
