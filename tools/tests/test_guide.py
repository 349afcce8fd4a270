"""docs/run/guide.md is true: its commands have the output that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from guide_document import alike, blocks
from guide_reader import Reader

pytestmark = pytest.mark.system

pytest.importorskip("eeon_engine", reason="the engine is not installed; `make setup` builds it")

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "run" / "guide.md"


def test_every_command_of_the_guide_prints_what_the_guide_shows(tmp_path):
    reader = Reader(tmp_path)
    try:
        for block in blocks(GUIDE.read_text(encoding="utf-8")):
            outputs = reader.do(block)
            for (command, shown), (_, printed, _) in zip(block.commands, outputs or [], strict=False):
                assert block.agrees(shown, printed), (
                    f"{command or block.words}: `make guide` puts in what is printed now:\n{printed}"
                )
            if outputs is not None:
                command, printed, code = outputs[-1]
                assert code == int(block.words.get("exit", "0")), f"{command}\n{printed}"
    finally:
        reader.close()


def test_an_output_that_differs_in_more_than_times_and_order_is_noticed():
    shown = "leaf1: written\nleaf2: written\nmade 2026-11-22T01:17:14+00:00, 4 to modify\n"
    assert alike(
        shown, "leaf2: written\nleaf1: written\nmade 2027-01-01T00:00:00+00:00, 4 to modify", loose=False
    )
    assert not alike(shown, shown.replace("4 to modify", "5 to modify"), loose=False)
    assert not alike(shown, shown.replace("leaf2", "leaf3"), loose=False)
    assert alike("b\n", "a\nb\n", loose=True) and not alike("c\n", "a\nb\n", loose=True)
    assert alike("", "", loose=True) and not alike("", "a\n", loose=True)
