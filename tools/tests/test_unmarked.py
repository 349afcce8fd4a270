"""The reason why a run has marked nothing."""

from pathlib import Path

import pytest
from eeon_control import config as configs
from eeon_control import topology as topologies
from eeon_control.topology import Host
from eeon_tools.replay.comparing import remarks
from eeon_tools.replay.feed import Feed
from eeon_tools.replay.unmarked import why_unmarked
from made_captures import capture
from made_results import run_result
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

CODEL = "profiles: {queue: {q: {buffer: 1MB, aqm: {mode: codel, target: 100us, interval: 1ms}}}}"
RED = "profiles: {queue: {q: {buffer: 1MB, aqm: {mode: red, min: MIN, max: 90KB, max_probability: 0.1}}}}"
ROLES = "\nroles: {host_facing: {queue: q}, uplink: {queue: q}, spine: {queue: q}}\n"


ETHERNET = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
"""With both addresses: scapy would look a missing one up in the network."""


def why(config: str, depths: dict[str, int] | None = None, **by_ecn: int) -> str:
    counts = {"not_ect": 0, "ect_1": 0, "ect_0": 0, "ce": 0} | by_ecn
    ports = topologies.load("leaf-spine-4").ports()
    return why_unmarked(configs.load(config), ports, counts, depths or {})


def written(folder: Path, text: str) -> str:
    path = folder / "own.yaml"
    path.write_text(text + ROLES)
    return str(path)


def test_packets_that_are_not_ecn_capable_are_the_reason() -> None:
    assert why("mark_threshold", not_ect=32_640) == "none of 32,640 packets is ECN-capable"


def test_packets_that_came_with_ce_are_told() -> None:
    assert why("mark_threshold", not_ect=3, ce=2) == (
        "none of 5 packets is ECN-capable; 2 arrived with CE, which they keep"
    )


def test_a_queue_below_every_threshold_is_told_beside_the_lowest() -> None:
    assert why("mark_threshold", {"leaf1:1": 15_140, "leaf1:3": 12_000}, ect_0=10) == (
        "the deepest queue was 15,140 B (leaf1:1 to h1), the lowest threshold is 30,000 B"
    )


def test_a_deep_queue_with_a_high_threshold_does_not_hide_the_nearest_one() -> None:
    # Links between switches have 10 Gbit/s and a threshold of 97,500 B.
    assert why("mark_threshold", {"leaf1:1": 29_000, "leaf1:3": 50_000}, ect_0=10) == (
        "no queue exceeded its threshold; the closest was leaf1:1 to h1, 29,000 B of 30,000 B"
    )


def test_a_queue_above_its_threshold_met_no_packet_that_can_be_marked() -> None:
    assert why("mark_threshold", {"leaf1:1": 31_000}, ect_0=1, not_ect=99) == (
        "the queue of leaf1:1 to h1 reached 31,000 B, its threshold is 30,000 B, but it marked no "
        "ECN-capable packet (1 of 100 are ECN-capable)"
    )


def test_the_l4s_threshold_is_asked_only_of_l4s_packets(tmp_path: Path) -> None:
    config = written(
        tmp_path,
        "profiles: {queue: {q: {buffer: 1MB, aqm: {mode: mark_threshold, threshold: 60KB, "
        "l4s_threshold: 9KB}}}}",
    )
    assert why(config, {"leaf1:1": 5_000}, ect_0=1).endswith("the lowest threshold is 60,000 B")
    assert why(config, {"leaf1:1": 5_000}, ect_0=1, ect_1=1).endswith("the lowest threshold is 9,000 B")


def test_red_is_told_by_its_minimum_in_its_own_unit(tmp_path: Path) -> None:
    in_bytes = written(tmp_path, RED.replace("MIN", "30KB"))
    assert why(in_bytes, {"leaf1:1": 1_514}, ect_0=1).endswith("the lowest threshold is 30,000 B")
    in_packets = written(tmp_path, RED.replace("MIN", "20pkt").replace("90KB", "60pkt"))
    assert why(in_packets, {"leaf1:1": 100}, ect_0=1).endswith("the lowest threshold is 20 packets")


def test_codel_is_told_by_its_target(tmp_path: Path) -> None:
    assert why(written(tmp_path, CODEL), {"leaf1:1": 90_000}, ect_0=1) == (
        "no queue kept ECN-capable packets longer than CoDel's target of 100.000 us for an interval of "
        "1,000.000 us"
    )


def test_ports_that_never_mark_are_the_reason_before_all_others() -> None:
    assert why("drop_tail", not_ect=5) == "no port marks; the AQM is drop_tail"


@pytest.mark.parametrize("tagged", [False, True])
def test_a_feed_counts_ecn_codepoints_of_both_ip_versions(
    tmp_path: Path, hosts: list[Host], tagged: bool
) -> None:
    trace = tmp_path / "ecn.pcap"
    ends, packets = (hosts[0], hosts[2]), []
    for time, ecn in enumerate((0, 1, 2, 2, 3)):
        four = IP(src=str(ends[0].ipv4), dst=str(ends[1].ipv4), tos=0xB8 | ecn)
        six = IPv6(src=str(ends[0].ipv6), dst=str(ends[1].ipv6), tc=0xB8 | ecn)
        for ip in (four, six):
            frame = bytes(ETHERNET / (Dot1Q(vlan=3) / ip if tagged else ip) / UDP())
            packets.append((time, len(frame), frame))
    feed = Feed(capture(trace, packets), hosts, 1.0)
    assert len(list(feed.offers())) == 10
    assert feed.counts.by_ecn == {"not_ect": 2, "ect_1": 2, "ect_0": 4, "ce": 2}


def test_a_run_that_has_no_reason_makes_no_remark() -> None:
    assert not list(remarks(run_result("quiet")))
