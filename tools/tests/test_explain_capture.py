"""`eeon explain` on packets of captures: in the fabric of `eeon replay`, and in a single switch."""

import json
from itertools import pairwise
from typing import Any

import pytest
from eeon_tools.explain import journeys
from eeon_tools.hops.recording import Recording
from eeon_tools.replay.twin_run import ReplaySettings, replay
from made_captures import capture
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from test_explain import document, run

from control_plane.tests.eeon_command import eeon

MARK = ("-t", "leaf-spine-4", "-c", "mark_threshold")
PS_PER_NS = 1000
MAC = "02:00:00:00:00:01"
LINK_DELAY_PS = 500 * PS_PER_NS
ACROSS = "42"
"""A packet of the small trace from rack to rack; while it is on its first link, a later one is sent."""


def step(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(step for step in found["steps"] if step["step"] == name)


def test_a_packet_that_does_not_pass_a_switch_is_said_to_pass_others(small_trace):
    refused = [
        result.output
        for spine in ("spine1", "spine2")
        if (result := run(str(small_trace), "-n", ACROSS, *MARK, "--switch", spine)).exit_code == 1
    ]
    assert len(refused) == 1
    assert "does not pass it; it passes leaf" in refused[0]


def test_the_way_has_its_hosts_and_each_switch_when_the_one_before_and_the_link_say_so(
    small_trace, monkeypatch
):
    monkeypatch.setattr(journeys, "_CHUNK", 1)
    way = document(str(small_trace), "-n", ACROSS, *MARK)
    assert [hop["switch"][:-1] for hop in way["hops"]] == ["leaf", "spine", "leaf"]
    assert way["offered_ps"] <= way["left_ps"] < step(way["hops"][0], "arrived")["at_ps"]
    for hop, following in pairwise(way["hops"]):
        sent, arrived = step(hop, "sent"), step(following, "arrived")
        assert arrived["at_ps"] == sent["at_ps"] + sent["wire_time_ps"] + LINK_DELAY_PS
        assert arrived["frame"] == sent["frame"]
    last = step(way["hops"][-1], "sent")
    assert way["delivered_ps"] == last["at_ps"] + last["wire_time_ps"] + LINK_DELAY_PS
    spine = way["hops"][1]
    alone = document(str(small_trace), "-n", ACROSS, *MARK, "--switch", spine["switch"])
    assert alone["steps"] == spine["steps"] and alone["endings"] == spine["endings"]
    assert alone["title"].endswith(f"at {spine['switch']}")
    lines = run(str(small_trace), "-n", ACROSS, *MARK).output.splitlines()
    assert lines[0].startswith(f"packet {ACROSS} of {small_trace.name}, ") and way["receiver"] in lines[0]
    assert [line.split(",")[0].strip() for line in lines if ", received on port" in line] == [
        hop["switch"] for hop in way["hops"]
    ]
    assert not any("parser" in line for line in lines), "steps are told on demand"
    assert lines[-1].strip().startswith(f"received by {way['receiver']} at")
    brief = run(str(small_trace), "-n", ACROSS, *MARK, "--brief").output.splitlines()
    assert len(brief) == 3 + len(way["hops"])
    details = run(str(small_trace), "-n", ACROSS, *MARK, "--details").output
    assert details.count("\n    parser\n") == 3


@pytest.mark.system
def test_the_first_marked_dropped_or_held_packet_is_found(incast):
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


@pytest.mark.system
def test_the_page_of_a_replay_names_a_segment_and_the_packets_before_that_one(tmp_path):
    path, page = tmp_path / "whole.pcap", tmp_path / "page.html"
    # Two hosts send thirty full segments each to h1 at one instant, as one super-frame.
    ends = [IP(src=sender, dst="10.0.1.1", tos=2) for sender in ("10.0.1.2", "10.0.2.1")]
    packets = [Ether(src=MAC, dst=MAC) / end / TCP(sport=7, flags="A") / bytes(43_800) for end in ends]
    capture(path, ((0, len(packet), bytes(packet)) for packet in packets))
    eeon("replay", str(path), *MARK, "--html", str(page), code=0)
    data = page.read_text().split('<script type="application/json" id="data">')[1].split("</script>")[0]
    marks = [one for one in json.loads(data)["runs"][0]["details"] if one[3] == "marked"]
    assert [one[0] for one in marks[:3]] == ["1.21", "2.21", "1.22"]
    ahead = [one[11].partition(" before it: ")[0] for one in marks[:3]]
    assert ahead == ["20 packets", "20 packets", "21 packets"]
