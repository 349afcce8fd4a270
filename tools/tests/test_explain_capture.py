"""`eeon explain` on packets of captures: in the fabric of `eeon replay`, and in a single switch."""

import json
from collections import Counter
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import made_captures
import pytest
from click.testing import CliRunner
from eeon_control import topology as topologies
from eeon_tools.cli.replay import replay as replay_command
from eeon_tools.hops.recording import Recording
from eeon_tools.replay.twin_run import ReplaySettings, replay
from eeon_tools.trace.capture import read_packets
from made_captures import capture
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from test_explain import PROBE, document, run

MARK = ("-t", "leaf-spine-4", "-c", "mark_threshold")
PS_PER_NS = 1000
MAC = "02:00:00:00:00:01"
UNICAST = Ether(dst="02:00:00:00:00:02")
LINK_DELAY_PS = 500 * PS_PER_NS


def without_ecn(trace: Path, copy: Path) -> None:
    """Writes the same IPv4 packets as from hosts that did not negotiate ECN."""
    packets = []
    for packet in read_packets(trace):
        frame = bytearray(packet.captured)
        ecn, frame[15] = frame[15] & 3, frame[15] & 0xFC
        checksum = int.from_bytes(frame[24:26], "big") + ecn
        frame[24:26] = (checksum + (checksum >> 16) & 0xFFFF).to_bytes(2, "big")
        packets.append((packet.time_ns, packet.frame_bytes, bytes(frame)))
    capture(copy, packets)


def step(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(step for step in found["steps"] if step["step"] == name)


def across_the_fabric(trace: Path) -> int:
    """Returns the number of the first data packet of a trace that leaves its sender's leaf."""
    hosts = {host.ipv4.packed: host.leaf for host in topologies.load("leaf-spine-4").hosts.values()}
    for number, packet in enumerate(read_packets(trace), start=1):
        source, destination = packet.captured[26:30], packet.captured[30:34]
        if packet.frame_bytes > 1000 and hosts[source] != hosts[destination]:
            return number
    raise AssertionError("the trace has no packet from rack to rack")


def test_a_packet_that_no_host_sends_is_refused_for_its_own_reason(tmp_path: Path) -> None:
    sent = UNICAST / IP(src="10.0.1.1", dst="10.0.2.1") / UDP() / bytes(100)
    strays = {
        "multicast or broadcast": Ether(dst="01:00:5e:00:00:fb") / IP(src="10.0.1.1", dst="224.0.0.251"),
        "link-local": UNICAST / IP(src="10.0.1.1", dst="169.254.1.1"),
        "to itself": UNICAST / IP(src="10.0.1.1", dst="10.0.1.1"),
        "no host": UNICAST / IP(src="203.0.113.9", dst="10.0.1.1"),
    }
    path = tmp_path / "strays.pcap"
    capture(path, [(0, 142, bytes(sent)), *((1, 60, bytes(one).ljust(60, b"\0")) for one in strays.values())])
    for number, why in enumerate(strays, start=2):
        output = run(str(path), "-n", str(number), *MARK, "--unmapped", "drop").output
        assert f"packet {number}: is left out, because " in output and why in output, output
        assert not any(other in output for other in strays if other != why)


@pytest.fixture
def sparse(tmp_path: Path) -> Path:
    return made_captures.sparse(tmp_path)


def test_a_packet_comes_to_the_next_switch_when_the_one_before_and_the_link_say_so(small_trace: Path) -> None:
    number = str(across_the_fabric(small_trace))
    way = document(str(small_trace), "-n", number, *MARK)
    first = document(str(small_trace), "-n", number, *MARK, "--switch", way["hops"][0]["switch"])
    assert first == {key: value for key, value in way["hops"][0].items() if key != "switch"} | {
        "title": first["title"],
        "end_ps": first["end_ps"],
    }
    sent = step(first, "sent")
    leaf = next(
        switch for switch in topologies.load("leaf-spine-4").leaves if f"at {switch.name}" in first["title"]
    )
    spine = next(port.peer.node for port in leaf.ports if port.number == sent["port"])
    second = document(str(small_trace), "-n", number, *MARK, "--switch", spine)
    arrived = step(second, "arrived")
    assert arrived["at_ps"] == sent["at_ps"] + sent["wire_time_ps"] + LINK_DELAY_PS
    assert arrived["frame"] == sent["frame"]


def test_a_packet_that_does_not_pass_a_switch_is_said_to_pass_others(small_trace: Path) -> None:
    number = str(across_the_fabric(small_trace))
    refused = [
        result.output
        for spine in ("spine1", "spine2")
        if (result := run(str(small_trace), "-n", number, *MARK, "--switch", spine)).exit_code == 1
    ]
    assert len(refused) == 1
    assert "does not pass it; it passes leaf" in refused[0]


def test_the_manifests_topology_is_used_when_none_is_given(small_trace: Path) -> None:
    with_topology = run(str(small_trace), "-n", "5", *MARK)
    assert run(str(small_trace), "-n", "5", "-c", "mark_threshold").output == with_topology.output


def test_registers_and_queues_are_as_the_packets_before_left_them(sparse: Path) -> None:
    held = ("-t", "leaf-spine-4", "-c", "drop_tail", "-c", "eee_120us100", "--switch", "leaf1")
    third = document(str(sparse), "-n", "4", *held)
    assert step(third, "queued")["packets_ahead"] == 2
    assert "it joins a hold as packet 3, trigger 100 packets" in third["endings"][0]["reasons"][1]
    alone = document(str(sparse), "-n", "4", *held, "--after", "0")
    assert step(alone, "queued")["packets_ahead"] == 0
    assert "a hold begins with it" in alone["endings"][0]["reasons"][1]


def test_a_packet_that_comes_later_ends_the_hold_of_those_before_it(sparse: Path, tmp_path: Path) -> None:
    config = tmp_path / "three.yaml"
    config.write_text(
        "profiles: {eee: {three: {mode: coalesce, hold: 120us, trigger: 3pkt}}}\n"
        "roles: {host_facing: {eee: three}}\n",
        encoding="utf-8",
    )
    held = ("-t", "leaf-spine-4", "-c", "drop_tail", "-c", str(config), "--switch", "leaf1")
    first, third = (document(str(sparse), "-n", number, *held) for number in ("2", "4"))
    begun, ended = first["endings"][0]["reasons"], third["endings"][0]["reasons"]
    assert "a hold begins with it: timer 120.000 us, trigger 3 packets" in begun[1]
    assert begun[2].endswith("before that: a later packet reached the trigger, and the gate opened earlier")
    assert "the hold ends with it, packet 3 since it began, trigger 3 packets" in ended[1]
    # The third arrives 20 us after the first, and the link takes 16.5 us to wake.
    assert step(first, "dequeued")["at_ps"] - step(first, "queued")["at_ps"] == 36_500 * PS_PER_NS


def test_a_register_that_is_set_counts_from_the_packet_on(sparse: Path) -> None:
    found = document(str(sparse), "-n", "5", *MARK, "--register", "occupancy_bytes[2]=40000")
    assert [hop["endings"][0]["verdict"] for hop in found["hops"]] == ["marked"]


def test_the_way_has_its_hosts_and_every_switch_in_order(small_trace: Path) -> None:
    number = across_the_fabric(small_trace)
    way = document(str(small_trace), "-n", str(number), *MARK)
    assert [hop["switch"][:-1] for hop in way["hops"]] == ["leaf", "spine", "leaf"]
    times = [way["offered_ps"], way["left_ps"]]
    for hop in way["hops"]:
        times += [step(hop, "arrived")["at_ps"], step(hop, "sent")["at_ps"]]
    assert times == sorted(times)
    last = step(way["hops"][-1], "sent")
    assert way["delivered_ps"] == last["at_ps"] + last["wire_time_ps"] + LINK_DELAY_PS
    lines = run(str(small_trace), "-n", str(number), *MARK).output.splitlines()
    assert lines[0].startswith(f"packet {number} of {small_trace.name}, ") and way["receiver"] in lines[0]
    assert [line.split(",")[0].strip() for line in lines if ", received on port" in line] == [
        hop["switch"] for hop in way["hops"]
    ]
    assert not any("parser" in line for line in lines), "steps are told on demand"
    assert lines[-1].strip().startswith(f"received by {way['receiver']} at")
    brief = run(str(small_trace), "-n", str(number), *MARK, "--brief").output.splitlines()
    assert len(brief) == 3 + len(way["hops"])
    details = run(str(small_trace), "-n", str(number), *MARK, "--details").output
    assert details.count("\n    parser\n") == 3


@pytest.mark.system
def test_the_first_marked_dropped_or_held_packet_is_found(incast: Path) -> None:
    held = (*MARK, "-c", "eee_120us100")
    found: list[Recording] = []
    settings = ReplaySettings("", incast, "leaf-spine-4", ("mark_threshold", "eee_120us100"))
    replay(settings, recorded=found.append)
    marked = [visit for visit in found[0].visits() if visit.verdict == "marked"]
    first = min(marked, key=lambda visit: (visit.queued_ps or 0, visit.number))
    way = document(str(incast), "--first", "marked", *held)
    assert way["packet"] == first.number
    assert {hop["switch"]: hop["endings"][0]["verdict"] for hop in way["hops"]}[first.node] == "marked"
    kept = document(str(incast), "--first", "held", *held)
    assert any("held until" in reason for hop in kept["hops"] for reason in hop["endings"][0]["reasons"])
    lost = document(str(incast), "--first", "dropped", "-t", "leaf-spine-4", "-c", "red_ect")
    assert lost["hops"][-1]["endings"][0]["outcome"] == "dropped" and lost["receiver"] is None
    # The first packet of another flow differs.
    other = next(visit for visit in marked if visit.flow != first.flow)
    source, destination = (end.rsplit(":", 1) for end in other.flow.split(" > "))
    flow = ",".join(["tcp", *source, *destination])
    assert document(str(incast), "--first", "marked", "--flow", flow, *held)["packet"] == min(
        visit.number for visit in marked if visit.flow == other.flow
    )
    assert document(str(incast), "--flow", flow, *held)["packet"] <= other.number


def test_a_packet_that_is_nowhere_is_said(sparse: Path) -> None:
    nothing = run(str(sparse), "--first", "marked", *MARK)
    assert nothing.exit_code == 1
    assert "no packet of sparse.pcap is marked under this configuration" in nothing.output
    assert "the deepest queue was 0 B" in nothing.output


def test_warnings_of_the_configuration_are_told_beside_the_explanation(sparse: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.yaml"
    small.write_text("profiles: {queue: {edge: {buffer: 20KB}}}\n")
    told = run(str(sparse), "--packet", "1", *MARK, "-c", str(small)).stderr
    assert "warning: profiles.queue.edge.aqm.threshold: 30KB: not below the buffer (20KB)" in told


@pytest.mark.system
def test_why_nothing_is_marked_is_said_of_what_was_asked_for(tmp_path: Path, incast: Path) -> None:
    plain = tmp_path / "plain.pcap"
    without_ecn(incast, plain)
    flows = Counter(packet.captured[26:38] for packet in read_packets(plain))
    first, count = next(iter(flows)), flows.total()
    nothing = run(str(plain), "--first", "marked", *MARK)
    assert f"none of {count:,} packets is ECN-capable" in nothing.output.replace("\n", " ")
    ends = [IPv4Address(first[at : at + 4]) for at in (0, 4)]
    ports = [int.from_bytes(first[at : at + 2], "big") for at in (8, 10)]
    flow = f"tcp,{ends[0]},{ports[0]},{ends[1]},{ports[1]}"
    one_flow = run(str(plain), "--first", "marked", "--flow", flow, *MARK)
    assert f"none of {flows[first]:,} packets is ECN-capable" in one_flow.output.replace("\n", " ")
    result = replay(ReplaySettings("plain", plain, "leaf-spine-4", ("mark_threshold",)))
    assert result.total().marked == 0
    assert result.unmarked == f"none of {count:,} packets is ECN-capable"
    never = replay(ReplaySettings("plain", plain, "leaf-spine-4", ("drop_tail",)))
    assert never.unmarked == ""


def test_a_capture_runs_through_another_program_with_its_times(sparse: Path) -> None:
    found = document(str(sparse), "-n", "3", "--program", str(PROBE), "--port", "4")
    assert step(found, "arrived")["at_ps"] == 1_010_000 * PS_PER_NS
    assert step(found, "arrived")["port"] == 4


def test_the_first_packet_of_a_kind_is_for_captures_that_go_through_a_fabric(sparse: Path) -> None:
    result = run(str(sparse), "--first", "held", "--program", str(PROBE))
    assert result.exit_code == 1
    assert "is for captures that go through a fabric" in result.output


def test_a_capture_that_breaks_off_is_told_how_to_keep_what_is_whole(sparse: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    path.write_bytes(sparse.read_bytes()[:-1])
    result = run(str(path), "-n", "2", *MARK)
    assert result.exit_code == 1
    assert "is truncated" in result.output
    assert "; `editcap FILE OUT` takes the packets before that" in result.output


def at_once(path: Path, frames: int) -> None:
    """Writes packets in which two hosts send thirty full segments each to h1 at one instant."""
    packets = [
        Ether(src=MAC, dst=MAC)
        / IP(src=sender, dst="10.0.1.1", tos=2)
        / TCP(sport=7, flags="A", seq=number * 43_800 // frames)
        / bytes(43_800 // frames)
        for sender in ("10.0.1.2", "10.0.2.1")
        for number in range(frames)
    ]
    capture(path, ((0, len(packet), bytes(packet)) for packet in packets))


def test_frames_that_a_host_sends_at_one_instant_are_told_apart(tmp_path: Path) -> None:
    """Two hosts send thirty full segments each to h1, as one super-frame, or as frames of one time stamp."""
    paths = tmp_path / "whole.pcap", tmp_path / "frames.pcap"
    for frames, path in zip((1, 30), paths, strict=True):
        at_once(path, frames)
    whole, single = (document(str(path), "--first", "marked", *MARK) for path in paths)
    assert [whole["title"], single["title"]] == [
        "packet 1 of whole.pcap, segment 21 of 30",
        "packet 21 of frames.pcap",
    ]
    for way in (whole, single):
        assert "marked" in [hop["endings"][0]["verdict"] for hop in way["hops"]]
        assert way["left_ps"] == 20 * 12_304 * PS_PER_NS
        assert way["delivered_ps"] > 40 * 12_304 * PS_PER_NS
    assert document(str(paths[0]), "-n", "2", *MARK)["title"] == "packet 2 of whole.pcap, segment 1 of 30"
    assert document(str(paths[0]), "-n", "1", "--segment", "21", *MARK) == whole
    assert (
        "--segment: 31: is beyond the 30 frames of packet 1"
        in run(str(paths[0]), "-n", "1", "--segment", "31", *MARK).output
    )


@pytest.mark.system
def test_the_page_of_a_replay_names_a_segment_and_the_packets_before_that_one(tmp_path: Path) -> None:
    path, page = tmp_path / "whole.pcap", tmp_path / "page.html"
    at_once(path, 1)
    done = CliRunner().invoke(replay_command, [str(path), *MARK, "--html", str(page)])
    assert done.exit_code == 0, done.output
    data = page.read_text().split('<script type="application/json" id="data">')[1].split("</script>")[0]
    marks = [one for one in json.loads(data)["runs"][0]["details"] if one[3] == "marked"]
    assert [one[0] for one in marks[:3]] == ["1.21", "2.21", "1.22"]
    assert [one[11].split(":")[0] for one in marks[:3]] == [
        "20 packets before it",
        "20 packets before it",
        "21 packets before it",
    ]
