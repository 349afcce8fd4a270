"""The model of the ECMP hash and the program: the model must predict the ports of the engine's switches."""

import contextlib
from itertools import permutations

import pytest
from eeon_control import config, fabric, program, topology
from eeon_control.fabric.routes import routes_of
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.sync import run
from eeon_control.routing import Flow, Walk
from eeon_control.targets import Target
from finsy.proto import p4r

pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")

from carried_frames import Running
from engine_switches import TICK_PS

from ptf_tests.lib.packets import of_flow

pytestmark = pytest.mark.system

FLOWS = 200
FOUR_SPINES = """
name: four-spines
defaults: {rate: 1Gbps, delay: 1us}
leaf_spine: {leaves: 3, hosts_per_leaf: 1, spines: 4}
"""


@pytest.fixture
def start(tmp_path):
    with contextlib.ExitStack() as stack:
        yield lambda topo: Running(topo, stack)


def flows() -> list[Flow]:
    made = [Flow(6 if n % 3 else 17, 32768 + 7 * n, (13562, 80, 65535)[n % 3]) for n in range(FLOWS)]
    return [*made, Flow(1), Flow(58), Flow(6, 0, 0), Flow(17, 65535, 65535)]


def compare(running: Running, source, destination, version: int) -> set[str]:
    """Compares the path of every flow with the model. Returns the ports that the first switch used."""
    walk = Walk(running.topology, running.tables(), source, destination, version)
    first = set()
    for flow in flows():
        taken = running.ports_taken(source, of_flow(source, destination, flow, version))
        [foretold] = walk.paths(flow)
        assert foretold.fault is None
        assert [hop.port.name for hop in foretold.hops] == taken, f"{flow}, IPv{version}"
        first.add(taken[0])
    return first


def test_a_flow_takes_all_paths_where_switches_spread_packets(start):
    topo = topology.load("leaf-spine-4")
    running = start(topo)
    wanted = config.overridden(config.load("drop_tail"), {"routing.ecmp": "per_packet"})
    fabric.apply_sync(topo, wanted, running.targets, TICK_PS)
    source, destination, flow = topo.hosts["h1"], topo.hosts["h4"], Flow(6, 40000, 5000)
    walk = Walk(topo, running.tables(), source, destination, 4)
    foretold = {tuple(hop.port.name for hop in path.hops): path.share for path in walk.paths(flow)}
    frame = of_flow(source, destination, flow, 4)
    taken = [tuple(running.ports_taken(source, frame)) for _ in range(64)]
    assert set(taken) == foretold.keys()
    assert list(foretold.values()) == [0.5, 0.5]
    assert all(16 <= taken.count(ways) <= 48 for ways in foretold)


def test_every_flow_takes_the_path_that_the_model_foretells_also_where_groups_share_members(start):
    topo = topology.from_text(FOUR_SPINES)
    running = start(topo)
    wanted = config.overridden(config.load("drop_tail"), {"routing.max_paths": 3})
    fabric.apply_sync(topo, wanted, running.targets, TICK_PS)
    orders = {
        tuple(dict(action.params)["port"] for action in route.members)
        for routes in running.tables().values()
        for route in routes.routes
    }
    assert any(list(order) != sorted(order) for order in orders), (
        "an order by port would do, and prove nothing"
    )
    for source, destination in permutations(topo.hosts.values(), 2):
        for version in (4, 6):
            first = compare(running, source, destination, version)
            assert len(first) == 3, "the flows must use the whole group"


def test_groups_and_members_that_have_ids_are_read_with_their_weights(start):
    topo = topology.load("leaf-spine-4")
    running = start(topo)
    schema = program.load().schema()
    profile, table = schema.action_profiles["ecmp_selector"].id, schema.tables["ipv4_route"]
    forward = schema.actions["forward"]

    def member(number: int) -> p4r.Entity:
        action = p4r.Action(action_id=forward.id)
        for param in forward.params:
            action.params.add(param_id=param.id, value=bytes([number]))
        return p4r.Entity(
            action_profile_member=p4r.ActionProfileMember(
                action_profile_id=profile, member_id=number, action=action
            )
        )

    group = p4r.ActionProfileGroup(action_profile_id=profile, group_id=9, max_size=3)
    group.members.add(member_id=3, weight=1)
    group.members.add(member_id=4, weight=2)

    def route(third_byte: int, **of: int) -> p4r.Entity:
        entry = p4r.TableEntry(table_id=table.id, action=p4r.TableAction(**of))
        match = entry.match.add(field_id=table.match_fields["dst"].id)
        match.lpm.value, match.lpm.prefix_len = bytes([10, 0, third_byte, 0]), 24
        return p4r.Entity(table_entry=entry)

    entities = [
        member(3),
        member(4),
        p4r.Entity(action_profile_group=group),
        route(2, action_profile_group_id=9),
        route(3, action_profile_member_id=4),
    ]

    async def written_and_read():
        target = Target(running.targets["leaf1"], device_id=topo.switches["leaf1"].device_id)
        async with P4RuntimeSession("leaf1", target, schema, election_id=1) as session:
            await session.push_pipeline()
            updates = [p4r.Update(type=p4r.Update.INSERT, entity=entity) for entity in entities]
            await session.write(updates, [f"update {number}" for number in range(len(updates))])
            return await routes_of(session)

    found = {
        route.prefix.text: [dict(action.params)["port"] for action in route.members]
        for route in run(written_and_read()).routes
    }
    assert found == {"10.0.2.0/24": [3, 4, 4], "10.0.3.0/24": [4]}
