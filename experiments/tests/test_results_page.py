"""docs/results: its pages match their data, judges and findings; it has no other files."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest
from eeon_experiments import shipped
from eeon_experiments.report import captions, gather, output
from eeon_experiments.report.family import Family

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
DATA = RESULTS / "data"
PICTURES = {".svg", ".png", ".jpg", ".gif"}


FIRST = (RESULTS / output.PAGE).read_text(encoding="utf-8")
[COMMAND] = re.findall(r"^    (eeon experiment report .*--results .*)$", FIRST, re.MULTILINE)
"""The command in the first page that rebuilds it."""


@pytest.fixture(scope="module")
def families() -> list[Family]:
    claims = json.loads((RESULTS / output.CLAIMS).read_text(encoding="utf-8"))
    return [gather.family(name, DATA) for name in claims["experiments"]]


def test_pages_are_what_their_data_give_and_there_are_no_others(families):
    # A rebuild may use other versions of the drawing packages.
    def without_versions(text: str) -> str:
        return re.sub(r"^\* Drawn with [^*]*", "", text, flags=re.MULTILINE)

    made = output.pages(families, COMMAND)
    assert made.keys() == {path.name for path in RESULTS.glob("*.md")}
    for name, text in made.items():
        written = (RESULTS / name).read_text(encoding="utf-8")
        assert without_versions(text) == without_versions(written), f"{name}: run `{COMMAND}`"


def test_the_first_page_prints_on_five_sheets():
    # 60 lines of 100 characters per sheet; a table counts as text, a link as its words.
    words = re.sub(r"\]\([^)]*\)", "]", FIRST)
    lines = sum(max(1, -(-len(line) // 100)) for line in words.splitlines())
    assert lines <= 5 * 60


def test_the_projects_readme_has_numbers_of_the_findings():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    told = readme.split("## What came out")[1]
    findings = FIRST.split("## Claims")[0]
    numbers = re.findall(r"\d+(?:\.\d+)? %", told)
    assert len(numbers) >= 3
    for number in numbers:
        assert re.search(rf"(?<![\d.]){re.escape(number)}", findings), f"README.md: {number}"
    claims = json.loads((RESULTS / output.CLAIMS).read_text(encoding="utf-8"))["claims"]
    assert f"hold {len(claims)} claims" in told


def test_the_claims_for_machines_are_what_the_data_give(families):
    written = (RESULTS / output.CLAIMS).read_text(encoding="utf-8")
    assert output.claims_json(families) == written, f"run `{COMMAND}`"


def test_the_data_that_a_page_names_are_there(families):
    [named] = re.findall(r"`([^`]*)/rows\.csv\.xz`", FIRST)
    for family in families:
        folder = RESULTS / named.replace("NAME", family.name)
        assert folder.resolve() == family.results.resolve()
        there = [(folder / name).is_file() for name in ("rows.csv.xz", "manifest.json")]
        # An experiment that is registered but was not run has a page, but no data.
        assert all(there) if family.rows else not any(there)


def test_every_figure_that_is_written_about_is_drawn(families):
    for family in families:
        folder = shipped.folder() / family.name
        written = captions.Figures(str(folder / "figures.py")).names()
        assert family.draw is not None and written <= {one.name for one in family.draw(family.runs)}


@pytest.mark.system
def test_every_commit_that_made_published_rows_can_be_checked_out():
    """A reader can follow the recipe: its commit is in this history, and had no uncommitted changes."""
    git = ["git", "-C", str(ROOT)]
    shallow = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True)
    if shallow.stdout.strip() != "false":
        pytest.skip("this is not a checkout with its history")
    missing = {}
    for manifest in sorted(DATA.glob("*/manifest.json")):
        for commit in json.loads(manifest.read_text(encoding="utf-8"))["commits"]:
            ancestor = subprocess.run(
                [*git, "merge-base", "--is-ancestor", commit, "HEAD"], capture_output=True
            )
            if ancestor.returncode:
                missing[manifest.parent.name] = commit
    assert missing == {}


def test_no_data_stand_twice_and_nothing_is_large():
    seen: dict[str, Path] = {}
    for path in sorted(path for path in RESULTS.rglob("*") if path.is_file()):
        content = path.read_bytes()
        assert len(content) < output.SIZE_LIMIT_BYTES
        assert seen.setdefault(hashlib.sha256(content).hexdigest(), path) == path, f"{path} is there twice"
    assert sum(path.stat().st_size for path in seen.values()) <= 3_000_000


@pytest.mark.system
def test_every_picture_that_a_page_shows_is_there_and_every_picture_is_shown():
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("this is not a checkout")
    there = {ROOT / line for line in listed.stdout.splitlines()}
    shown = set()
    for path in sorted(path for path in there if path.suffix == ".md" and path.is_file()):
        for link in re.findall(r"!\[[^\]]*\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
            if "://" not in link:
                shown.add((path.parent / link).resolve())
    pictures = {path for path in there if path.suffix in PICTURES and path.is_file()}
    assert pictures - shown == set(), "no page shows these; remove them"
    assert shown - pictures == set(), "pages show these, and they are not there"


def test_every_experiment_that_was_run_shows_its_numbers(families):
    """A page without figures has no numbers from its runs."""
    without = [
        family.name
        for family in families
        if len(family.runs) and "![" not in (RESULTS / f"{family.name}.md").read_text(encoding="utf-8")
    ]
    assert without == []


def test_letters_of_figures_can_be_read_on_a_phone():
    """In a picture as wide as a phone of 390 pixels, letters are at least 7.5 pixels high."""
    small = {}
    for path in sorted(RESULTS.rglob("*.svg")):
        text = path.read_text(encoding="utf-8")
        width = float(re.search(r'viewBox="0 0 ([\d.]+) ', text)[1])
        smallest = min(map(float, re.findall(r"font(?:-size)?: ?([\d.]+)px", text)))
        if smallest * 390 / width < 7.5:
            small[path.name] = smallest * 390 / width
    assert small == {}
