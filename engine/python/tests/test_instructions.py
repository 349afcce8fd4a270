"""The instructions of a P4 pass equal the committed counts, in the four cases of `engine/instructions.py`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
import instructions


@pytest.fixture(scope="module")
def program() -> Path:
    if not instructions.is_possible():
        pytest.skip("valgrind is not installed, so instructions cannot be counted")
    other = instructions.differs(instructions.committed()[0], instructions.tools())
    if other:
        pytest.skip(f"counts are not comparable with those in engine/instructions.json: {other}")
    built: Path = instructions.build()
    return built


@pytest.mark.nightly
@pytest.mark.parametrize("case", instructions.CASES)
def test_a_pass_takes_as_many_instructions_as_is_committed(program, case):
    counted = instructions.count(program, case)
    assert instructions.verdict(case, counted, instructions.committed()[1][case]) == ""


def test_a_count_beyond_the_tolerance_on_either_side_is_told_with_both_numbers_and_how_to_record_it():
    assert instructions.verdict("replay", 1029, 1000) == instructions.verdict("replay", 971, 1000) == ""
    for counted, sign in [(1031, "+3.1%"), (969, "-3.1%")]:
        told = instructions.verdict("replay", counted, 1000)
        assert all(part in told for part in ["replay", f"{counted:,}", "1,000", sign, instructions.RECORD])


@pytest.mark.system
def test_counts_by_other_tools_are_not_compared_and_the_tool_is_named():
    here = instructions.tools() if instructions.is_possible() else {"rustc": "rustc 1.95.0"}
    assert instructions.differs(here, here) == ""
    assert "rustc is" in instructions.differs({**here, "rustc": "rustc 1.84.0"}, here)
