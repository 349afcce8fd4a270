"""The log of packets compared with BMv2's: the same frames give the same lines of each packet."""

import os
import re
import shutil
from collections import defaultdict

import pytest
from eeon_engine.switch_command import names

from differential.constructs import FOLDER, Run

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
pytestmark = [pytest.mark.system, pytest.mark.skipif(BMV2 is None, reason="simple_switch is not on PATH")]


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
        for path in sorted(FOLDER.glob("*.script"))
        if path.stem not in WIDE and not path.read_text().startswith("# engine only")
    ],
)
def test_each_packet_has_bmv2s_lines(construct, tmp_path, monkeypatch):
    theirs = by_packet(Run(FOLDER / f"{construct}.script").log)
    names.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    ours = by_packet(Run(FOLDER / f"{construct}.script").log)
    assert ours == theirs
    assert ours
