"""Lossless classes: headroom, deadlocks, entries in switches; the rest is in `expected/*.yaml`."""

import pytest
import yaml
from eeon_control import config, plan, program, topology, views
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.errors import PlanError
from eeon_control.fabric import clone_sessions
from eeon_control.fabric.read import Wanted, observe, read_entries
from eeon_control.fabric.sync import apply_sync, plan_sync, run
from eeon_control.plan import Entry
from eeon_control.plan.deadlock import waiting_circle
from eeon_control.routing import Flow
from eeon_control.units import Duration
from engine_switches import serving
from finsy.proto import p4r
from programs import allows

from ptf_tests.lib.packets import of_flow

TICK = Duration(1000)
FABRIC = topology.load("leaf-spine-4")
CLASSES = "{lossless: {priority: 3, dscp: [26], pfc: roce}, default: {priority: 0}}"


def with_pfc(profile: str = "{limit: 100KB}", classes: str = CLASSES, base: str = "mark_threshold"):
    values = {"profiles": {"pfc": {"roce": yaml.safe_load(profile)}}, "classes": yaml.safe_load(classes)}
    return config.overridden(config.load(base), values)


def entries(conf=None) -> list[Entry]:
    found = plan.intended(FABRIC, with_pfc() if conf is None else conf, TICK)["leaf1"]
    return [entry for entry in found if entry.table in (*plan.pfc.TABLES, CLONE_SESSIONS)]


def test_thresholds_are_written_as_the_program_restricts_them():
    written = [action for entry in entries() for action in entry.actions if action.name == "lossless"]
    assert len(written) == 4
    schema = program.load().schema()
    assert all(allows(schema, action) for action in written)
    params = dict(written[0].params)
    for wrong in ({"xon_bytes": params["xoff_bytes"] + 1}, {"limit_bytes": params["xoff_bytes"] - 1}):
        assert not allows(schema, written[0]._replace(params=tuple((params | wrong).items())))


def test_sessions_are_read_back_as_they_were_written_and_those_of_others_left_out():
    (session,) = [entry for entry in entries() if entry.table == CLONE_SESSIONS]
    other = p4r.Entity()
    other.packet_replication_engine_entry.clone_session_entry.session_id = 2
    assert clone_sessions.decode(other) is None
    assert clone_sessions.decode(clone_sessions.encode(session)) == session


def ring(leaves: int) -> topology.Topology:
    """Returns a ring of alternating leaves and spines, with a host at each leaf."""
    nodes, links = {}, []
    for n in range(leaves):
        spine = {"kind": "switch", "role": "spine"}
        nodes |= {f"leaf{n}": {"kind": "switch"}, f"h{n}": {"kind": "host"}, f"spine{n}": spine}
        links += [(f"leaf{n}:1", f"h{n}:0"), (f"leaf{n}:2", f"spine{n}:1")]
        links += [(f"spine{n}:2", f"leaf{(n + 1) % leaves}:3")]
    values = {"rate": "10Gbps", "delay": "500ns"}
    ends = [{"endpoints": [*pair], **values} for pair in links]
    return topology.from_value({"name": "ring", "nodes": nodes, "links": ends}, "ring")


def test_lossless_classes_on_routes_that_go_round_are_refused_with_one_circle():
    fabric = ring(5)
    with pytest.raises(PlanError, match="lossless classes can deadlock the fabric") as raised:
        plan.intended(fabric, with_pfc(), TICK)
    names = {f"{kind}{number}" for kind in ("leaf", "spine") for number in range(5)}
    assert all(name in str(raised.value) for name in names)
    circle = waiting_circle(fabric, plan.intended(fabric, config.load("mark_threshold"), TICK))
    assert circle is not None and len(circle) == 10
    assert all(one[1] == other[0] for one, other in zip(circle, [*circle[1:], circle[0]], strict=True))


def test_a_ring_without_a_way_over_others_is_no_circle():
    assert plan.intended(ring(3), with_pfc(), TICK)


@pytest.mark.system
def test_switches_hold_it_pause_their_neighbours_show_it_and_lose_it_again():
    wanted, without = with_pfc("{limit: 10KB}"), config.load("mark_threshold")
    with serving(FABRIC, priorities=8) as (switches, targets):
        apply_sync(FABRIC, wanted, targets, int(TICK))
        left = plan_sync(FABRIC, wanted, targets, int(TICK))
        assert not any(one.changes for one in left.switches.values())
        # From h2 to h1, DSCP 26: the first of eight full frames leaves at once, and six fit behind it.
        host, other = FABRIC.hosts["h1"], FABRIC.hosts["h2"]
        frame = of_flow(other, host, Flow(17, 53, 53), 4, payload=1454, dscp=26)
        for number in range(8):
            switches["leaf1"].inject(2, frame, 1000 * number)
        switches["leaf1"].advance_to(5_000_000)
        rows = views.pfc.pfc(
            FABRIC, run(observe(FABRIC, targets, Wanted(entries=True, queues=(plan.pfc.GROUPS,))))
        ).rows
        assert len(rows) == 12 and {row["priority"] for row in rows} == {3}
        assert [row for row in rows if row["port"] == "leaf1:2"] == [
            {
                "port": "leaf1:2",
                "priority": 3,
                "xoff_bytes": 5_076,
                "xon_bytes": 2_048,
                "limit_bytes": 10_000,
                "held_bytes": 6 * 1514,
                "neighbour": "paused",
                "pauses_sent": 1,
                "pauses_received": 0,
                "lossless_dropped": 1,
                "control_ignored": 0,
                "storm": None,
            }
        ]
        apply_sync(FABRIC, without, targets, int(TICK))
        held = run(read_entries(FABRIC, targets))["leaf1"]
        tables = (*plan.pfc.TABLES, CLONE_SESSIONS)
        assert [entry for entry in held if entry.table in tables and not entry.is_default] == []
