"""Commands on fake switches, and their answers: each scenario of `expected/scenarios/*.yaml`."""

from functools import partial
from pathlib import Path

import pytest
from deeds import Step, World
from eeon_control.cli.show import watch
from fake_p4runtime import FakeFabric
from scenarios import SCENARIOS, do, parameters, wait

pytestmark = pytest.mark.system

FILES = sorted(SCENARIOS.glob("*.yaml"))


@pytest.mark.parametrize("steps", [one for file in FILES for one in parameters(file)])
def test_each_command_has_the_expected_answer(
    steps: list[Step], tmp_path: Path, fakes: FakeFabric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    world = World(tmp_path, fakes)
    monkeypatch.setattr(watch, "sleep", partial(wait, world))
    for step in steps:
        do(world, step)
