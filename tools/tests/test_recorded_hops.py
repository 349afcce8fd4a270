"""Recorded hops: as pcapng, as a Perfetto trace, as a page; and a comparison of several settings."""

import json
import re
import shutil
import subprocess
from collections import Counter

import pytest
from eeon_tools.hops import pcapng
from eeon_tools.hops.recording import Recording, Visit, recording_filter
from eeon_tools.replay.comparing import overridden
from eeon_tools.replay.result import RunResult
from eeon_tools.replay.twin_run import ReplaySettings, replay
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
from scapy.utils import RawPcapNgReader

from control_plane.tests.eeon_command import eeon

pytestmark = [pytest.mark.slow, pytest.mark.system]

CONFIG = ("mark_threshold", "eee_120us100")


@pytest.fixture(scope="module")
def recorded(incast) -> tuple[Recording, RunResult]:
    found: list[Recording] = []
    settings = ReplaySettings("held", incast, "leaf-spine-4", CONFIG)
    run = replay(settings, recorded=found.append, hops=recording_filter(snap_bytes=pcapng.SNAP_BYTES))
    return found[0], run


def test_visits_agree_with_the_counters_of_the_switches_and_say_how_long_they_were_held(recorded):
    recording, run = recorded
    visits = list(recording.visits())
    assert sum(visit.verdict == "marked" for visit in visits) == run.total().marked > 100
    hosts = set(recording.topology.hosts)
    assert sum(visit.node in hosts for visit in visits) == run.total().sent
    marked = next(visit for visit in visits if visit.verdict == "marked")
    assert marked.decided_bytes > 30_000
    reason = recording.reason(marked)
    assert reason.startswith(f"queue {marked.decided_bytes:,} B > threshold 30,000 B: marked")
    assert recording.truncation() is None
    assert {visit.label for visit in visits} == set(range(1, run.total().sent + 1))
    held = [visit for visit in visits if visit.held_ps]
    assert all(0 < visit.held_ps <= visit.waited_ps for visit in held)
    assert re.search(r"held [\d,.]+ us: its link was asleep", recording.reason(held[0]))


def test_pcapng_follows_a_packet_over_links_with_reasons(recorded, tmp_path):
    recording, run = recorded
    path = tmp_path / "hops.pcapng"
    count = pcapng.write(recording, path)
    with RawPcapNgReader(str(path)) as reader:
        packets = list(reader)
        interfaces = reader.interfaces
    assert len(packets) == count == sum(1 for _ in recording.visits())
    assert len(interfaces) == len(recording.ports)
    # Data frames as sent by the sender's NIC and each switch: headers only, with the original length.
    assert {len(data) for data, _ in packets} <= set(range(40, pcapng.SNAP_BYTES + 1))
    assert max(meta.wirelen for _, meta in packets) == 1514
    comments = [comment for _, meta in packets for comment in _comments(meta)]
    assert sum(": marked" in comment for comment in comments) == run.total().marked


def _comments(meta: object) -> list[str]:
    found = getattr(meta, "comments", None) or [getattr(meta, "comment", None)]
    return [one.decode() if isinstance(one, bytes) else str(one) for one in found if one]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not on PATH")
def test_tshark_follows_a_packet_by_its_id(recorded, tmp_path):
    recording, _ = recorded
    path = tmp_path / "hops.pcapng"
    pcapng.write(recording, path)
    visits: dict[int, list[Visit]] = {}
    for visit in recording.visits():
        visits.setdefault(visit.number, []).append(visit)
    number = next(n for n, found in visits.items() if len(found) == 4 and found[-1].verdict == "marked")
    command = ["tshark", "-r", str(path), "-Y", f"frame.packet_id == {number}", "-T", "fields"]
    for name in ("frame.interface_name", "frame.time_epoch", "frame.comment"):
        command += ["-e", name]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    rows = [line.split("\t") for line in shown.splitlines()]
    assert [row[0].split(":")[0] for row in rows] == [visit.node for visit in visits[number]]
    assert [round(float(row[1]) * 1e9) for row in rows] == [
        (visit.left_ps or 0) // 1000 for visit in visits[number]
    ]
    assert ": marked" in rows[-1][2]


def test_a_perfetto_trace_has_queues_sleep_and_flows_by_its_schema(recorded, tmp_path):
    from eeon_tools.hops import perfetto

    recording, run = recorded
    path = tmp_path / "run.pftrace"
    perfetto.write(recording, path)
    trace = schema.Trace.FromString(path.read_bytes())
    tracks = {p.track_descriptor.uuid for p in trace.packet if p.HasField("track_descriptor")}
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    assert {event.track_event.track_uuid for event in events} <= tracks
    begun = [e for e in events if e.track_event.type == schema.TrackEvent.TYPE_SLICE_BEGIN]
    ended = [e for e in events if e.track_event.type == schema.TrackEvent.TYPE_SLICE_END]
    by_track = Counter(event.track_event.track_uuid for event in begun)
    assert by_track == Counter(event.track_event.track_uuid for event in ended)
    marked = [e.track_event.debug_annotations for e in begun if e.track_event.name.endswith(" MARKED")]
    why = [one.string_value for details in marked for one in details if one.name == "why"]
    assert len(why) == run.total().marked and all(": marked" in reason for reason in why)
    slices = Counter(e.track_event.name for e in begun)
    assert slices["going to sleep"] >= slices["asleep"] > len(recording.ports) and slices["waking"]
    assert max(e.timestamp for e in ended) == recording.end_ps // 1000, "links sleep when the run ends"
    # An arrow through each hop: the sender's NIC and the switches, up to a drop.
    hops = Counter(flow for event in events for flow in event.track_event.flow_ids)
    assert hops == Counter(visit.number for visit in recording.visits())
    deepest = max(
        e.track_event.counter_value for e in events if e.track_event.type == schema.TrackEvent.TYPE_COUNTER
    )
    queue = run.deepest_queue()
    assert queue is not None and deepest == queue.highest


def test_a_recording_that_is_cut_says_so_everywhere(incast, tmp_path):
    path = tmp_path / "cut.pcapng"
    words = ["replay", str(incast), "-c", "mark_threshold", "--pcapng", str(path), "--hops", "500"]
    done = eeon(*words, code=0)
    said = re.search(r"([\d,]+) events more than the limit of 500 are left out", done.output)
    assert said and int(said[1].replace(",", "")) > 1000
    assert said[0].encode() in path.read_bytes()


def test_settings_are_compared_in_one_table_and_one_page(incast, tmp_path):
    page, numbers = tmp_path / "both.html", tmp_path / "both.json"
    settings = ["--compare", "drop_tail", "--compare", "mark_threshold+eee_120us100"]
    eeon("replay", str(incast), *settings, "--html", str(page), "--json", str(numbers), code=0)
    runs = json.loads(numbers.read_text())["runs"]
    assert [run["name"] for run in runs] == ["drop_tail", "mark_threshold + eee_120us100"]
    text = page.read_text()
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    data = json.loads(found[1])
    for run, shown in zip(runs, data["runs"], strict=True):
        assert shown["totals"]["marked"] == sum(kind["marked"] for kind in run["packets"].values())
        deepest = max(port["deepest"] for port in shown["ports"])
        assert deepest == max(max(q["peak_bytes"], default=0) for q in run["queues"])
        assert sum(port["marks"] for port in shown["ports"]) == shown["totals"]["marked"]
    # Nothing is loaded from outside.
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r'(src|href)="', outside)


def test_a_later_file_that_replaces_a_mode_is_named():
    replaced = overridden(("drop_tail", "mark_threshold", "eee_120us100"), "leaf-spine-4")
    assert replaced == [
        "mark_threshold comes later and replaces AQM drop_tail by mark_threshold; "
        "--compare A --compare B runs both"
    ]
    assert overridden(("mark_threshold", "eee_120us100"), "leaf-spine-4") == []
