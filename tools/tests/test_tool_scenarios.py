"""Commands one after the other: each scenario of `expected/scenarios/*.yaml`."""

import pytest
from tool_scenarios import SCENARIOS, do, scenarios

ALL = [one for file in sorted(SCENARIOS.glob("*.yaml")) for one in scenarios(file)]


@pytest.mark.parametrize("steps", ALL)
def test_each_command_has_its_answer(steps, tmp_path, named_trace):
    for step in steps:
        do(step, tmp_path, named_trace)
