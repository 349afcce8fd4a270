"""Commands one after the other: each scenario of `expected/scenarios/*.yaml`."""

from pathlib import Path

import pytest
from tool_scenarios import SCENARIOS, Step, Trace, do, scenarios

ALL = [one for file in sorted(SCENARIOS.glob("*.yaml")) for one in scenarios(file)]


@pytest.mark.parametrize("steps", ALL)
def test_each_command_has_its_answer(steps: list[Step], tmp_path: Path, named_trace: Trace) -> None:
    for step in steps:
        do(step, tmp_path, named_trace)
