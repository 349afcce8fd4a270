"""A scheduler of flows in an experiment's file: what the engine is told, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from eeon_control.errors import InputError
from eeon_experiments.fabric import spec_of
from eeon_experiments.scheduler import Scheduler
from made_experiments import TINY, points
from pydantic import ValidationError


def with_scheduler(text: str) -> str:
    return TINY.replace("  config: drop_tail", f"  scheduler: {text}\n  config: drop_tail")


def test_defaults_are_those_of_the_engine() -> None:
    assert Scheduler.model_validate({"kind": "fca"}).engine() == {
        "kind": "fca",
        "order": "total",
        "work_conserving": True,
        "preempt": False,
        "mice_bytes": 0,
        "floor_bps": 100_000,
        "floor_reserve_ppm": 10_000,
        "capacity_ppm": 950_000,
        "report_delay_ps": 0,
        "decide_delay_ps": 0,
        "enforce_delay_ps": 0,
    }


def test_users_units_become_the_engines() -> None:
    given = {
        "kind": "fca",
        "order": "remaining",
        "work_conserving": False,
        "preempt": True,
        "mice": "50KB",
        "floor": "0bps",
        "floor_reserve": "0%",
        "capacity": "97.5%",
        "report_delay": "1ms",
        "decide_delay": "2ms",
        "enforce_delay": "1000s",
    }
    assert Scheduler.model_validate(given).engine() == {
        "kind": "fca",
        "order": "remaining",
        "work_conserving": False,
        "preempt": True,
        "mice_bytes": 50_000,
        "floor_bps": 0,
        "floor_reserve_ppm": 0,
        "capacity_ppm": 975_000,
        "report_delay_ps": 10**9,
        "decide_delay_ps": 2 * 10**9,
        "enforce_delay_ps": 10**15,
    }


@pytest.mark.parametrize("kind", ["fair", "sebf", "scf", "dclas"])
def test_others_are_told_nothing_that_only_flow_chasing_has(kind: str) -> None:
    told = Scheduler.model_validate({"kind": kind}).engine()
    assert told["kind"] == kind and not {"order", "work_conserving", "preempt"} & set(told)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"kind": "fifo"}, "'fair', 'fca', 'sebf', 'scf' or 'dclas'"),
        ({"kind": "sebf", "preempt": False}, "sebf has no preempt: leave it out, or choose fca"),
        ({"kind": "fca", "capacity": "0%"}, "must be above zero"),
        ({"kind": "fca", "capacity": "101%"}, "between 0% and 100%"),
        ({"kind": "fca", "report_delay": "1001s"}, "must be at most 1000s"),
        ({"kind": "fca", "mice": "5pkt"}, "5pkt"),
        ({"kind": "fca", "floor": "fast"}, "fast"),
        ({"kind": "fca", "speed": 1}, "Extra inputs are not permitted"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Scheduler.model_validate(given)
    assert reason in str(caught.value)


def test_a_run_with_a_scheduler_is_another_run_and_its_fabric_has_it(tmp_path: Path) -> None:
    texts = (TINY, with_scheduler("{kind: fca}"), with_scheduler("{kind: fca, preempt: true}"))
    found = [points(tmp_path, text)[0].run for text in texts]
    assert len({run.id for run in found}) == 3
    specs = [spec_of(*run.parts(), seed=1) for run in found]
    assert "scheduler" not in specs[0]
    assert [spec["scheduler"]["preempt"] for spec in specs[1:]] == [False, True]


def test_nics_that_sleep_are_refused_before_anything_runs(tmp_path: Path) -> None:
    text = with_scheduler("{kind: fca}").replace(
        "  config: drop_tail", "  nic: {eee: standard}\n  config: drop_tail"
    )
    with pytest.raises(InputError) as caught:
        points(tmp_path, text)
    assert "h1" in str(caught.value) and "set nic.eee to `off`" in str(caught.value)
