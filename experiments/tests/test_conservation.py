"""Counts of a run that do not add up."""

from typing import cast

import pytest
from eeon_control import topology
from eeon_control.fabric import FabricCounters
from eeon_engine.json_types import Report
from eeon_experiments import conservation
from eeon_tools.errors import ReplayError
from eeon_tools.replay.result import ClassPackets


def check(violations: int) -> None:
    counted = {"queued": 1, "misdelivered": 0, "copies": 0, "delivered": 0}
    report = {
        "conservation": counted,
        "switches": [],
        "classes": {},
        "energy": {"total": {"violations": violations}},
    }
    packets = {"data": ClassPackets(sent=2, delivered=1)}
    fabric = topology.load("leaf-spine-4")
    conservation.check(fabric, cast(Report, report), FabricCounters((), ()), {}, packets)


def test_a_run_in_which_a_phy_was_woken_too_late_is_refused():
    check(0)
    with pytest.raises(ReplayError, match="3 transmissions began before their PHY was awake"):
        check(3)
