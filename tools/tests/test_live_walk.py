"""docs/run/live-fabric.md: its commands work as printed, on the engine and on BMv2. Skipped with a message
without root."""

import json
import re
from pathlib import Path

import pytest
from eeon_tools.live import state
from guide_document import blocks
from guide_reader import Reader
from live_fabrics import NEEDS_FABRIC, remains

PAGE = Path(__file__).resolve().parents[2] / "docs" / "run" / "live-fabric.md"

pytestmark = NEEDS_FABRIC


def test_the_commands_of_the_page_work_as_they_are_typed(tmp_path):
    if state.folder("eeon").exists():
        pytest.skip("a fabric of the page's name, eeon, is up")
    typed: dict[str, str] = {}
    with Reader(tmp_path) as reader:
        for block in blocks(PAGE.read_text(encoding="utf-8")):
            for command, printed, code in reader.do(block) or []:
                assert code == 0, f"{command}\n{printed}"
                typed[command] = printed
    assert remains("eeon") == []
    run = json.loads((reader.folder / "run.json").read_text())
    packets = run["packets"].values()
    assert sum(one["marked"] for one in packets) > 0
    assert sum(one["sent"] for one in packets) == 12_576
    # BMv2, if installed, was configured with sleep and wake times in whole microseconds, and has marked.
    applied = [printed for command, printed in typed.items() if "-c bmv2" in command]
    for printed in applied:
        assert "rounded up to this target's 1us tick: wake 30.5us to 31us, wake 16.5us to 17us" in printed
    replays = [printed for command, printed in typed.items() if command.startswith("eeon replay")]
    assert len(replays) == 1 + len(applied)
    for printed in replays:
        (data,) = re.findall(r"^data +8,256 +[0-9,]+ +([0-9,]+)", printed, re.MULTILINE)
        assert data != "0", printed
