"""Fabrics for plans, and the description of a plan that changes one from one configuration to another."""

from eeon_control import topology
from eeon_control.config import FabricConfig
from eeon_control.fabric.describe import describe
from eeon_control.fabric.diff import difference
from eeon_control.fabric.planning import FabricPlan, SwitchPlan
from eeon_control.plan import intended
from eeon_control.topology import Topology
from eeon_control.units import Duration

FABRIC = topology.load("leaf-spine-4")
SIXTEEN = topology.from_text(
    "name: sixteen\ndefaults: {delay: 500ns}\n"
    "leaf_spine: {leaves: 12, spines: 4, hosts_per_leaf: 1, host_link: {rate: 1Gbps}, uplink: {rate: 10Gbps}}\n"
)
TICK = Duration(1000)


def lines(before: FabricConfig, after: FabricConfig, fabric: Topology = FABRIC) -> list[str]:
    """Returns the plan's lines, for switches with ticks of 1 ns."""
    old, new = (intended(fabric, one, TICK) for one in (before, after))
    plan = FabricPlan({name: SwitchPlan(False, tuple(difference(old[name], new[name]))) for name in new})
    return [str(line) for line in describe(fabric, plan, TICK)]
