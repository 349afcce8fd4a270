"""The same calls for code without an event loop. Do not call them from a coroutine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from eeon_control.config import FabricConfig
from eeon_control.fabric.read import FabricCounters, read_counters, read_registers
from eeon_control.fabric.session import DEFAULT_ELECTION_ID
from eeon_control.fabric.targets import Target
from eeon_control.fabric.transaction import ApplyReport, FabricPlan, apply, plan
from eeon_control.topology import Topology


def plan_sync(
    topology: Topology,
    config: FabricConfig,
    targets: Mapping[str, str | Target],
    tick_ps: int,
) -> FabricPlan:
    """`fabric.plan`, run to its end."""
    return asyncio.run(plan(topology, config, targets, tick_ps))


def apply_sync(
    topology: Topology,
    config: FabricConfig,
    targets: Mapping[str, str | Target],
    tick_ps: int,
    *,
    election_id: int = DEFAULT_ELECTION_ID,
) -> ApplyReport:
    """`fabric.apply`, run to its end."""
    return asyncio.run(apply(topology, config, targets, tick_ps, election_id=election_id))


def read_counters_sync(topology: Topology, targets: Mapping[str, str | Target]) -> FabricCounters:
    """`fabric.read_counters`, run to its end."""
    return asyncio.run(read_counters(topology, targets))


def read_registers_sync(
    topology: Topology, targets: Mapping[str, str | Target], names: Iterable[str]
) -> dict[tuple[str, int], dict[str, int]]:
    """`fabric.read_registers`, run to its end."""
    return asyncio.run(read_registers(topology, targets, names))
