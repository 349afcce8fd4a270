"""A trace through a live fabric, sent from the hosts' namespaces. Skipped with a message without root."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eeon_tools.live import state
from eeon_tools.replay.live import replay as live_replay
from eeon_tools.replay.twin_run import ReplaySettings
from eeon_tools.trace import manifest as manifests
from live_fabrics import HAS_BMV2, MARKING, NEEDS_FABRIC, Fabric, brought_up

pytestmark = NEEDS_FABRIC
DEEP = """
profiles:
  queue: {deep: {buffer: 8MB, aqm: {mode: drop_tail}}}
roles: {host_facing: {queue: deep}, uplink: {queue: deep}, spine: {queue: deep}}
"""


@pytest.fixture(
    scope="module",
    params=[
        "engine",
        pytest.param("bmv2", marks=pytest.mark.skipif(not HAS_BMV2, reason="BMv2 is not on PATH")),
    ],
)
def fabric(request, tmp_path_factory) -> Iterator[Fabric]:
    """Yields leaf-spine-4 at a hundredth of its rates: hosts at 10 Mbit/s."""
    name = f"{request.param[0]}{os.getpid() % 1000:03d}"
    with brought_up(
        tmp_path_factory.mktemp("fabric"), name, "--rate-scale", "1/100", target=request.param
    ) as up:
        yield up


def replay(fabric: Fabric, trace: Path, *options: str) -> dict[str, Any]:
    path = fabric.folder / "result.json"
    fabric.eeon("replay", str(trace), "--fabric", fabric.name, "--json", str(path), *options)
    return json.loads(path.read_text())


def configuration(fabric: Fabric, text: str) -> str:
    path = fabric.folder / "configuration.yaml"
    path.write_text(text)
    return str(path)


def total(result: dict[str, Any], field: str) -> int:
    return sum(packets[field] for packets in result["packets"].values())


def test_every_packet_arrives_where_there_is_room_and_hosts_and_switches_count_the_same(fabric, small_trace):
    manifest = manifests.read(small_trace)
    page = fabric.folder / "page.html"
    result = replay(
        fabric, small_trace, "-c", configuration(fabric, DEEP), "--speed", "0.05", "--html", str(page)
    )
    assert {name: packets["sent"] for name, packets in result["packets"].items()} == manifest.packets
    assert {name: packets["delivered"] for name, packets in result["packets"].items()} == manifest.packets
    assert total(result, "marked") == total(result, "arrived_marked") == 0
    assert [result[name] for name in ("foreign", "misdelivered", "duplicated", "refused")] == [0] * 4
    assert result["losses"] == {"before_leaves": 0, "between": 0, "after_leaves": 0}
    data = result["latency_us"]["data"]
    assert 0 < data["p50"] <= data["p99"]
    lateness = result["lateness"]
    assert 0 < lateness["p50_us"] <= lateness["p99_us"] <= lateness["max_us"]
    assert result["wakes"] == 0
    assert result["kept_its_times"] == (lateness["late"] <= 0.01 * total(result, "sent"))
    assert "live fabric" in page.read_text()
    # During a replay hosts answer nothing: their TCP would reset connections that have no socket.
    fabric.transfer("h1", "h3", "10.0.2.1", 20_000)


def test_a_replay_tells_how_many_packets_of_how_many_have_been_sent(fabric, small_trace):
    manifest = manifests.read(small_trace)
    total = sum(manifest.packets.values())
    heard: list[tuple[int, int]] = []
    record = state.load(fabric.name)
    topology = str(record.folder / "topology.yaml")
    settings = ReplaySettings("told", small_trace, topology, (configuration(fabric, DEEP),), 0.01)
    live_replay(settings, record, lambda packets, of: heard.append((packets, of)))
    assert heard[0] == (0, total)
    assert heard == sorted(heard)
    assert 0 < heard[-1][0] <= total


def test_a_hold_is_seen_in_wakes_and_latency(fabric, small_trace):
    held = """
profiles:
  eee: {held: {mode: coalesce, hold: 20ms, trigger: 1000pkt, sleep: 200us, wake: 30us}}
roles: {host_facing: {eee: held}}
"""
    (fabric.folder / "held.yaml").write_text(held)
    options = ("-c", configuration(fabric, DEEP), "-c", str(fabric.folder / "held.yaml"))
    result = replay(fabric, small_trace, *options, "--speed", "0.05")
    assert total(result, "delivered") == total(result, "sent")
    assert result["wakes"] > 0
    # A SYN finds its host's link asleep, and waits for the end of the hold.
    assert result["latency_us"]["syn"]["p50"] > 10_000


def test_marks_that_switches_count_are_those_that_hosts_see(fabric, small_trace):
    shallow = configuration(fabric, MARKING.replace("300KB", "8MB").replace("15KB", "3KB"))
    result = replay(fabric, small_trace, "-c", shallow)
    assert total(result, "delivered") == total(result, "sent")
    assert result["packets"]["data"]["marked"] > 0
    assert {name: packets["marked"] for name, packets in result["packets"].items()} == {
        name: packets["arrived_marked"] for name, packets in result["packets"].items()
    }


def test_what_does_not_fit_is_dropped_and_counted_not_lost(fabric, small_trace):
    tiny = configuration(fabric, DEEP.replace("8MB", "4KB"))
    result = replay(fabric, small_trace, "-c", tiny)
    assert total(result, "tail_dropped") > 0
    assert total(result, "delivered") + total(result, "tail_dropped") == total(result, "sent")
    assert total(result, "lost") == 0


def test_a_second_replay_at_the_same_time_is_refused(fabric, small_trace):
    # The lock is held by another process, as by a replay.
    lock = f"/run/eeon/{fabric.name}/replay.lock"
    with subprocess.Popen(
        ("flock", lock, "sh", "-c", "echo held; read _"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"held\n"
        refused = fabric.eeon("replay", str(small_trace), "--fabric", fabric.name, check=False)
        holder.communicate(b"\n")
    assert refused.returncode == 1 and "another replay is running on it" in refused.stderr, refused.stderr
