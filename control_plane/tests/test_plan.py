"""The planner: literal entries for a small fabric, and properties for any fabric."""

import functools
from fractions import Fraction
from itertools import count
from pathlib import Path

import pytest
from eeon_control import config, constants, plan, program, topology
from eeon_control.config.model import ECMP_PATHS_LIMIT
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.errors import InputError, PlanError
from eeon_control.plan import Exact, Lpm, routes
from eeon_control.port_settings import Eee, RedSettings
from eeon_control.topology import PortRole
from eeon_control.units import Bytes, DataRate, Duration
from expected_rows import bases
from hypothesis import given
from hypothesis import strategies as st
from planned import SIXTEEN

NS = Duration.parse("1ns")

CONFIG = bases(Path(__file__).parent / "expected" / "entries.yaml")["red"]


def test_distances_are_computed_once_for_all_leaves_with_the_same_neighbours(monkeypatch):
    asked = []
    real = routes.Router._distances_to
    monkeypatch.setattr(
        routes.Router,
        "_distances_to",
        lambda router, group: asked.append([leaf.name for leaf in group.leaves]) or real(router, group),
    )
    plan.intended(SIXTEEN, config.load("drop_tail"), NS)
    assert asked == [[f"leaf{number}" for number in range(1, 13)]]


@st.composite
def any_topology(draw):
    """Returns a connected switch graph with hosts: a random tree plus random links, also parallel ones."""
    switches = draw(st.integers(1, 8))
    a_switch = st.integers(0, switches - 1)
    links = [(draw(st.integers(0, one - 1)), one) for one in range(1, switches)]
    links += [(a, b) for a, b in draw(st.lists(st.tuples(a_switch, a_switch), max_size=12)) if a != b]
    hosts = draw(st.lists(a_switch, min_size=1, max_size=8))
    ports = [count(1) for _ in range(switches)]
    ends = [[f"s{one}:{next(ports[one])}" for one in pair] for pair in links]
    ends += [[f"s{one}:{next(ports[one])}", f"h{number}:0"] for number, one in enumerate(hosts)]
    nodes = {f"s{one}": {"kind": "switch"} for one in range(switches)}
    nodes |= {f"h{number}": {"kind": "host"} for number in range(len(hosts))}
    value = {
        "name": "any",
        "defaults": {"rate": "10Gbps", "delay": "500ns"},
        "nodes": nodes,
        "links": [{"endpoints": pair} for pair in ends],
    }
    # Not as text: parsing it would take longer than the rest of these tests.
    return topology.from_value(value, "any")


def hops_to(fabric, leaf):
    """Returns the hops from every switch to one leaf, by simple relaxation until nothing changes."""
    hops = {leaf: 0}
    while True:
        better = dict(hops)
        for link in fabric.links:
            for a, b in ((link.a.node, link.b.node), (link.b.node, link.a.node)):
                if a in hops and b in fabric.switches and hops[a] + 1 < better.get(b, 99):
                    better[b] = hops[a] + 1
        if better == hops:
            return hops
        hops = better


@given(fabric=any_topology(), limit=st.sampled_from([None, 1, 2]))
def test_next_hops_are_the_ports_that_lead_one_hop_closer(fabric, limit):
    wanted = config.overridden(config.from_text(CONFIG), {"routing.max_paths": limit} if limit else {})
    entries = plan.intended(fabric, wanted, NS)
    for leaf in fabric.leaves:
        hops = hops_to(fabric, leaf.name)
        for switch in fabric.switches.values():
            if switch.name == leaf.name:
                continue
            closer = {
                port.number for port in switch.ports if hops.get(port.peer.node) == hops[switch.name] - 1
            }
            for family, prefix in (("ipv4_route", leaf.ipv4_prefix), ("ipv6_route", leaf.ipv6_prefix)):
                [entry] = [
                    one
                    for one in entries[switch.name]
                    if one.table == family and one.match_text == f"dst={prefix}"
                ]
                used = {dict(action.params)["port"] for action in entry.actions}
                assert used == closer if limit is None else used <= closer
                assert len(used) == min(len(closer), limit or len(closer))


def test_with_fewer_paths_than_there_are_all_of_them_still_serve():
    wanted = config.overridden(config.load("drop_tail"), {"routing.max_paths": 2})
    entries = plan.intended(SIXTEEN, wanted, NS)["leaf1"]
    remote = [entry for entry in entries if entry.table == "ipv4_route" and len(entry.actions) == 2]
    assert len(remote) == 11
    ports = {dict(action.params)["port"] for entry in remote for action in entry.actions}
    assert ports == {2, 3, 4, 5}


def test_equal_next_hops_and_equal_ports_are_one_object():
    """Sharing keeps a plan for a thousand switches small; benches/scale.py measures it."""
    entries = plan.intended(topology.load("leaf-spine-160"), config.load("drop_tail"), NS)
    remote = {id(one.actions) for one in entries["leaf1"] if one.selector and len(one.actions) > 1}
    assert len(remote) == 1
    ports = {id(one) for name in ("leaf1", "leaf2") for one in entries[name] if one.table == "port_aqm"}
    assert len(ports) == 42


def test_seeds_are_odd_different_per_switch_and_follow_the_configuration():
    fabric = topology.load("leaf-spine-160")
    for seed in range(50):
        seeds = plan.ecmp_seed(seed, fabric)
        assert len(set(seeds.values())) == 6
        assert all(value % 2 == 1 and value < 1 << 32 for value in seeds.values())
    assert plan.ecmp_seed(1, fabric) == plan.ecmp_seed(1, fabric) != plan.ecmp_seed(2, fabric)


def test_errors_of_the_configuration_stop_the_planner():
    wanted = config.overridden(config.from_text(CONFIG), {"switches.leaf9.eee": "off"})
    with pytest.raises(InputError, match="has no switch of that name"):
        plan.intended(topology.load("leaf-spine-4"), wanted, NS)
    with pytest.raises(PlanError, match="must be above zero"):
        plan.intended(topology.load("leaf-spine-4"), config.from_text(CONFIG), Duration(0))


def test_limits_are_the_programs():
    schema = program.load().schema()
    assert schema.action_profiles["ecmp_selector"].max_group_size == ECMP_PATHS_LIMIT
    # Before and after a change, each port is a separate next hop.
    assert schema.action_profiles["ecmp_selector"].size >= 2 * (constants.DATA_PORT_MAX + 1)
    assert {schema.tables[name].size for name in ("ipv4_route", "ipv6_route")} == {constants.ROUTE_TABLE_SIZE}
    # A clone session appears as an entry of a table that the program does not have.
    assert {table.alias for table in schema.tables} == set(plan.TABLES) - {CLONE_SESSIONS}
    assert len(constants.CLASSES) <= 8 and len(constants.VERDICTS) <= 16
    assert schema.counters["received"].size == constants.RECEIVED_CELLS == constants.PORT_CELLS << 3
    assert schema.counters["verdicts"].size == constants.VERDICT_CELLS == constants.PORT_CELLS << 7


@given(low=st.integers(0, 2**32 - 1), span=st.integers(1, 2**32 - 1), percent=st.integers(0, 100))
def test_slope_reaches_the_maximum_probability_at_the_maximum(low, span, percent):
    settings = RedSettings(Bytes(low), Bytes(low + span), Fraction(percent, 100), 0, True, "ect")
    slope = settings.probability_slope
    assert slope < 1 << 64
    assert abs(Fraction(slope * span, 1 << 48) - Fraction(percent, 100)) <= Fraction(span, 1 << 49)


@given(rate=st.sampled_from(["100Mbps", "1Gbps", "10Gbps"]), tick=st.sampled_from([1000, 10_000, 1_000_000]))
def test_wire_time_per_byte_is_exact_to_half_a_step(rate, tick):
    profile = Eee.model_validate({"mode": "standard", "sleep": "200us", "wake": "30us"})
    speed = DataRate.parse(rate)
    params = dict(profile.settings_at(speed, Bytes(24)).to_action(Duration(tick)).params)
    exact = Fraction(8 * 10**12, speed * tick)
    assert abs(Fraction(params["ticks_per_byte_q24"], 1 << 24) - exact) <= Fraction(1, 1 << 25)


@given(fabric=any_topology())
def test_every_linked_port_has_its_three_entries_and_no_key_twice(fabric):
    entries = plan.intended(fabric, config.from_text(CONFIG), NS)
    for name, switch in fabric.switches.items():
        keys = [entry.key for entry in entries[name]]
        assert len(set(keys)) == len(keys)
        for port in switch.ports:
            tables = {entry.table for entry in entries[name] if entry.match == (Exact("port", port.number),)}
            assert tables == {"port_buffer", "port_aqm", "port_eee"}


def next_hops(entries, prefix: int) -> list[int] | None:
    """Returns the egress ports of a switch's IPv4 route to a leaf's /24; None without a route."""
    for entry in entries:
        if entry.table == "ipv4_route" and entry.match == (Lpm("dst", prefix, 24, 32),):
            return [dict(action.params)["port"] for action in entry.actions]
    return None


TO_LEAF2 = 0x0A000200  # 10.0.2.0


def test_a_port_to_a_host_that_is_down_withdraws_nothing():
    assert plan.dead_ends(topology.load("leaf-spine-4"), {"leaf1": [1, 2]}) == frozenset()


def test_with_one_path_in_use_another_one_takes_the_place_of_the_one_that_is_down():
    wanted = config.overridden(config.load("drop_tail"), {"routing.ecmp": False})
    meant = plan.intended(SIXTEEN, wanted, NS)
    left = plan.around(SIXTEEN, wanted.routing, meant, plan.dead_ends(SIXTEEN, {"spine1": [2]}))
    assert [next_hops(of["leaf1"], TO_LEAF2) for of in (meant, left)] == [[2], [3]]


FABRIC_OF_4_LEAVES = topology.load("leaf-spine-160")


@functools.cache
def entries_of_4_leaves():
    return plan.intended(FABRIC_OF_4_LEAVES, config.load("drop_tail"), NS)


@given(st.data())
def test_no_route_leads_to_a_link_that_is_down_and_what_can_be_reached_by_the_plan_is(data):
    fabric, settings_ = FABRIC_OF_4_LEAVES, config.load("drop_tail")
    between = [port for port in fabric.ports() if port.role is not PortRole.HOST_FACING]
    down: dict[str, list[int]] = {}
    for port in data.draw(st.sets(st.sampled_from(between), min_size=1, max_size=12)):
        down.setdefault(port.node, []).append(port.number)
    dead = plan.dead_ends(fabric, down)
    meant = entries_of_4_leaves()
    left = plan.around(fabric, settings_.routing, meant, dead)
    for leaf in fabric.leaves:
        prefix = int(leaf.ipv4_prefix.network_address)
        reaching = {leaf.name}
        # In a leaf-spine fabric, paths go up to a spine and down to the leaf.
        for name in sorted(fabric.switches.keys() - {leaf.name}, key=lambda one: ("leaf" in one, one)):
            ports = {port.number: port for port in fabric.switches[name].ports}
            planned = [ports[number] for number in next_hops(meant[name], prefix) or []]
            serving = [one.number for one in planned if one.name not in dead and one.peer.node in reaching]
            assert (next_hops(left[name], prefix) or []) == serving
            if serving:
                reaching.add(name)
