"""What a plan says to people: the words, the units, and which ports share a line."""

from __future__ import annotations

import pytest
from eeon_control import config, topology
from eeon_control.fabric.describe import describe
from eeon_control.fabric.diff import Change, ChangeKind, difference
from eeon_control.fabric.planning import FabricPlan, SwitchPlan
from eeon_control.plan import Action, Entry, Exact, intended
from eeon_control.units import Duration
from planned import lines

TICK = Duration(1000)
FABRIC = topology.load("leaf-spine-4")


def one_port(**profile):
    """leaf1:3 differs from the example in its queue or EEE."""
    changes = {f"ports.leaf1:3.{kind}": "changed" for kind in profile}
    changes |= {f"profiles.{kind}.changed": value for kind, value in profile.items()}
    return config.overridden(config.load("mark_threshold"), changes)


SHALLOW = {"buffer": "300KB", "aqm": {"mode": "mark_threshold", "threshold": "30KB"}}


def test_port_is_named_with_what_it_leads_to():
    after = one_port(queue=SHALLOW, eee={"mode": "coalesce", "hold": "120us", "trigger": "100pkt"})
    assert lines(config.load("mark_threshold"), after) == [
        "leaf1:3 (to spine1): marking threshold 97.5 KB -> 30 KB; EEE off -> coalesce, hold 120 us, 100 packets"
    ]


@pytest.mark.parametrize(
    ("queue", "says"),
    [
        ({"buffer": "150KB", "aqm": SHALLOW["aqm"] | {"threshold": "97.5KB"}}, "buffer 300 KB -> 150 KB"),
        (
            {"buffer": "300KB", "aqm": SHALLOW["aqm"] | {"threshold": "97.5KB", "l4s_threshold": "10KB"}},
            "L4S threshold the same -> 10 KB",
        ),
        (
            {"buffer": "300KB", "aqm": SHALLOW["aqm"] | {"threshold": "97.5KB", "at": "dequeue"}},
            "marks at enqueue -> at dequeue",
        ),
        ({"buffer": "300KB", "aqm": {"mode": "drop_tail"}}, "AQM mark above 97.5 KB -> drop tail"),
        (
            {
                "buffer": "300KB",
                "aqm": {"mode": "red", "min": "30KB", "max": "90KB", "max_probability": "10%", "ecn": True},
            },
            "AQM mark above 97.5 KB -> RED from 30 to 90 KB, up to 10%, instantaneous queue, "
            "ECN on, spares only ECT",
        ),
        (
            {"buffer": "300KB", "aqm": {"mode": "codel", "target": "800us", "interval": "1500us"}},
            "AQM mark above 97.5 KB -> CoDel with target 800 us, interval 1.5 ms, MTU 1.514 KB, ECN on, "
            "spares only ECT",
        ),
    ],
)
def test_change_of_a_queue_in_words(queue, says):
    assert lines(config.load("mark_threshold"), one_port(queue=queue)) == [f"leaf1:3 (to spine1): {says}"]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("120us100", "12us10", "EEE hold 120 us -> 12 us, trigger 100 packets -> 10 packets"),
        ("standard", "120us100", "EEE standard -> coalesce, hold 120 us, 100 packets"),
        ("120us100", "off", "EEE coalesce, hold 120 us, 100 packets -> off"),
    ],
)
def test_change_of_eee_in_words(before, after, says):
    old, new = (
        config.overridden(config.load("mark_threshold"), {"ports.leaf1:3.eee": one})
        for one in (before, after)
    )
    assert lines(old, new) == [f"leaf1:3 (to spine1): {says}"]


def test_ports_that_change_alike_share_a_line_with_their_role_and_number():
    big = topology.load("leaf-spine-160")
    change = {"roles.host_facing.eee": "standard", "ports.leaf2:7.eee": "off"}
    said = lines(config.load("mark_threshold"), config.overridden(config.load("mark_threshold"), change), big)
    assert said == [
        "leaf1:1-40, leaf2:1-6,8-40, leaf3:1-40, leaf4:1-40 (host-facing, 159 ports): EEE off -> standard"
    ]


def test_a_line_about_many_switches_stays_short():
    big = topology.from_text(
        "name: big\ndefaults: {rate: 10Gbps, delay: 500ns}\n"
        "leaf_spine: {leaves: 128, hosts_per_leaf: 4, spines: 2}\n"
    )
    before = config.load("mark_threshold")
    after = {"roles.host_facing.eee": "standard", "switches.leaf64.eee": "off"}
    assert lines(before, config.overridden(before, after), big) == [
        "leaf1:1-4 to leaf63:1-4, leaf65:1-4 to leaf128:1-4 (host-facing, 508 ports): EEE off -> standard"
    ]
    odd = {f"switches.leaf{number}.eee": "standard" for number in range(1, 129, 2)}
    (line,) = lines(before, config.overridden(before, odd), big)
    assert line == (
        ", ".join(f"leaf{number}:1-6" for number in range(1, 25, 2))
        + " and 52 more (384 ports): EEE off -> standard"
    )
    every_second = {f"ports.spine1:{number}.eee": "standard" for number in range(1, 129, 2)}
    assert lines(before, config.overridden(before, every_second), big) == [
        "spine1:1,3,5,7,9,11,13,15,17,19,21,23 and 52 more (spine, 64 ports): EEE off -> standard"
    ]
    fresh = intended(big, before, TICK)
    plan = FabricPlan({name: SwitchPlan(True, tuple(difference([], of))) for name, of in fresh.items()})
    said = describe(big, plan, TICK)
    assert max(len(str(line)) for line in said) < 200
    assert max(len(line.switches) for line in said) == 130


def test_routes_are_named_by_prefix_and_ports_and_counted_when_they_are_many():
    with_ecmp = config.load("drop_tail")
    without = config.overridden(with_ecmp, {"routing.ecmp": False})
    assert lines(with_ecmp, without) == [
        "leaf1: route 10.0.2.0/24 by ports 3-4 -> by port 3",
        "leaf1: route fd00:0:0:2::/64 by ports 3-4 -> by port 3",
        "leaf2: route 10.0.1.0/24 by ports 3-4 -> by port 3",
        "leaf2: route fd00:0:0:1::/64 by ports 3-4 -> by port 3",
    ]
    per_packet = config.overridden(with_ecmp, {"routing.ecmp": "per_packet"})
    assert lines(with_ecmp, per_packet) == ["leaf1, leaf2, spine1, spine2: packets spread over equal paths"]
    assert lines(per_packet, with_ecmp) == ["leaf1, leaf2, spine1, spine2: flows spread over equal paths"]
    fresh = intended(FABRIC, with_ecmp, TICK)["leaf1"]
    routes = [entry for entry in fresh if entry.table.endswith("_route")]
    plan = FabricPlan({"leaf1": SwitchPlan(True, tuple(difference([], routes)))})
    assert [str(line) for line in describe(FABRIC, plan, TICK)] == [
        "leaf1: the E-EON program is loaded; another one runs, or none",
        "leaf1: 6 routes added",
    ]


def test_a_program_with_the_same_tables_is_not_said_to_add_any():
    plan = FabricPlan({"leaf1": SwitchPlan(True, (), keep_entries=True)})
    assert [str(line) for line in describe(FABRIC, plan, TICK)] == [
        "leaf1: the E-EON program is loaded; it has all tables of the one that runs, and entries are kept"
    ]


def test_of_codel_only_what_changes_is_said():
    aqm = {"mode": "codel", "target": "800us"}
    old, new = (
        {"buffer": "300KB", "aqm": aqm | change} for change in ({}, {"target": "1ms", "protect": "ack_syn"})
    )
    [line] = lines(one_port(queue=old), one_port(queue=new))
    assert line.startswith("leaf1:3 (to spine1): target 800 us -> 1 ms, spares only ECT -> ")


def test_entry_that_somebody_else_wrote_is_shown_as_it_is():
    odd = Entry("port_aqm", (Exact("port", 400),), (Action("codel_of_tomorrow", (("target", 7),)),))
    plan = FabricPlan({"leaf1": SwitchPlan(False, (Change(ChangeKind.DELETE, odd, None),))})
    assert [str(line) for line in describe(FABRIC, plan, TICK)] == [
        "leaf1:400 (no link): AQM codel_of_tomorrow(target=7) -> not set"
    ]
