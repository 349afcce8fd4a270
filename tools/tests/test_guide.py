"""The guide and other pages of docs/ are true: their commands have the output that they show."""

import shutil
from pathlib import Path

import pytest
from guide_document import alike, blocks
from guide_reader import Reader

pytestmark = pytest.mark.system


ROOT = Path(__file__).resolve().parents[2]
PAGES = {"run/guide.md": 25, "p4/explain.md": 5, "p4/lab.md": 2, "run/security.md": 4}
"""Each with its number of commands."""


@pytest.mark.parametrize("page", PAGES)
def test_every_command_prints_what_the_page_shows(page: str, tmp_path: Path) -> None:
    ran, left_out = 0, 0
    with Reader(tmp_path) as reader:
        if page == "p4/lab.md":
            reader.folder = shutil.copytree(ROOT / "examples/own_program", reader.folder / "own_program")
        for block in blocks((ROOT / "docs" / page).read_text(encoding="utf-8")):
            outputs = reader.do(block)
            left_out += block.kind == "console" and outputs is None
            expected = [0] * (len(block.commands) - 1) + [int(block.words.get("exit", "0"))]
            rows = zip(block.commands, outputs or [], expected, strict=False)
            for (command, shown), (_, printed, code), wanted in rows:
                assert block.agrees(shown, printed), (
                    f"{command or block.words}: `make guide` puts in what is printed now:\n{printed}"
                )
                assert code == wanted, f"{command}\n{printed}"
                ran += 1
    assert ran >= PAGES[page] or left_out


def test_an_output_that_differs_in_more_than_times_and_order_is_noticed():
    shown = "leaf1: written\nleaf2: written\nmade 2026-11-22T01:17:14+00:00, 4 to modify\n"
    assert alike(
        shown, "leaf2: written\nleaf1: written\nmade 2027-01-01T00:00:00+00:00, 4 to modify", loose=False
    )
    assert not alike(shown, shown.replace("4 to modify", "5 to modify"), loose=False)
    assert not alike(shown, shown.replace("leaf2", "leaf3"), loose=False)
    assert alike("b\n", "a\nb\n", loose=True) and not alike("c\n", "a\nb\n", loose=True)
    assert alike("", "", loose=True) and not alike("", "a\n", loose=True)
