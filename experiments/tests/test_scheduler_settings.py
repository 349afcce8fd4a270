"""A scheduler of flows in an experiment's file: the engine's input, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from eeon_experiments.fabric import spec_of
from eeon_experiments.scheduler import Scheduler
from made_experiments import TINY, points


def with_scheduler(text: str) -> str:
    return TINY.replace("  config: drop_tail", f"  scheduler: {text}\n  config: drop_tail")


@pytest.mark.parametrize("kind", ["fair", "sebf", "scf", "dclas"])
def test_others_are_told_nothing_that_only_flow_chasing_has(kind: str) -> None:
    told = Scheduler.model_validate({"kind": kind}).engine()
    assert told["kind"] == kind and not {"order", "work_conserving", "preempt"} & set(told)


def test_a_run_with_a_scheduler_is_another_run_and_its_fabric_has_it(tmp_path: Path) -> None:
    texts = (TINY, with_scheduler("{kind: fca}"), with_scheduler("{kind: fca, preempt: true}"))
    found = [points(tmp_path, text)[0].run for text in texts]
    assert len({run.id for run in found}) == 3
    specs = [spec_of(*run.parts(), seed=1) for run in found]
    assert "scheduler" not in specs[0]
    assert [spec["scheduler"]["preempt"] for spec in specs[1:]] == [False, True]
