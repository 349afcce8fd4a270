"""Warnings: what is legal but unwise is said with the papers' reason, and what is sound is not warned about."""

from __future__ import annotations

import pytest
from eeon_control import config, topology
from eeon_control.errors import Severity
from eeon_control.units import Duration

NS = Duration.parse("1ns")
FABRIC = topology.load("leaf-spine-4")


def warnings(buffer: str = "300KB", aqm: str = "drop_tail", eee: str = "off", fabric=FABRIC) -> list[str]:
    text = (
        f"profiles:\n  queue:\n    q:\n      buffer: {buffer}\n      aqm: {aqm}\n"
        f"roles:\n  host_facing: {{queue: q}}\n  uplink: {{queue: q, eee: {eee}}}\n  spine: {{queue: q}}\n"
    )
    found = config.check(config.from_text(text, "c.yaml"), fabric, NS)
    assert all(one.severity is Severity.WARNING for one in found)
    return [str(one) for one in found]


@pytest.mark.parametrize("aqm", ["mark_threshold", "{autored: 100us, protect: ack_syn}"])
@pytest.mark.parametrize("eee", ["500us500", "1ms1000", "10ms1000", "120us100+"])
def test_long_hold_with_marking_on_shallow_buffers(aqm, eee):
    found = [one for one in warnings(aqm=aqm, eee=eee) if "hold of" in one]
    assert len(found) == 1
    assert found[0].startswith(f"c.yaml:8: warning: roles.uplink.eee: {eee}: a hold of ")
    assert "with ECN marking on a shallow buffer (300KB)" in found[0]
    assert "1ms1000 more than 50%, added almost 50% latency" in found[0]
    assert "(E-EON thesis section 7.4.2)" in found[0]


def test_long_hold_with_marking_on_deep_buffers_costs_runtime_too():
    [found] = warnings(buffer="3MB", aqm="mark_threshold", eee="1ms1000")
    assert "with ECN marking on a deep buffer (3MB): 10Gbps brings 1.25MB in that time" in found
    assert "added 10% latency" in found


def test_long_hold_without_marking_is_warned_about_on_shallow_buffers_only():
    [found] = warnings(eee="1ms1000")
    assert "a hold of 1ms on a shallow buffer (300KB): 10Gbps brings 1.25MB" in found
    assert "(E-EON thesis section 4.3.3.1)" in found
    assert warnings(eee="500us500") == []
    assert warnings(buffer="3MB", eee="1ms1000") == []


@pytest.mark.parametrize("eee", ["off", "standard", "12us10", "120us100"])
def test_papers_best_combinations_have_no_warning(eee):
    assert warnings(aqm="mark_threshold", eee=eee) == []


def test_a_buffer_below_a_full_frame():
    assert warnings(buffer="1500B") == []
    assert warnings(buffer="1499B") == [
        "c.yaml:4: warning: profiles.queue.q.buffer: 1499B: holds no frame of 1500B: every full frame is dropped"
    ]


def test_threshold_not_below_the_buffer():
    found = warnings(buffer="90KB", aqm="{mark_threshold: 97.5KB}")
    assert found == [
        "c.yaml:5: warning: profiles.queue.q.aqm.mark_threshold: 97.5KB: not below the buffer (90KB): "
        "the port drops before it marks, so nothing is ever marked"
    ]


def test_default_threshold_not_below_the_buffer_is_told_with_its_speed():
    [found] = warnings(buffer="90KB", aqm="mark_threshold")
    assert "auto is 97.5KB at 10Gbps, not below the buffer (90KB)" in found


def test_l4s_threshold_not_below_the_buffer():
    [found] = warnings(aqm="{mode: mark_threshold, l4s_threshold: 300KB}")
    assert "aqm.l4s_threshold: 300KB: not below the buffer" in found


def test_threshold_below_its_bandwidth_delay_share():
    found = warnings(aqm="{mark_threshold: 3KB}")
    assert len(found) == 1
    # Two host links at 1Gbps and two links at 10Gbps: 4 x 2 x 500ns, and 1622 bytes on each wire.
    assert "3KB is below C x RTT / 7 = 5.812KB (10Gbps, RTT 32.547us of the longest path, empty)" in found[0]
    assert "threshold: auto would be 97.5KB" in found[0]
    assert warnings(aqm="{mark_threshold: 30KB}") == []


FAST = topology.from_text(
    "name: fast\ndefaults: {rate: 100Gbps, delay: 500ns}\n"
    "leaf_spine: {leaves: 2, hosts_per_leaf: 1, spines: 2}\n"
)


LONG = topology.from_text(
    "name: long\ndefaults: {rate: 100Gbps, delay: 250us}\n"
    "leaf_spine: {leaves: 2, hosts_per_leaf: 1, spines: 2}\n"
)


def test_auto_that_is_too_low_for_the_path_names_the_rtt_that_it_needs():
    # Four links, there and back; a full frame and an ACK take 0.13us at 100Gbps on each.
    (found,) = warnings(buffer="100MB", aqm="mark_threshold", fabric=LONG)
    assert "auto is 772.5KB at 100Gbps, for an RTT of 420us" in found
    assert "below C x RTT / 7 = 3572.355KB (100Gbps, RTT 2000.519us of the longest path, empty)" in found
    assert "threshold: auto with rtt: 2000.519us would be 3595.5KB" in found
    assert warnings(buffer="100MB", aqm="{mark_threshold: auto, rtt: 2.1ms}", fabric=LONG) == []


def test_a_threshold_that_is_too_low_is_not_told_to_become_one_that_is_so_as_well():
    (found,) = warnings(buffer="100MB", aqm="{mark_threshold: 100KB}", fabric=LONG)
    assert "threshold: auto with rtt: 2000.519us would be 3595.5KB" in found


@pytest.mark.parametrize("aqm", ["{mark_threshold: 30KB}", "{red: 20pkt, protect: ack_syn}"])
def test_a_threshold_of_slow_links_on_fast_ones(aqm):
    (found,) = warnings(aqm=aqm, fabric=FAST)
    assert (
        "30KB is little for 100Gbps: auto is 97.5KB at 10Gbps and 772.5KB here, because hosts send in bursts"
    ) in found


def test_a_threshold_that_fits_the_rtt_that_is_given_is_not_warned_about():
    assert warnings(aqm="{mark_threshold: 30KB, rtt: 10us}", fabric=FAST) == []


def test_threshold_is_compared_with_the_rtt_that_is_given():
    found = warnings(aqm="{mark_threshold: 30KB, rtt: 250us}")
    assert len(found) == 1
    assert "30KB is below C x RTT / 7 = 44.643KB (10Gbps, RTT 250us as given)" in found[0]


def test_red_that_always_marks_below_the_bandwidth_delay_share():
    found = warnings(aqm="{mode: red, min: 1pkt, max: 3pkt, max_probability: 1, protect: ack_syn}")
    assert len(found) == 1
    assert "aqm.max: 3pkt: max: 4.5KB is below C x RTT / 7" in found[0]


def test_red_that_protects_only_ect():
    [found] = warnings(aqm="{red: [30KB, 90KB]}")
    assert "profiles.queue.q.aqm: only ECT packets are spared" in found
    assert "marking-threshold paper section 4.1" in found


def test_a_round_trip_needs_two_hosts():
    one = topology.from_text(
        "name: one\ndefaults: {rate: 1Gbps, delay: 1us}\nleaf_spine: {leaves: 1, hosts_per_leaf: 1, spines: 0}\n"
    )
    assert topology.base_rtt(one) is None
    two = topology.from_text(
        "name: two\ndefaults: {rate: 1Gbps, delay: 1us}\nleaf_spine: {leaves: 1, hosts_per_leaf: 2, spines: 0}\n"
    )
    # Two links, each 2 x 1us and 1514 + 60 + 2 x 24 bytes.
    assert str(topology.base_rtt(two)) == "29.952us"


def codel(**keys: str) -> list[str]:
    given = {"target": "800us", "interval": "1500us", "protect": "ack_syn", **keys}
    return warnings(aqm="{mode: codel, " + ", ".join(f"{key}: {value}" for key, value in given.items()) + "}")


def test_codel_of_the_papers_has_no_warning():
    assert codel() == []


def test_codel_target_below_one_frames_time():
    found = codel(target="5us")
    assert found == [
        "c.yaml:5: warning: profiles.queue.q.aqm.target: 5us: target 5us is below the 12.304us that one frame of "
        "1.514KB takes at 1Gbps: a packet behind one other is late already (RFC 8289 section 4.4)"
    ]
    assert codel(target="1us")[1].endswith("a packet behind one other is late already (RFC 8289 section 4.4)")


def test_codel_interval_below_the_target_or_the_round_trip():
    assert "interval 500us is below target 800us" in codel(interval="500us")[0]
    assert (
        "is below the round-trip time of the longest path, empty" in codel(target="13us", interval="14us")[0]
    )


def test_codel_without_ecn_or_protection():
    assert "without ECN, CoDel can only drop" in codel(ecn="false")[0]
    assert "protect: ack_syn spares them" in codel(protect="ect")[0]


def two_leaves(*rates: str) -> topology.Topology:
    """Two leaves with a spine for each rate, and links of that rate to it."""
    links = [f"  - {{endpoints: [leaf{n}:1, h{n}:1], rate: 1Gbps}}" for n in (1, 2)]
    links += [
        f"  - {{endpoints: [leaf{n}:{2 + place}, spine{place}:{n}], rate: {rate}}}"
        for n in (1, 2)
        for place, rate in enumerate(rates)
    ]
    nodes = [f"  {name}: {{kind: switch}}" for name in ("leaf1", "leaf2")]
    nodes += [f"  spine{place}: {{kind: switch}}" for place in range(len(rates))]
    nodes += ["  h1: {kind: host}", "  h2: {kind: host}"]
    text = ["name: two", "defaults: {delay: 500ns}", "nodes:", *nodes, "links:", *links]
    return topology.from_text("\n".join(text), "two.yaml")


def test_ecmp_over_up_links_of_two_rates_is_warned_about_once():
    assert warnings(fabric=two_leaves("10Gbps", "10Gbps")) == []
    [found] = [one for one in warnings(fabric=two_leaves("10Gbps", "1Gbps")) if "up-links" in one]
    assert found.startswith("two.yaml: warning: flows are spread evenly over up-links of several rates: ")
    assert "leaf1:2 10Gbps and leaf1:3 1Gbps (2 such switches)" in found


def test_one_path_over_up_links_of_two_rates_is_no_even_spread():
    text = (
        "profiles: {queue: {q: {buffer: 300KB}}}\nrouting: {ecmp: false}\n"
        "roles: {host_facing: {queue: q}, uplink: {queue: q}, spine: {queue: q}}\n"
    )
    assert config.check(config.from_text(text, "c.yaml"), two_leaves("10Gbps", "1Gbps"), NS) == []


@pytest.mark.parametrize(
    ("aqm", "told"),
    [
        ("{mark_threshold: 300MB}", "300MB is 3,076 times what auto would be at 10Gbps (97.5KB)"),
        ("{red: 300MB, protect: ack_syn}", "max: 300MB is 3,076 times"),
    ],
)
def test_threshold_far_above_what_its_link_needs(aqm, told):
    found = warnings(buffer="1GB", aqm=aqm)
    assert any(told in one and "packets wait" in one for one in found), found
    assert not [one for one in warnings(buffer="3MB", aqm="{mark_threshold: 1MB}") if "times what" in one]
