"""The guide and other pages of docs/ are true: their commands have the output that they show."""

import shutil
from pathlib import Path

import pytest
from guide_document import alike, blocks
from guide_reader import Reader
from guide_refresh import refresh

pytestmark = pytest.mark.system


ROOT = Path(__file__).resolve().parents[2]
PAGES = {"run/guide.md": 25, "p4/explain.md": 5, "p4/lab.md": 2, "run/security.md": 4}
"""Each with its number of commands."""


@pytest.mark.parametrize("page", PAGES)
def test_every_command_prints_what_the_page_shows(page, tmp_path):
    copy = Path(shutil.copy(ROOT / "docs" / page, tmp_path))
    assert sum(len(block.commands) for block in blocks(copy.read_text(encoding="utf-8"))) >= PAGES[page]
    with Reader(tmp_path) as reader:
        assert refresh(copy, reader) == [], "`make guide` puts in what is printed now"


def test_an_output_that_differs_in_more_than_times_and_order_is_noticed():
    shown = "leaf1: written\nleaf2: written\nmade 2026-11-22T01:17:14+00:00, 4 to modify\n"
    assert alike(
        shown, "leaf2: written\nleaf1: written\nmade 2027-01-01T00:00:00+00:00, 4 to modify", loose=False
    )
    assert not alike(shown, shown.replace("4 to modify", "5 to modify"), loose=False)
    assert not alike(shown, shown.replace("leaf2", "leaf3"), loose=False)
    assert alike("b\n", "a\nb\n", loose=True) and not alike("c\n", "a\nb\n", loose=True)
    assert alike("", "", loose=True) and not alike("", "a\n", loose=True)
