"""README.md: short, and its commands work in the folder of the repository."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from guide_document import blocks
from guide_reader import Reader

pytestmark = pytest.mark.system


ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_read_in_two_minutes():
    assert len(README.splitlines()) < 80
    assert README.count("![") == 1


def test_its_speed_is_that_of_the_measured_comparison_with_bmv2():
    measured = (ROOT / "docs" / "develop" / "performance.md").read_text(encoding="utf-8")
    ratios = [int(ratio) for ratio in re.findall(r"^\| \| ratio \| (\d+) ", measured, re.MULTILINE)]
    assert len(ratios) == 2
    assert f"{min(ratios)} to {max(ratios)} times" in README


def test_each_of_the_three_ways_in_has_three_commands():
    ways = README.partition("## Three ways in")[2].split("\n**You ")[1:]
    commands = [sum(len(block.commands) for block in blocks(way)) for way in ways]
    assert commands == [3, 3, 3]


def test_the_example_of_the_twin_says_what_marks_and_what_drops(tmp_path):
    words = (sys.executable, ROOT / "examples" / "twin.py")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    red, threshold = done.stdout.splitlines()
    assert re.fullmatch(r"red_ect: [1-9]\d* marked, [1-9]\d* dropped early", red)
    assert re.fullmatch(r"mark_threshold: [1-9]\d* marked, 0 dropped early", threshold)


def test_the_ways_in_work_as_they_are_typed(tmp_path):
    with Reader(tmp_path) as reader:
        # A folder like the repository's, so that output does not go into the repository.
        for name in ("examples", "ptf_tests", "p4src"):
            (reader.folder / name).symlink_to(ROOT / name)
        for block in blocks(README):
            for command, printed, code in reader.do(block) or []:
                assert code == 0, f"{command}\n{printed}"
                assert printed.strip(), command
