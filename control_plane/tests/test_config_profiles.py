"""Profiles: what depends on link speed, short forms, thresholds by default, BMv2's own queues."""

from __future__ import annotations

import pytest
from eeon_control import config, plan, topology
from eeon_control.entries import Action
from eeon_control.errors import InputError
from eeon_control.port_settings.mark_threshold import bandwidth_delay_share, default_threshold
from eeon_control.units import Bytes, DataRate, Duration
from hypothesis import given
from hypothesis import strategies as st

NS, US = Duration.parse("1ns"), Duration.parse("1us")
GIGABIT, TEN_GIGABIT = DataRate.parse("1Gbps"), DataRate.parse("10Gbps")
FABRIC = topology.load("leaf-spine-4")
EDGE, UPLINK = FABRIC.port("leaf1:1"), FABRIC.port("leaf1:3")  # 1Gbps, 10Gbps
BASE = """\
profiles:
  queue:
    q: {buffer: 300KB}
roles:
  host_facing: {queue: q}
  uplink: {queue: q}
  spine: {queue: q}
"""


def with_aqm(aqm: str):
    return config.from_text(BASE.replace("300KB}", f"300KB, aqm: {aqm}}}"), "c.yaml")


def aqm_of(text: str):
    return with_aqm(text).profiles.queue["q"].aqm


def with_eee(profile: str):
    text = BASE.replace("roles:", f"  eee:\n    e: {profile}\nroles:")
    return config.from_text(text.replace("{queue: q}", "{queue: q, eee: e}"), "c.yaml")


@pytest.mark.parametrize(
    ("rate", "threshold"),
    [
        ("1Gbps", "30KB"),
        ("10Gbps", "97.5KB"),
        ("100Mbps", "24KB"),
        ("40Gbps", "322.5KB"),
        ("100Gbps", "772.5KB"),
    ],
)
def test_default_threshold_is_dctcps_20_packets_at_1g_and_65_at_10g_and_in_line_elsewhere(rate, threshold):
    assert str(default_threshold(DataRate.parse(rate))) == threshold


@given(rate=st.integers(1, 10**12), rtt=st.integers(1, 10**10))
def test_default_threshold_is_never_below_its_bandwidth_delay_share(rate, rtt):
    threshold = default_threshold(DataRate(rate), Duration(rtt))
    assert threshold >= bandwidth_delay_share(DataRate(rate), Duration(rtt))
    assert threshold % 1500 == 0


@pytest.mark.parametrize("aqm", ["mark_threshold", "{mode: mark_threshold}", "{mark_threshold: auto}"])
def test_threshold_left_out_or_auto_follows_each_ports_speed(aqm):
    entries = plan.intended(FABRIC, with_aqm(aqm), NS)["leaf1"]
    marks = {
        one.match_text: dict(one.actions[0].params)["threshold_bytes"]
        for one in entries
        if one.table == "port_aqm"
    }
    assert marks == {"port=1": 30_000, "port=2": 30_000, "port=3": 97_500, "port=4": 97_500}


def test_threshold_auto_allows_for_the_rtt_that_is_given():
    aqm = aqm_of("{mode: mark_threshold, rtt: 100us}")
    assert aqm.settings_at(TEN_GIGABIT).threshold == Bytes(27 * 1500)  # 15 + 83.3 / 7, rounded up
    assert aqm_of("{mark_threshold: 9KB, rtt: 1ms}").settings_at(TEN_GIGABIT).threshold == 9000


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("drop_tail", "{mode: drop_tail}"),
        ("{mark_threshold: 97.5KB}", "{mode: mark_threshold, threshold: 97.5KB}"),
        ("{mark_threshold: 9KB, at: dequeue}", "{mode: mark_threshold, threshold: 9KB, at: dequeue}"),
        ("{autored: 500us}", "{mode: red, target_delay: 500us, max_probability: 100%}"),
        (
            "{autored: 1ms, protect: ack_syn, max_probability: 10%}",
            "{mode: red, target_delay: 1ms, max_probability: 10%, protect: ack_syn}",
        ),
        ("{red: 70pkt}", "{mode: red, min: 70pkt, max: 70pkt, max_probability: 100%}"),
        ("{red: [50pkt, 150pkt]}", "{mode: red, min: 50pkt, max: 150pkt, max_probability: 100%}"),
        ("{mode: red, red: 70pkt}", "{mode: red, min: 70pkt, max: 70pkt, max_probability: 100%}"),
    ],
)
def test_short_form_means_its_long_form(short, long):
    assert aqm_of(short) == aqm_of(long)


def test_a_threshold_without_a_unit_is_not_offered_packets_which_would_be_refused():
    with pytest.raises(InputError, match="write for example 300KB") as refused:
        aqm_of("{mark_threshold: 50}")
    assert "pkt" not in str(refused.value)


@pytest.mark.parametrize(
    ("aqm", "error"),
    [
        ("red", "profiles.queue.q.aqm: red: not an AQM in one word; write for example drop_tail"),
        ("mark_treshold", "aqm: mark_treshold: not an AQM in one word (did you mean mark_threshold?)"),
        ("{mark_treshold: 30KB}", "aqm: mark_treshold: unknown key (did you mean mark_threshold?)"),
        ("{codel: 5ms}", "aqm: codel is a mode and has no short form; write {mode: codel, ...}"),
        ("{min: 5pkt}", "aqm: the key mode is required: drop_tail, mark_threshold, red, codel"),
        ("{red: {min: 5pkt}}", "aqm: red is a short form with one value; write {mode: red, ...} for more"),
        ("{red: }", "aqm: red takes one size or [min, max], for example red: [50pkt, 150pkt]"),
        ("{red: [9pkt, 5pkt]}", "profiles.queue.q.aqm.red: min (9pkt) must not be above max (5pkt)"),
        ("{red: [9pkt, 5KB]}", "profiles.queue.q.aqm.red: min (9pkt) and max (5KB) must both be bytes"),
        ("{autored: 5}", "profiles.queue.q.aqm.autored: 5: 5 is not a time with a unit"),
        (
            "{mark_threshold: 65pkt}",
            "aqm.mark_threshold: 65pkt: a marking threshold counts bytes; 65pkt of 1500B",
        ),
        ("{mark_threshold: 9KB, autored: 1ms}", "give either mark_threshold or autored, not both"),
        ("{autored: 1ms, mode: drop_tail}", "autored is short for mode red, not drop_tail"),
        (
            "{mark_threshold: 9KB, threshold: 8KB}",
            "mark_threshold is short for mode mark_threshold with threshold",
        ),
        ("{red: [1pkt, 2pkt, 3pkt]}", "red takes one size or [min, max]"),
        ("{autored: 1ms, min: 3pkt}", "give either target_delay or min and max"),
    ],
)
def test_mistake_in_a_short_form_is_told(aqm, error):
    with pytest.raises(InputError) as raised:
        with_aqm(aqm)
    assert error in str(raised.value)


def test_buffer_can_be_one_of_the_papers():
    text = BASE.replace("300KB", "deep")
    assert config.from_text(text).profiles.queue["q"].buffer == 3_000_000
    assert config.from_text(BASE.replace("300KB", "shallow")).profiles.queue["q"].buffer == 300_000


def test_profile_says_what_is_different_on_links_of_a_speed():
    loaded = with_eee(
        "{mode: coalesce, hold: 120us, trigger: 100pkt, by_speed: "
        "{10Gbps: {hold: 1ms, sleep: 3us}, 1000Mbps: {mode: standard, stall: 5us}}}"
    )
    slow, fast = loaded.eee_of(EDGE), loaded.eee_of(UPLINK)
    assert (slow.mode, slow.hold, slow.trigger, str(slow.stall)) == ("standard", None, None, "5us")
    assert (fast.mode, str(fast.hold), str(fast.trigger), str(fast.sleep)) == (
        "coalesce",
        "1ms",
        "100pkt",
        "3us",
    )
    assert loaded.eee_of(FABRIC.port("leaf1:3")) is loaded.eee_of(FABRIC.port("spine1:1"))


@pytest.mark.parametrize(
    ("profile", "error"),
    [
        (
            "{mode: standard, by_speed: {10Gbps: {hold: 1ms}}}",
            "c.yaml:5: error: profiles.eee.e.by_speed.10Gbps: with the rest of the profile: hold belongs to mode",
        ),
        (
            "{mode: standard, by_speed: {10Gbps: {mode: coalesce}}}",
            "with the rest of the profile: mode coalesce needs a hold above zero",
        ),
        (
            "{mode: standard, by_speed: {1Gbps: {}, 1000Mbps: {}}}",
            "profiles.eee.e.by_speed: 1Gbps and 1000Mbps are the same speed",
        ),
        ("{mode: standard, by_speed: {fast: {}}}", "'fast' is not a bit rate"),
        (
            "{mode: standard, by_speed: {1Gbps: {wake: 3}}}",
            "by_speed.1Gbps.wake: 3: 3 is not a time with a unit",
        ),
    ],
)
def test_mistake_in_what_differs_by_speed_is_told(profile, error):
    with pytest.raises(InputError) as raised:
        with_eee(profile)
    assert error in str(raised.value)


def ticks_at(loaded, port):
    """Sleep, wake and hold in BMv2's ticks."""
    (entry,) = [
        one
        for one in plan.intended(FABRIC, loaded, US)[port.node]
        if one.table == "port_eee" and one.match[0].value == port.number
    ]
    params = dict(entry.actions[0].params)
    return tuple(params[f"{key}_ticks"] for key in ("sleep", "wake", "hold"))


def test_presets_are_rounded_up_to_a_coarse_tick():
    loaded = config.from_text(BASE.replace("{queue: q}", "{queue: q, eee: 120us100}"))
    assert ticks_at(loaded, EDGE) == (182, 17, 120)
    assert ticks_at(loaded, UPLINK) == (3, 5, 120)


def test_phy_times_of_the_fabric_stand_for_those_of_its_presets():
    text = BASE.replace("{queue: q}", "{queue: q, eee: 120us100}")
    text += "phy:\n  1Gbps: {wake: 20us}\n  10Gbps: {sleep: 3us, wake: 6us}\n"
    loaded = config.from_text(text)
    assert [str(span) for span in loaded.eee_of(EDGE).timers(GIGABIT)] == ["182us", "20us"]
    assert [str(span) for span in loaded.eee_of(UPLINK).timers(TEN_GIGABIT)] == ["3us", "6us"]
    assert ticks_at(loaded, EDGE) == (182, 20, 120)


def test_a_profile_s_own_times_win_over_the_fabrics():
    loaded = with_eee("{mode: standard, wake: 9us}")
    loaded = config.overridden(loaded, {"phy": {"10Gbps": {"wake": "5us", "sleep": "4us"}}})
    assert [str(span) for span in loaded.eee_of(UPLINK).timers(TEN_GIGABIT)] == ["4us", "9us"]


def test_bmv2_queues_are_not_touched_unless_the_configuration_says_so():
    assert config.from_text(BASE).bmv2_queue(EDGE) is None


def test_bmv2_queue_is_deep_enough_for_a_full_buffer_of_the_shortest_frames_by_default():
    loaded = config.from_text(BASE + "target_settings: {bmv2: {}}\n")
    assert loaded.bmv2_queue(EDGE) == config.Bmv2QueueValues(depth_packets=5001, packets_per_second=0)


def test_bmv2_queue_is_one_deeper_than_a_buffer_in_packets():
    loaded = config.from_text(BASE.replace("300KB", "200pkt") + "target_settings: {bmv2: {}}\n")
    found = loaded.bmv2_queue(EDGE)
    assert found is not None and found.depth_packets == 201


def test_bmv2_queue_of_a_port_that_holds_packets_outside_its_buffer_needs_a_depth():
    text = BASE.replace("300KB", "300KB, held_packets: outside")
    (error,) = config.check(config.from_text(text + "target_settings: {bmv2: {}}\n"), FABRIC, NS)
    assert "queue_depth: auto is what fills the buffer, and queue profile q holds packets outside it" in str(
        error
    )
    given = config.from_text(text + "target_settings: {bmv2: {queue_depth: 9000pkt}}\n")
    assert config.check(given, FABRIC, NS) == []


@pytest.mark.parametrize(
    ("buffer", "action"),
    [
        ("200pkt", ("set_buffer_limit_in_packets", (("buffer_packets", 200),))),
        ("300KB, held_packets: outside", ("set_buffer_limit_beside_held", (("buffer_bytes", 300_000),))),
    ],
)
def test_a_buffer_in_packets_and_one_beside_held_packets_reach_the_switch(buffer, action):
    intended = plan.intended(FABRIC, config.from_text(BASE.replace("300KB", buffer)), NS)
    written = {entry.actions for entry in intended["leaf1"] if entry.table == "port_buffer" and entry.match}
    assert written == {(Action(*action),)}


def test_bmv2_queue_settings_are_inherited_key_by_key():
    loaded = config.from_text(
        BASE
        + "target_settings:\n  bmv2:\n    queue_depth: 1024pkt\n    packet_rate: auto\n"
        + "    roles: {uplink: {packet_rate: unlimited}}\n"
        + "    switches: {leaf2: {queue_depth: auto}}\n"
        + "    ports: {'leaf1:3': {packet_rate: 2kpps}}\n"
    )
    values = {
        name: (one.depth_packets, one.packets_per_second)
        for name in ("leaf1:1", "leaf1:3", "leaf1:4", "leaf2:1", "spine1:1")
        if (one := loaded.bmv2_queue(FABRIC.port(name)))
    }
    assert values == {
        "leaf1:1": (1024, 81_274),  # 1Gbps in frames of 1514 + 24 bytes
        "leaf1:3": (1024, 2000),
        "leaf1:4": (1024, 0),
        "leaf2:1": (5001, 81_274),
        "spine1:1": (1024, 812_743),
    }


@pytest.mark.parametrize(
    ("bmv2", "error"),
    [
        ("{queue_depth: 300KB}", "target_settings.bmv2.queue_depth: 300KB"),
        ("{queue_depth: 0pkt}", "must be above zero"),
        ("{packet_rate: 10Gbps}", "is not a unit of a packet rate (it is one of a bit rate)"),
        ("{queue_dept: auto}", "unknown key (did you mean queue_depth?)"),
    ],
)
def test_mistake_in_target_settings_is_told(bmv2, error):
    with pytest.raises(InputError) as raised:
        config.from_text(BASE + f"target_settings: {{bmv2: {bmv2}}}\n")
    assert error in str(raised.value)


def test_target_settings_for_what_is_not_there_are_refused():
    loaded = config.from_text(
        BASE + "target_settings: {bmv2: {switches: {leaf3: {}}, ports: {'leef1:1': {}}}}\n"
    )
    errors = [str(found) for found in config.check(loaded, FABRIC, NS)]
    assert len(errors) == 2
    assert any(
        "bmv2.switches.leaf3: leaf3: topology leaf-spine-4 has no switch of that name" in one
        for one in errors
    )
    assert any("no linked switch port of that name (did you mean leaf1?)" in one for one in errors)
