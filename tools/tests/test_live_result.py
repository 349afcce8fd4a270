"""The packet counts of a replay in real time, without running one."""

import re
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest
from eeon_control import data
from eeon_control import topology as topologies
from eeon_control.fabric import FabricCounters, ReceivedCount, VerdictCount
from eeon_tools.errors import ReplayError, TraceError
from eeon_tools.live import network, state
from eeon_tools.replay import live, page
from eeon_tools.replay.live import difference, live_packets, losses, sent_to_hosts
from eeon_tools.replay.live_result import Lateness, LivePackets, LiveResult, Losses, remarks
from eeon_tools.replay.result import Latency, ReplayResult
from eeon_tools.replay.twin_run import ReplaySettings
from eeon_tools.trace.frames import CLASS_NAMES
from made_captures import capture
from made_results import run_result

from control_plane.tests.eeon_command import eeon


def counters(received: int, forwarded: int, dropped: int, marked: int = 0) -> FabricCounters:
    """Returns counters of data on one host-facing port of leaf-spine-4."""
    verdicts = {"forwarded": forwarded, "marked": marked, "tail_dropped": dropped}
    return FabricCounters(
        (ReceivedCount("leaf1", 1, "data", received, 100 * received),),
        tuple(VerdictCount("leaf1", 1, "data", name, count, 100 * count) for name, count in verdicts.items()),
    )


def hosts_report(sent: int, delivered: int, marked: int = 0) -> dict[str, object]:
    none = {"sent": {"packets": 0}, "delivered": {"packets": 0}, "arrived_marked": 0}
    data = {"sent": {"packets": sent}, "delivered": {"packets": delivered}, "arrived_marked": marked}
    return {"classes": {name: data if name == "data" else none for name in CLASS_NAMES}}


def test_only_what_was_counted_between_two_readings_counts():
    found = difference(counters(30, 25, 5), counters(10, 9, 1))
    assert found == counters(20, 16, 4)


def test_a_counter_that_goes_back_is_a_switch_that_was_restarted():
    with pytest.raises(ReplayError, match=r"leaf1 port 1: a counter decreased"):
        difference(counters(3, 2, 1), counters(10, 9, 1))


def test_what_is_neither_delivered_nor_dropped_is_lost_and_placed():
    counted = counters(received=95, forwarded=70, dropped=10, marked=5)
    packets = live_packets(hosts_report(sent=100, delivered=72, marked=4), counted)
    assert packets["data"] == LivePackets(100, 72, 5, 0, 10, 0, arrived_marked=4, lost=18)
    topology = topologies.load("leaf-spine-4")
    assert losses(topology, counted, packets) == Losses(before_leaves=5, between=10, after_leaves=3)


def test_pauses_of_hosts_and_packets_that_wait_behind_them_are_no_losses():
    counted = counters(received=100, forwarded=60, dropped=0)
    pauses = (
        ReceivedCount("leaf1", 1, "control", 75, 4500),
        VerdictCount("leaf1", 1, "control", "forwarded", 9, 540),
    )
    with_pauses = FabricCounters((*counted.received, pauses[0]), (*counted.verdicts, pauses[1]))
    assert sent_to_hosts(topologies.load("leaf-spine-4"), with_pauses, control=True) == 9
    packets = live_packets(hosts_report(sent=100, delivered=60), with_pauses)
    assert packets["data"].lost == 40
    found = losses(topologies.load("leaf-spine-4"), with_pauses, packets, waiting=40)
    assert found == Losses(before_leaves=0, between=0, after_leaves=0)
    told = remarks(result(lost=40, waiting=40))
    assert any(remark.startswith("40 packets still waited in queues of switches") for remark in told)
    assert not any("were lost" in remark for remark in told)


def test_more_than_was_sent_is_somebody_elses_and_no_result():
    with pytest.raises(ReplayError, match=r"data 3 too many.*something else used the fabric"):
        live_packets(hosts_report(sent=10, delivered=10), counters(13, 10, 3))


def result(late: int = 0, lost: int = 0, waiting: int = 0, pauses: int = 0) -> LiveResult:
    packets = {name: LivePackets() for name in CLASS_NAMES}
    packets["data"] = LivePackets(1000, 990 - lost, 40, 0, 10, 0, arrived_marked=38, lost=lost)
    latency = {name: Latency(None, None, None) for name in CLASS_NAMES}
    latency["data"] = Latency(120.0, 100.0, 900.0)
    common = {field.name: getattr(run_result(), field.name) for field in fields(ReplayResult)}
    return LiveResult(
        **common | {"packets": packets, "latency_us": latency},
        real_seconds=2.5,
        lateness=Lateness(30.0, 80.0, 400.0, limit_us=121.12, late=late),
        losses=Losses(lost - waiting, 0, 0),
        waiting=waiting,
        foreign=2 + pauses,
        pauses=pauses,
        wakes=None,
        **dict.fromkeys(("refused", "overruns", "misdelivered", "duplicated", "untimed"), 0),
    )


def test_a_replay_that_did_not_keep_its_times_says_so_first_of_all():
    assert result(late=10).kept_its_times
    assert not any("NOT KEPT" in remark for remark in remarks(result(late=10)))
    late = result(late=11)
    assert not late.kept_its_times
    assert any("NOT KEPT: 11 of 1,000 frames" in remark for remark in remarks(late))
    assert '<div class="outcome no">' in page.live_page(late)
    assert late.as_dict()["kept_its_times"] is False


def test_losses_and_strangers_are_told_and_zeros_are_not():
    told = "\n".join(remarks(result(lost=7, pauses=5)))
    for one in (
        r"^5 pauses and congestion messages of switches reached hosts",
        r"^7 packets were lost .* 7 on the way to the first",
        r"^2 frames reached hosts that this replay had not sent\.$",
    ):
        assert re.search(one, told, re.MULTILINE)
    assert "wrong host" not in told
    assert "this target does not report them" in page.live_page(result())


def test_warnings_of_the_configuration_are_told_before_a_live_fabric_has_it(tmp_path, monkeypatch):
    (tmp_path / "topology.yaml").write_text(Path(data.find_yaml("topologies", "leaf-spine-4")).read_text())
    (tmp_path / "t.pcap").write_bytes(b"")
    record = SimpleNamespace(name="one", target="engine", folder=tmp_path, is_up=False)
    monkeypatch.setattr(state, "load", lambda name: record)
    monkeypatch.setattr(network, "check_possible", lambda: None)
    never = tmp_path / "never.yaml"
    never.write_text("profiles: {queue: {q: {buffer: 1KB, aqm: drop_tail}}}\nroles: {uplink: {queue: q}}\n")
    words = [str(tmp_path / "t.pcap"), "--fabric", "one", "-c", "drop_tail", "-c", str(never)]
    told = eeon("replay", *words, code=1).stderr
    assert told.count("warning: profiles.queue.q.buffer: 1KB: is smaller than a full frame") == 1
    assert "fabric one is not up yet" in told


def test_a_trace_that_is_refused_leaves_a_live_fabric_with_its_configuration(tmp_path, monkeypatch):
    frame = bytes(60)
    record = SimpleNamespace(
        name="one", target="engine", is_up=True, thrift_ports={}, addresses={}, namespaces={}
    )
    monkeypatch.setattr(network, "check_possible", lambda: None)
    monkeypatch.setattr(live, "_open", lambda topology, namespaces: None)
    applied: list[object] = []
    monkeypatch.setattr(live.fabric, "apply_sync", lambda *arguments: applied.append(arguments))
    trace = capture(tmp_path / "back.pcap", [(2_000, 60, frame), (1_000, 60, frame)])
    settings = ReplaySettings("one", trace, "leaf-spine-4", ("drop_tail",))
    with pytest.raises(TraceError, match="is 1000 ns earlier than the packet before it"):
        live.replay(settings, record)
    assert applied == []
