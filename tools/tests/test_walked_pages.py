"""Pages of docs/ apart from the guide whose commands have the shown outputs."""

from __future__ import annotations

from pathlib import Path

import pytest
from guide_document import blocks
from guide_reader import Reader

pytestmark = pytest.mark.system

pytest.importorskip("eeon_engine", reason="the engine is not installed; `make setup` builds it")

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("page", "commands"), [("p4/explain.md", 5), ("run/security.md", 4)])
def test_every_command_prints_what_the_page_shows(page: str, commands: int, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    ran, left_out = 0, 0
    try:
        for block in blocks((DOCUMENTS / page).read_text(encoding="utf-8")):
            outputs = reader.do(block)
            left_out += block.kind == "console" and outputs is None
            for (command, shown), (_, printed, code) in zip(block.commands, outputs or [], strict=False):
                assert code == 0, f"{command}\n{printed}"
                assert block.agrees(shown, printed), (
                    f"{command}: `make guide` puts in what is printed now:\n{printed}"
                )
                ran += 1
    finally:
        reader.close()
    assert ran >= commands or left_out
