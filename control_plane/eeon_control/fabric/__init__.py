"""Operations on the switches: read their state, show the difference, write to all of them or to none.

    report = await fabric.apply(topology, config, {"leaf1": "127.0.0.1:9559", ...}, tick_ps=1000)
    counts = await fabric.read_counters(topology, targets)

Every coroutine has a `_sync` counterpart for callers without an event loop. Errors are FabricError and its
subclass ApplyError.
"""

from eeon_control.fabric.diff import difference
from eeon_control.fabric.planning import FabricPlan, SwitchPlan, plan
from eeon_control.fabric.progress import Gate, GateClosed, Rollout, Step
from eeon_control.fabric.read import (
    FabricCounters,
    ReceivedCount,
    VerdictCount,
    read_counters,
    read_entries,
    read_registers,
    read_status,
)
from eeon_control.fabric.sync import apply_sync, plan_sync, read_counters_sync, read_registers_sync
from eeon_control.fabric.transaction import ApplyReport, apply

__all__ = [
    "ApplyReport",
    "FabricCounters",
    "FabricPlan",
    "Gate",
    "GateClosed",
    "ReceivedCount",
    "Rollout",
    "Step",
    "SwitchPlan",
    "VerdictCount",
    "apply",
    "apply_sync",
    "difference",
    "plan",
    "plan_sync",
    "read_counters",
    "read_counters_sync",
    "read_entries",
    "read_status",
    "read_registers",
    "read_registers_sync",
]
