"""Lossless classes: profiles, headroom, what is refused, the entries, and what plans and explanations say."""

from __future__ import annotations

import pytest
import yaml
from eeon_control import config, plan, program, topology, views
from eeon_control.config.pfc import shortage
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.errors import InputError, PlanError, Severity
from eeon_control.fabric import clone_sessions
from eeon_control.fabric.describe import describe
from eeon_control.fabric.diff import difference
from eeon_control.fabric.planning import FabricPlan, SwitchPlan
from eeon_control.fabric.read import Wanted, observe, read_entries
from eeon_control.fabric.sync import apply_sync, plan_sync, run
from eeon_control.plan import Action, Entry, Exact
from eeon_control.plan.deadlock import waiting_circle
from eeon_control.units import Duration
from engine_switches import serving
from finsy.proto import p4r
from programs import allows
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

TICK = Duration(1000)
BMV2 = {"target_settings": {"bmv2": {}}}
FABRIC = topology.load("leaf-spine-4")
CLASSES = "{lossless: {priority: 3, dscp: [26], pfc: roce}, default: {priority: 0}}"


def with_pfc(profile: str = "{limit: 100KB}", classes: str = CLASSES, base: str = "mark_threshold"):
    values = {"profiles": {"pfc": {"roce": yaml.safe_load(profile)}}, "classes": yaml.safe_load(classes)}
    return config.overridden(config.load(base), values)


def entries(conf=None) -> list[Entry]:
    found = plan.intended(FABRIC, with_pfc() if conf is None else conf, TICK)["leaf1"]
    return [entry for entry in found if entry.table in (*plan.pfc.TABLES, CLONE_SESSIONS)]


def test_headroom_is_the_sum_that_the_model_names():
    at = with_pfc().pfc_at(FABRIC.port("leaf1:1"), 3)
    port = FABRIC.port("leaf1:1")
    assert (str(port.rate), str(port.delay)) == ("1Gbps", "500ns")
    parts = at.headroom
    assert (parts.under_way, parts.sleep, parts.reverse_frame) == (250, 0, 1538)
    assert (parts.pause_frames, parts.last_frame, parts.crossing) == (84, 1538, 1514)
    assert at.headroom.total == 4924
    assert (at.xoff, at.xon, at.limit) == (100_000 - 4924, 100_000 - 4924 - 2 * 1514, 100_000)
    assert shortage(at) == 0


def test_thresholds_are_written_as_the_program_restricts_them():
    written = [action for entry in entries() for action in entry.actions if action.name == "lossless"]
    assert len(written) == 4
    schema = program.load().schema()
    assert all(allows(schema, action) for action in written)
    params = dict(written[0].params)
    for wrong in ({"xon_bytes": params["xoff_bytes"] + 1}, {"limit_bytes": params["xoff_bytes"] - 1}):
        assert not allows(schema, written[0]._replace(params=tuple((params | wrong).items())))


def test_a_neighbour_that_takes_time_to_obey_needs_room_for_it():
    at = with_pfc("{limit: 100KB, response: 8us}").pfc_at(FABRIC.port("leaf1:1"), 3)
    assert (at.headroom.under_way, at.headroom.total) == (250 + 1000, 4924 + 1000)


def test_a_link_that_sleeps_needs_room_for_its_sleep_and_its_wake():
    conf = with_pfc(base="eee_standard")
    # IEEE 802.3az-2010, 1000BASE-T: 182 us and 16.5 us.
    assert conf.pfc_at(FABRIC.port("leaf1:1"), 3).headroom.sleep == 24_813


def test_entries_written_out():
    found = {(entry.table, entry.match): entry.actions for entry in entries()}
    ports = len(FABRIC.switches["leaf1"].ports)
    assert len(found) == 1 + 4 * ports
    assert found[CLONE_SESSIONS, (Exact("session", 1),)] == (Action("clone_to", (("port", 509),)),)
    obey = (("quantum_ticks_q16", 512 << 16), ("priorities", 8))
    assert found["port_pfc", (Exact("port", 1),)] == (Action("obey_pauses", obey),)
    queue = (Exact("queue", 1 << 3 | 3),)
    assert found["pausable_queue", queue] == (Action("take_pauses"),)
    values = {
        "xoff_bytes": 95_076,
        "xon_bytes": 92_048,
        "limit_bytes": 100_000,
        "pause_quanta": 65_535,
        "pause_refresh_ticks": 65_535 * 512 // 2,
    }
    assert found["lossless_group", queue] == (Action("lossless", tuple(values.items())),)
    source = int(FABRIC.switches["leaf1"].mac.replace(":", ""), 16)
    made = Action("send_pause", (("source", source), ("loop_ticks", 1000)))
    assert found["made_pause", (Exact("port", 1),)] == (made,)


def test_without_a_lossless_class_there_are_none():
    assert entries(with_pfc(classes="{gold: {priority: 3, dscp: [26]}}")) == []


@pytest.mark.parametrize(
    ("profile", "classes", "said"),
    [
        ("{limit: 4KB}", CLASSES, "limit 4KB leaves no room for xoff: the headroom at 1Gbps is 4.924KB"),
        (
            "{limit: 100KB, xoff: 97KB}",
            CLASSES,
            "limit 100KB is 3KB above xoff 97KB, but the headroom at 1Gbps is 4.924KB",
        ),
        # A frame of 1514 bytes and the pause itself, with 24 bytes each, are 12.976 us; 50 quanta are 25.6 us.
        ("{limit: 100KB, pause: 50}", CLASSES, "after half of it may be 12.976us late"),
        ("{limit: 100KB, xoff: 50KB, xon: 50KB}", CLASSES, "xon 50KB is not below xoff 50KB"),
        ("{limit: 100KB, xoff: 101KB}", CLASSES, "xoff 101KB is above the limit 100KB"),
        (
            "{limit: 100KB}",
            "{a: {priority: 7, dscp: [26], pfc: roce}}",
            "priority 7 is for the switches' own frames",
        ),
        (
            "{limit: 100KB}",
            "{a: {priority: 3, dscp: [26], pfc: roce}, b: {priority: 3, dscp: [27]}}",
            "priority 3 is lossless by profile roce, but b has it without",
        ),
        (
            "{limit: 100KB}",
            "{a: {priority: 0, dscp: [26], pfc: roce}}",
            "priority 0 is lossless by profile roce, but default has it without",
        ),
    ],
)
def test_contradictions_are_refused_before_anything_is_planned(profile, classes, said):
    with pytest.raises(InputError) as raised:
        plan.intended(FABRIC, with_pfc(profile, classes), TICK)
    assert said in str(raised.value)


def starved(classes: str) -> list[str]:
    found = config.check(with_pfc(classes=classes), FABRIC, TICK)
    return [str(one) for one in found if "may take all of a link" in str(one)]


def test_a_class_above_a_lossless_one_is_a_warning_unless_both_share_by_weight():
    above = "{{roce: {{priority: 3, dscp: [26], pfc: roce{}}}, voice: {{priority: 5, dscp: [46]{}}}}}"
    [told] = starved(above.format("", ""))
    assert "class roce is lossless, and voice of a higher priority" in told
    assert len(starved(above.format(", quantum: 3KB", ""))) == 1
    assert starved(above.format(", quantum: 3KB", ", quantum: 3KB")) == []
    assert starved("{roce: {priority: 3, dscp: [26], pfc: roce}, bulk: {priority: 1, dscp: [10]}}") == []


VOICE = "{roce: {priority: 3, dscp: [26], pfc: roce}, voice: {priority: 7, dscp: [46]}}"


def test_a_lossy_class_of_priority_7_is_beside_pauses_unless_the_switches_are_bmv2():
    plan.intended(FABRIC, with_pfc(classes=VOICE), TICK)
    with pytest.raises(
        InputError, match=r"BMv2 sends the switches' own frames, pauses, from the queue of pri"
    ):
        plan.intended(FABRIC, config.overridden(with_pfc(classes=VOICE), BMV2), TICK)
    other = "{roce: {priority: 3, dscp: [26], pfc: roce}, voice: {priority: 6, dscp: [46]}}"
    plan.intended(FABRIC, config.overridden(with_pfc(classes=other), BMV2), TICK)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{limit: 100KB, pause: 0}", "a pause is a whole number from 1 to 65535"),
        ("{limit: 65pkt}", "the limit counts bytes"),
        ("{xoff: auto}", "limit"),
    ],
)
def test_a_profile_of_another_form_is_refused(text, said):
    with pytest.raises(InputError) as raised:
        with_pfc(text)
    assert said in str(raised.value)


def test_a_profile_that_is_not_there_is_named_with_its_neighbours():
    with pytest.raises(InputError, match=r"unknown pfc profile.*there are roce"):
        with_pfc(classes="{a: {priority: 3, dscp: [26], pfc: rocs}}")


def test_unchecked_headroom_is_a_warning():
    conf = with_pfc("{limit: 100KB, xoff: 97KB, headroom: unchecked}")
    told = [one for one in config.check(conf, FABRIC, TICK) if "above xoff 97KB" in str(one)]
    assert told and {one.severity for one in told} == {Severity.WARNING}
    assert entries(conf)


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ("{}", []),
        ("{detect: 100ms, restore: 100ms}", []),
        ("{detect: 99ms}", ["99ms takes ordinary pauses for a storm; take 100ms or more"]),
        ("{restore: 20ms}", ["20ms takes ordinary pauses for its end; take 100ms or more"]),
    ],
)
def test_a_watchdog_that_takes_ordinary_pauses_for_a_storm_is_a_warning(times, told):
    conf = with_pfc(f"{{limit: 100KB, watchdog: {times}}}")
    found = [one for one in config.check(conf, FABRIC, TICK) if "ordinary pauses" in str(one)]
    assert [str(one).rpartition(": ")[2] for one in found] == told
    assert {one.severity for one in found} <= {Severity.WARNING}


def test_a_plan_says_which_ports_become_lossless():
    before, after = (
        plan.intended(FABRIC, conf, TICK)["leaf1"] for conf in (config.load("mark_threshold"), with_pfc())
    )
    changes = tuple(difference(before, after))
    todo = FabricPlan({"leaf1": SwitchPlan(False, changes)})
    words = [line.what for line in describe(FABRIC, todo, TICK)]
    (line,) = [text for text in words if "lossless" in text and "ports 1-2" in text]
    assert line.endswith("lossy -> lossless, pauses above 95.076KB, until 92.048KB, keeps 100KB")


def test_sessions_are_read_back_as_they_were_written_and_those_of_others_left_out():
    (session,) = [entry for entry in entries() if entry.table == CLONE_SESSIONS]
    other = p4r.Entity()
    other.packet_replication_engine_entry.clone_session_entry.session_id = 2
    assert clone_sessions.decode(other) is None
    assert clone_sessions.decode(clone_sessions.encode(session)) == session


def ring(leaves: int) -> str:
    """Leaves and spines in turn, in a ring, a host at each leaf."""
    lines = ["name: ring", "defaults: {rate: 10Gbps, delay: 500ns}", "nodes:"]
    for number in range(leaves):
        lines += [f"  leaf{number}: {{kind: switch}}", f"  h{number}: {{kind: host}}"]
        lines += [f"  spine{number}: {{kind: switch, role: spine}}"]
    lines.append("links:")
    for number in range(leaves):
        following = (number + 1) % leaves
        lines += [
            f'  - endpoints: ["leaf{number}:1", "h{number}:0"]',
            f'  - endpoints: ["leaf{number}:2", "spine{number}:1"]',
            f'  - endpoints: ["spine{number}:2", "leaf{following}:3"]',
        ]
    return "\n".join(lines) + "\n"


def test_routes_up_and_down_leave_no_circle():
    assert waiting_circle(FABRIC, plan.intended(FABRIC, config.load("mark_threshold"), TICK)) is None


def test_lossless_classes_on_routes_that_go_round_are_refused_with_one_circle():
    fabric = topology.from_text(ring(5))
    with pytest.raises(PlanError, match="lossless classes could stop the fabric for ever") as raised:
        plan.intended(fabric, with_pfc(), TICK)
    names = {f"{kind}{number}" for kind in ("leaf", "spine") for number in range(5)}
    assert all(name in str(raised.value) for name in names)
    circle = waiting_circle(fabric, plan.intended(fabric, config.load("mark_threshold"), TICK))
    assert circle is not None and len(circle) == 10
    assert all(one[1] == other[0] for one, other in zip(circle, [*circle[1:], circle[0]], strict=True))


def test_a_ring_without_a_way_over_others_is_no_circle():
    fabric = topology.from_text(ring(3))
    assert plan.intended(fabric, with_pfc(), TICK)


def test_an_explanation_has_the_headroom_and_what_it_is_the_sum_of():
    port = FABRIC.port("leaf1:1")
    found = {one.key: one for one in config.explain(with_pfc(base="eee_standard"), port).settings}
    # 250 + 24,813 + 1,538 + 84 + 1,538 + 1,514
    assert found["pfc.3.headroom"].value == "29.737KB"
    assert found["pfc.3.headroom"].source == (
        "under way 250B, asleep and waking 24.813KB, a frame before the pause 1.538KB, the pauses 84B, "
        "a frame before it is obeyed 1.538KB, the packet that passes xoff 1.514KB"
    )
    assert found["pfc.3.xoff"].value == "70.263KB"
    assert found["pfc.3.xoff"].source == "auto: limit less headroom"
    assert not [key for key in found if key.startswith("pfc.0")]


@pytest.mark.system
def test_switches_hold_it_pause_their_neighbours_show_it_and_lose_it_again():
    with serving(FABRIC, priorities=8) as (switches, targets):
        wanted = with_pfc("{limit: 10KB}")
        apply_sync(FABRIC, wanted, targets, int(TICK))
        assert not any(one.changes for one in plan_sync(FABRIC, wanted, targets, int(TICK)).switches.values())
        # From h2 to h1, DSCP 26: the first of eight full frames leaves at once, and six fit behind it.
        host, other = FABRIC.hosts["h1"], FABRIC.hosts["h2"]
        ip = IP(src=str(other.ipv4), dst=str(host.ipv4), tos=26 << 2)
        frame = bytes(Ether(src=other.mac, dst=other.gateway_mac) / ip / UDP() / bytes(1472))
        for number in range(8):
            switches["leaf1"].inject(2, frame, 1000 * number)
        switches["leaf1"].advance_to(5_000_000)
        rows = views.pfc.pfc(FABRIC, run(observe(FABRIC, targets, Wanted(entries=True, pfc=True)))).rows
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
        apply_sync(FABRIC, config.load("mark_threshold"), targets, int(TICK))
        held = run(read_entries(FABRIC, targets))["leaf1"]
        left = [entry for entry in held if entry.table in (*plan.pfc.TABLES, CLONE_SESSIONS)]
        assert [entry for entry in left if not entry.is_default] == []
