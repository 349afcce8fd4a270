"""A fabric of sixteen engine switches in the test's process."""

import contextlib
from collections.abc import Iterator

from eeon_control import config, state, topology
from eeon_control.plan.waves import waves
from eeon_control.targets import Targets
from engine_switches import serving

TOPOLOGY_TEXT = """
name: sixteen
leaf_spine: {leaves: 12, spines: 4, hosts_per_leaf: 1, host_link: {rate: 1Gbps}, uplink: {rate: 10Gbps}}
defaults: {delay: 500ns}
"""
TOPOLOGY = topology.from_text(TOPOLOGY_TEXT)
WAVES = waves(TOPOLOGY, "1,10%,rest")
OLD, NEW = "drop_tail", "mark_threshold"


@contextlib.contextmanager
def sixteen() -> Iterator[Targets]:
    """Yields the targets of the switches, which serve P4Runtime in its context."""
    with serving(TOPOLOGY) as (_, addresses):
        yield Targets.from_value({"tick": "1ns", "switches": addresses}, "test")


def meant(name: str, targets: Targets) -> state.Intended:
    """Returns the intended configuration of a packaged example for this fabric."""
    return state.Intended(TOPOLOGY, config.load(name), targets)
