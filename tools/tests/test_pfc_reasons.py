"""Priority flow control in replays: the counts agree with the trace, and the reasons with the program."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from eeon_control import topology as topologies
from eeon_tools.hops.recording import Recording
from eeon_tools.replay.comparing import remarks
from eeon_tools.replay.faults import Fault
from eeon_tools.replay.page import run_page
from eeon_tools.replay.pauses import Pauses
from eeon_tools.replay.result import RunResult
from eeon_tools.replay.twin_run import ReplaySettings, replay
from eeon_tools.report.model import run_model
from made_captures import capture
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from control_plane.tests.eeon_command import eeon

pytestmark = pytest.mark.system


SMALL_GROUPS = """\
profiles:
  queue: {q: {buffer: 10MB, aqm: drop_tail}}
  pfc: {roce: {limit: 20KB, xoff: 19KB, xon: 15KB, headroom: unchecked}}
roles: {host_facing: {queue: q}, uplink: {queue: q}, spine: {queue: q}}
classes: {default: {priority: 3, pfc: roce}}
"""
PACKETS = 600
RUN = ("-t", "leaf-spine-4", "-c")


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[Path, Path]:
    return small_groups(tmp_path_factory.mktemp("pfc"))


def small_groups(folder: Path) -> tuple[Path, Path]:
    """Returns a trace of three hosts that send to a fourth at the rate of their links together, and a
    configuration with groups that are too small for it."""
    trace, config = folder / "two-to-one.pcap", folder / "small.yaml"
    config.write_text(SMALL_GROUPS)
    sources = ("10.0.1.1", "10.0.1.2", "10.0.2.1")
    frames = [bytes(Ether() / IP(src=source, dst="10.0.2.2") / UDP(dport=7)) for source in sources]
    capture(trace, ((number * 4096, 1514, frames[number % 3]) for number in range(PACKETS)))
    return trace, config


def recorded_run(trace: Path, config: str | Path, *faults: str) -> tuple[Recording, RunResult]:
    found: list[Recording] = []
    failing = tuple(map(Fault.parse, faults))
    settings = ReplaySettings("test", trace, "leaf-spine-4", (str(config),), faults=failing)
    run = replay(settings, recorded=found.append)
    return found[0], run


@pytest.fixture(scope="module")
def recorded(files) -> tuple[Recording, RunResult]:
    return recorded_run(*files)


def test_frames_that_switches_make_are_no_packets_of_the_trace(recorded):
    _, run = recorded
    total = run.total()
    assert total.sent == PACKETS
    assert total.delivered + total.tail_dropped == PACKETS
    assert total.tail_dropped > 50 and total.other_dropped == 0
    assert run.control_frames > 50


def test_loss_in_a_lossless_class_is_told_as_lack_of_headroom_and_not_as_load(recorded):
    (remark,) = remarks(recorded[1])
    lost = recorded[1].total().tail_dropped
    assert f"packets of lossless classes that found no room: {lost}; their group's limit" in remark


def test_a_packet_that_its_group_has_no_room_for_says_so(recorded):
    recording, run = recorded
    dropped = [visit for visit in recording.visits() if visit.dropped]
    assert len(dropped) == run.total().tail_dropped
    for visit in dropped:
        assert re.fullmatch(
            r"the lossless group of port \d, priority 3 may have 20,000 B, "
            r"and it would become larger: dropped",
            recording.reason(visit),
        )


def test_no_link_is_asleep_where_none_may_sleep(recorded):
    recording, _ = recorded
    reasons = [recording.reason(visit) for visit in recording.visits()]
    assert not any("asleep" in reason for reason in reasons)
    assert sum("its queue was paused by" in reason for reason in reasons) > 50
    paused = next(visit for visit in recording.visits() if visit.paused_ps)
    assert 0 < paused.paused_ps <= paused.waited_ps


def test_explain_names_the_group(files, recorded):
    trace, config = files
    recording, _ = recorded
    dropped = next(visit for visit in recording.visits() if visit.dropped)
    words = [str(trace), "-n", str(dropped.number), *RUN, str(config), "--switch", dropped.node]
    result = eeon("explain", *words, code=0)
    assert re.search(
        r"tail-dropped: the lossless group of port \d, priority 3 has [\d,]+ B; \+ packet 1,514 B > limit "
        r"20,000 B \(lossless_group.lossless\)",
        " ".join(result.output.split()),
    )


def test_the_page_tells_pauses_from_sleeping_links(recorded):
    """No link of this run sleeps."""
    model = run_model(*recorded)
    counts = model["detail_counts"]
    assert counts["paused"][1] > 50 and "held" not in counts
    ports = model["ports"]
    assert max(port["longest_pause_us"] for port in ports) > 100
    assert {port["longest_hold_us"] for port in ports} == {0}


def test_a_replay_says_who_was_paused_how_often_and_for_how_long(recorded):
    recording, run = recorded
    pauses = run.pauses
    assert pauses.transmitters == 2 * len(recording.topology.links)
    by_name = {queue.name: queue for queue in pauses.queues}
    assert pauses.paused == len(by_name) == len(pauses.queues)
    # Three hosts fill the link to a fourth, which itself is not paused.
    assert {"h1 to leaf1", "h2 to leaf1", "h3 to leaf2"} <= by_name.keys()
    assert "h4 to leaf2" not in by_name
    host = by_name["h1 to leaf1"]
    assert (host.port, host.peer_port, host.priority) == (None, 1, 3)
    for queue in pauses.queues:
        assert 0 < queue.longest_ms <= queue.paused_ms < 1000 * run.virtual_seconds
        assert queue.paused_share == pytest.approx(queue.paused_ms / 1000 / run.virtual_seconds)
    # Each pause is a control frame, and so is each XON.
    assert run.control_frames / 2 <= sum(queue.pauses for queue in pauses.queues) < run.control_frames


def test_the_table_the_page_and_json_say_the_pauses(files, recorded, tmp_path):
    trace, config = files
    document = tmp_path / "run.json"
    done = eeon("replay", str(trace), *RUN, str(config), "--json", str(document), code=0, columns=80)
    lines = done.output.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("paused transmitter"))
    assert len(lines[first].split()) == 10 and max(map(len, lines[first : first + 7])) <= 80
    _, run = recorded
    longest = run.pauses.by_time()[0]
    (row,) = (line for line in lines if line.startswith(longest.name))
    assert row.split()[-5:-3] == [f"{longest.pauses:,}", f"{100 * longest.paused_share:.1f}"]
    assert run.pauses.summary() in done.output
    written = json.loads(document.read_text())["pauses"]
    assert written["queues"][0] == asdict(run.pauses.queues[0])
    page = run_page(run)
    assert longest.name in page and run.pauses.summary() in page


def test_a_pause_that_nobody_obeys_is_counted_and_pauses_nobody_and_the_longest_come_first():
    same = {"peer": "spine1", "peer_port": 1, "priority": 3, "pauses": 7, "longest_ps": 10**9}
    made = [
        same | {"node": node, "port": port, "paused_ps": paused_ms * 10**9}
        for node, port, paused_ms in (("leaf1", 3, 0), ("h1", 0, 2), ("leaf2", 3, 5))
    ]
    found = Pauses.of({"elapsed_ps": 20 * 10**9, "pauses": made}, topologies.load("leaf-spine-4"))
    assert [one.name for one in found.by_time()] == ["leaf2:3 to spine1", "h1 to spine1", "leaf1:3 to spine1"]
    assert [one.paused_share for one in found.by_time()] == [0.25, 0.1, 0.0]
    assert found.summary() == "21 pauses; 2 of 16 transmitters (12 %) were paused"


RED_IN_PACKETS = """\
profiles:
  queue:
    red:
      buffer: 100 packets
      aqm: {mode: red, min: 5 packets, max: 15 packets, max_probability: 1, protect: ect}
roles: {host_facing: {queue: red}, uplink: {queue: red}, spine: {queue: red}}
"""


def test_red_in_packets_is_told_in_packets(files, tmp_path):
    config = tmp_path / "red.yaml"
    config.write_text(RED_IN_PACKETS)
    recording, run = recorded_run(files[0], config)
    dropped = [visit for visit in recording.visits() if visit.dropped == "early_dropped"]
    assert dropped
    for visit in dropped:
        assert visit.queue_packets >= 5
        said = f"RED, queue {visit.queue_packets:,} packets, min 5, max 15 packets: dropped early"
        assert recording.reason(visit) == said
    port = next(port for port in run_model(recording, run)["ports"] if port["drops"])
    assert (port["threshold_packets"], port["threshold"]) == (5, 5 * 1514)
