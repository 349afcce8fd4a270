"""A leaf with more routes and spines than `ecmp_selector` has members for each of them."""

import pytest
from eeon_control import config, plan, program, topology
from eeon_control.fabric import sync
from eeon_control.fabric.diff import difference
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.targets import Target
from eeon_control.units import Duration
from switch_processes import TARGETS, skip_without

pytestmark = pytest.mark.system

WIDE = topology.from_text(
    "name: wide\ndefaults: {rate: 100Gbps, delay: 500ns}\n"
    "leaf_spine: {leaves: 66, hosts_per_leaf: 4, spines: 32}\n"
)


@pytest.mark.parametrize("target", ["engine", "bmv2"])
def test_a_leaf_holds_routes_to_65_others_over_32_spines_and_a_spine_that_goes_and_comes(target):
    skip_without(target)
    leaf = WIDE.switches["leaf1"]
    switch = TARGETS[target](leaf)
    schema = program.load().schema()
    wanted = config.load("mark_threshold")
    whole = {"leaf1": plan.intended(WIDE, wanted, Duration(switch.tick_ps))["leaf1"]}
    dead = plan.dead_ends(WIDE, {"leaf1": [leaf.ports[-1].number]})
    without = plan.around(WIDE, wanted.routing, whole, dead)
    assert sum(len(one.actions) for one in whole["leaf1"] if one.selector) == 2 * (65 * 32 + 4)
    assert schema.action_profiles["ecmp_selector"].size == 4096

    async def change() -> None:
        async with P4RuntimeSession(
            "leaf1", Target(switch.address, leaf.device_id), schema, election_id=10
        ) as session:
            await session.push_pipeline()
            for entries in (whole, without, whole):
                held = await session.read_entries(plan.TABLES)
                await session.write_changes(difference(held, entries["leaf1"]))
                held = await session.read_entries(plan.TABLES)
                assert not difference(held, entries["leaf1"])

    try:
        switch.restart()
        sync.run(change())
    finally:
        switch.kill()
