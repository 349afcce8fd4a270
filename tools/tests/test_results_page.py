"""docs/results: the page is what its own data, the judges and the findings give today."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from eeon_tools.experiment.report import gather, output
from eeon_tools.experiment.report.family import Family

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "results"
AGAIN = "run `eeon experiment report --results docs/results/data`"


@pytest.fixture(scope="module")
def families() -> list[Family]:
    claims = FOLDER / output.DATA / output.CLAIMS
    if not claims.is_file():
        pytest.skip(f"{FOLDER} has no data yet")
    names = json.loads(claims.read_text(encoding="utf-8"))["experiments"]
    return [gather.family(name, FOLDER / output.DATA) for name in names]


def test_the_page_is_what_its_data_give(families: list[Family]) -> None:
    written = (FOLDER / output.PAGE).read_text(encoding="utf-8")
    [command] = re.findall(r"^    (eeon experiment report .*--results .*)$", written, re.MULTILINE)

    # Who draws it again may have other versions of what draws.
    def without_versions(text: str) -> str:
        return re.sub(r"^\* Drawn with [^*]*", "", text, flags=re.MULTILINE)

    assert without_versions(output.page(families, command)) == without_versions(written), AGAIN


def test_the_claims_for_machines_are_what_the_data_give(families: list[Family]) -> None:
    written = (FOLDER / output.DATA / output.CLAIMS).read_text(encoding="utf-8")
    assert output.claims_json(families) == written, AGAIN


def test_every_drawing_of_the_page_is_there_and_nothing_is_large(families: list[Family]) -> None:
    written = (FOLDER / output.PAGE).read_text(encoding="utf-8")
    named = set(re.findall(r"\]\((figures/[^)]+)\)", written))
    there = {str(path.relative_to(FOLDER)) for path in (FOLDER / "figures").iterdir()}
    assert named == there, AGAIN
    sizes = {path: path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()}
    assert max(sizes.values()) < output.SIZE_LIMIT_BYTES
