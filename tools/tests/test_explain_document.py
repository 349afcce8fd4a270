"""docs/p4/explain.md tells the truth: its commands print what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from guide_document import blocks
from guide_reader import Reader

pytestmark = pytest.mark.system

pytest.importorskip("eeon_engine", reason="the engine is not installed; `make setup` builds it")

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "p4" / "explain.md"


def test_every_command_prints_what_the_document_shows(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    ran = 0
    try:
        for block in blocks(DOCUMENT.read_text(encoding="utf-8")):
            for (command, shown), (_, printed, code) in zip(
                block.commands, reader.do(block) or [], strict=True
            ):
                assert code == 0, f"{command}\n{printed}"
                assert block.agrees(shown, printed), (
                    f"{command}: `make guide` puts in what is printed now:\n{printed}"
                )
                ran += 1
    finally:
        reader.close()
    assert ran >= 5
