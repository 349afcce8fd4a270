"""Profiles: dependence on link speed, short forms, default thresholds, BMv2's own queues."""

from __future__ import annotations

from pathlib import Path

import pytest
from eeon_control import config, topology
from eeon_control.errors import InputError
from eeon_control.port_settings.mark_threshold import bandwidth_delay_share, default_threshold
from eeon_control.units import Bytes, DataRate, Duration
from expected_rows import bases
from hypothesis import given
from hypothesis import strategies as st

NS = Duration.parse("1ns")
GIGABIT, TEN_GIGABIT = DataRate.parse("1Gbps"), DataRate.parse("10Gbps")
FABRIC = topology.load("leaf-spine-4")
EDGE, UPLINK = FABRIC.port("leaf1:1"), FABRIC.port("leaf1:3")  # 1Gbps, 10Gbps
BASE = bases(Path(__file__).parent / "expected" / "configuration.yaml")["plain"]


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


def test_a_profile_s_own_times_win_over_the_fabrics():
    for own, times in (("9us", ["4us", "9us"]), ("0s", ["4us", "0s"])):
        loaded = with_eee(f"{{mode: standard, wake: {own}}}")
        loaded = config.overridden(loaded, {"phy": {"10Gbps": {"wake": "5us", "sleep": "4us"}}})
        assert [str(span) for span in loaded.eee_of(UPLINK).timers(TEN_GIGABIT)] == times


def test_bmv2_queues_are_not_touched_unless_the_configuration_says_so():
    assert config.from_text(BASE).bmv2_queue(EDGE) is None


# A full buffer of the shortest frames, or of packets, and one more; at most what Thrift's 31 bits hold.
@pytest.mark.parametrize(
    ("buffer", "depth"), [("300KB", 5001), ("200pkt", 201), ("4000000000pkt", 2**31 - 1)]
)
def test_bmv2_queue_is_deep_enough_for_a_full_buffer_by_default(buffer, depth):
    loaded = config.from_text(BASE.replace("300KB", buffer) + "target_settings: {bmv2: {}}\n")
    assert loaded.bmv2_queue(EDGE) == config.Bmv2QueueValues(depth_packets=depth, packets_per_second=0)


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
