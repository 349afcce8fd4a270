"""Profiles: dependence on link speed, short forms, default thresholds, BMv2's own queues."""

from pathlib import Path

import pytest
from eeon_control import config, topology
from eeon_control.errors import InputError
from eeon_control.port_settings.mark_threshold import bandwidth_delay_share, default_threshold
from eeon_control.units import DataRate, Duration
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


@given(rate=st.integers(1, 10**12), rtt=st.integers(1, 10**10))
def test_default_threshold_is_never_below_its_bandwidth_delay_share(rate, rtt):
    threshold = default_threshold(DataRate(rate), Duration(rtt))
    assert threshold >= bandwidth_delay_share(DataRate(rate), Duration(rtt))
    assert threshold % 1500 == 0


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
