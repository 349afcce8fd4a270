"""Commands and their answers: each scenario of `expected/scenarios/*.yaml`."""

from functools import partial
from pathlib import Path

import pytest
from deeds import Step, World
from eeon_control.cli.show import watch
from eeon_control.fabric import thrift
from scenarios import SCENARIOS, do, has_switches, parameters, wait

FILES = sorted(SCENARIOS.glob("*.yaml"))


@pytest.mark.parametrize("steps", [one for file in FILES for one in parameters(file)])
def test_each_command_has_the_expected_answer(
    steps: list[Step], tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    world = World(tmp_path, request.getfixturevalue("switches4") if has_switches(steps) else None)
    monkeypatch.setattr(watch, "sleep", partial(wait, world))
    monkeypatch.setattr(thrift, "set_queues", world.set_queues)
    for step in steps:
        do(world, step)
