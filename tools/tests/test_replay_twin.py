"""Replays through a real twin: the engine runs the P4 program, the controller configures it over
P4Runtime."""

import dataclasses
from pathlib import Path

import pytest
from eeon_control import topology as topologies
from eeon_tools.demo import runs as demo_runs
from eeon_tools.replay.result import RunResult
from eeon_tools.replay.twin_run import ReplaySettings, replay
from eeon_tools.trace import manifest as manifests
from eeon_tools.trace.generate import generate
from eeon_tools.trace.senders import SenderSettings
from made_jobs import peak_kib, small_job

pytestmark = pytest.mark.system


def run(trace: Path, *config: str, **options: object) -> RunResult:
    return replay(ReplaySettings("test", trace, "leaf-spine-4", config, **options))


def comparable(result: RunResult) -> RunResult:
    return dataclasses.replace(result, wall_seconds=0.0)


def test_a_trace_that_congests_nothing_is_delivered_whole(small_trace):
    manifest = manifests.read(small_trace)
    result = run(small_trace, "drop_tail", speed=0.05)
    assert {name: found.delivered for name, found in result.packets.items()} == manifest.packets
    assert result.total().dropped == 0
    assert result.reordered == 0
    # Two links at 1 Gbit/s are on every path, and a full frame takes 12 us on each.
    data = result.latency_us["data"]
    assert data.p50 is not None and data.p50 > 24.0


def test_the_same_replay_gives_the_same_result(incast):
    first, second = (run(incast, "red_ect", "eee_120us100") for _ in range(2))
    assert comparable(first) == comparable(second)


def test_a_replay_does_not_depend_on_how_soon_its_switches_answer(small_trace, monkeypatch):
    for deadline in (
        "finsy.p4client._DEFAULT_RPC_TIMEOUT",
        "eeon_control.fabric.session.ANSWER_SECONDS",
        "eeon_control.fabric.session.LOAD_SECONDS",
    ):
        monkeypatch.setattr(deadline, 1e-6)
    assert run(small_trace, "drop_tail", speed=0.05).total().delivered > 0


def test_coalescing_saves_energy_and_costs_latency(incast):
    off, standard, coalesced = (
        run(incast, "mark_threshold", f"eee_{eee}") for eee in ("off", "standard", "120us100")
    )
    assert off.energy_joules.used == pytest.approx(off.energy_joules.legacy)
    assert off.energy_joules.used > standard.energy_joules.used > coalesced.energy_joules.used
    assert coalesced.energy_joules.used > coalesced.energy_joules.ideal
    assert off.wakes == 0 < coalesced.wakes < standard.wakes
    assert {result.phy_violations for result in (off, standard, coalesced)} == {0}
    medians = [result.latency_us["ack"].p50 for result in (off, standard, coalesced)]
    assert None not in medians
    assert medians == sorted(medians)


def test_ipv6_goes_the_same_way(tmp_path):
    path = tmp_path / "six.pcapng"
    manifest = generate(path, topologies.load("leaf-spine-4"), small_job(), SenderSettings(ipv6=True), 7)
    result = run(path, "drop_tail")
    assert result.total().delivered + result.total().tail_dropped == sum(manifest.packets.values())


_PEAK_OF_A_REPLAY = """
import sys
from pathlib import Path
from eeon_tools.replay.twin_run import ReplaySettings, replay
replay(ReplaySettings("peak", Path(sys.argv[1]), "leaf-spine-4", ("mark_threshold",)))
"""


@pytest.mark.nightly
def test_memory_of_a_replay_does_not_grow_with_its_length(made_trace):
    def peak(maps: int) -> int:
        return peak_kib(_PEAK_OF_A_REPLAY, made_trace(dataclasses.replace(demo_runs.JOB, maps=maps), 1))[0]

    assert peak(240) < peak(24) + 30_000
