"""Typed access to the documents that Python and the engine exchange as JSON.

The extension accepts and returns text, so that a result's bytes are the engine's own. Only this module maps
each text to its type. `json_types` has the types; the tests check them with real documents.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._engine import Program, SwitchHandle, Twin
from ._engine import check_workload as _check_workload
from .json_types import FabricSpec, FlowReport, Journey, Report, TrafficReport, WorkloadSpec

if TYPE_CHECKING:
    from ._engine import Traffic


def make_twin(program: Program, spec: FabricSpec) -> Twin:
    """Returns a twin of this fabric. Raises `ConfigError` with the place in the spec."""
    return Twin(program, json.dumps(spec))


def check_workload(workload: WorkloadSpec, hosts: Sequence[tuple[str, int, int]]) -> None:
    _check_workload(json.dumps(workload), hosts)


def start_workload(twin: Twin, workload: WorkloadSpec) -> None:
    twin.start_workload(json.dumps(workload))


def twin_report(twin: Twin) -> Report:
    report: Report = json.loads(twin.report())
    return report


def flow_report(twin: Twin, number: int) -> FlowReport:
    report: FlowReport = json.loads(twin.flow_report(number))
    return report


def traffic_report(traffic: Traffic, late_after_ns: int) -> TrafficReport:
    report: TrafficReport = json.loads(traffic.report(late_after_ns))
    return report


def take_journey(switch: SwitchHandle) -> Journey:
    journey: Journey = json.loads(switch.take_journey())
    return journey
