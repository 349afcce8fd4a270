"""The log of packets compared with BMv2's: the same frames give the same lines of each packet."""

import os
import re
import shutil
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from eeon_engine.switch_command import names

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "simple_switch/tests/constructs"))
from confirm_on_bmv2 import Bench, ports_of, statements

CONSTRUCTS = Path(__file__).resolve().parents[2] / "simple_switch/tests/constructs"
BMV2 = shutil.which("simple_switch")
SOME = ("clone", "multicast", "recirculate", "resubmit", "checksums", "header_stack", "action_selector")
LINE = re.compile(r"\[\d\d:\d\d:\d\d\.\d+\] \[bmv2\] \[([A-Z])\] \[thread \d+\] (?:\[([\d.]+)\] \[cxt 0\] )?")
LEFT_OUT = re.compile(
    # Random values, clock times, and lines that this log omits according to docs/LIMITATIONS.md.
    r"random\(|Executing meter|Dropping packet: |Parser set: setting field '\S*timestamp"
    r"|.* needs to be a multiple of 8"
)
WIDE = ("wide_arithmetic", "wide_keys")
"""They have values of more than 128 bits, of which a journey has only the low bits."""
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(BMV2 is None, reason="simple_switch is not on PATH"),
]


def log_of(construct: str, folder: Path) -> dict[str, list[str]]:
    """Returns the lines of each packet, by its name, from the first `simple_switch` on PATH."""
    folder.mkdir()
    lines = statements(CONSTRUCTS / f"{construct}.script")
    sources = {int(line.split()[1]) for line in lines if line.startswith("packet")}
    switch = Bench(CONSTRUCTS / f"{construct}.json", ports_of(lines), sources, folder)
    try:
        for line in lines:
            keyword, _, rest = line.partition(" ")
            if keyword == "packet":
                port, _, data = rest.partition(" ")
                switch.packet(int(port), bytes.fromhex(data))
            elif keyword not in ("expect", "check"):
                switch.command(line)
    finally:
        switch.close()
    return by_packet((folder / "switch.log.txt").read_text(errors="replace"))


def by_packet(text: str) -> dict[str, list[str]]:
    """Returns a log's lines by packet; a line without a prefix belongs to the line before."""
    found: dict[str, list[str]] = defaultdict(list)
    heads = list(LINE.finditer(text))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        told = text[head.end() : None if following is None else following.start()].rstrip("\n")
        if head[2] is not None and not LEFT_OUT.match(told):
            # BMv2 lists a group's members after its index. A hash modulo 0 is one modulo 1.
            told = told.split("Group members:")[0].rstrip().replace("max=0)", "max=1)")
            found[head[2]].append(f"{head[1]} {told}")
    return found


@pytest.mark.parametrize(
    "construct",
    [
        pytest.param(path.stem, marks=[] if path.stem in SOME else pytest.mark.nightly)
        for path in sorted(CONSTRUCTS.glob("*.script"))
        if path.stem not in WIDE and not path.read_text().startswith("# engine only")
    ],
)
def test_each_packet_has_bmv2s_lines(construct: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = log_of(construct, tmp_path / "bmv2")
    names.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    ours = log_of(construct, tmp_path / "engine")
    assert ours == theirs
