"""docs/results: its pages are what their data, judges and findings give today; nothing else is kept."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from eeon_experiments.report import gather, output
from eeon_experiments.report.family import Family

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
DATA = RESULTS / output.DATA
PICTURES = {".svg", ".png", ".jpg", ".gif"}


@dataclass(frozen=True)
class Page:
    """A page that is committed, and what it is made from."""

    folder: Path
    families: list[Family]

    @property
    def text(self) -> str:
        """What stands in it."""
        return (self.folder / output.PAGE).read_text(encoding="utf-8")

    @property
    def command(self) -> str:
        """The command that it says makes it."""
        [found] = re.findall(r"^    (eeon experiment report .*--results .*)$", self.text, re.MULTILINE)
        return found


@pytest.fixture(scope="module", params=[("", gather.FULL), ("quick", gather.QUICK)], ids=["full", "quick"])
def page(request: pytest.FixtureRequest) -> Page:
    place, form = request.param
    folder = RESULTS / place
    claims = json.loads((folder / output.DATA / output.CLAIMS).read_text(encoding="utf-8"))
    return Page(folder, [gather.family(name, DATA, form) for name in claims["experiments"]])


def test_a_page_is_what_its_data_give(page: Page) -> None:
    # Who draws it again may have other versions of what draws.
    def without_versions(text: str) -> str:
        return re.sub(r"^\* Drawn with [^*]*", "", text, flags=re.MULTILINE)

    made = output.page(page.families, page.command, output.rows_of(page.families, page.folder))
    assert without_versions(made) == without_versions(page.text), f"run `{page.command}`"


def test_the_claims_for_machines_are_what_the_data_give(page: Page) -> None:
    written = (page.folder / output.DATA / output.CLAIMS).read_text(encoding="utf-8")
    assert output.claims_json(page.families) == written, f"run `{page.command}`"


def test_the_data_that_a_page_names_are_there(page: Page) -> None:
    [named] = re.findall(r"`([^`]*)/rows\.parquet`", page.text)
    for family in page.families:
        folder = page.folder / named.replace("NAME", family.name)
        assert folder.resolve() == family.results.resolve()
        assert (folder / "rows.parquet").is_file() and (folder / "manifest.json").is_file()


def test_no_data_stand_twice_and_nothing_is_large() -> None:
    seen: dict[str, Path] = {}
    for path in sorted(path for path in RESULTS.rglob("*") if path.is_file()):
        content = path.read_bytes()
        assert len(content) < output.SIZE_LIMIT_BYTES
        assert seen.setdefault(hashlib.sha256(content).hexdigest(), path) == path, f"{path} is there twice"


def test_every_picture_that_a_page_shows_is_there_and_every_picture_is_shown() -> None:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("this is no checkout")
    there = {ROOT / line for line in listed.stdout.splitlines()}
    shown = set()
    for path in sorted(path for path in there if path.suffix == ".md" and path.is_file()):
        for link in re.findall(r"!\[[^\]]*\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
            if "://" not in link:
                shown.add((path.parent / link).resolve())
    pictures = {path for path in there if path.suffix in PICTURES and path.is_file()}
    assert pictures - shown == set(), "no page shows these; remove them"
    assert shown - pictures == set(), "pages show these, and they are not there"
