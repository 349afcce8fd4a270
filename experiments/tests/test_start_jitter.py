"""Start times spread by the seed, so that equal flows do not stay in step."""

from __future__ import annotations

from pathlib import Path

import pytest
from eeon_experiments import files
from eeon_experiments.columns import OF_THE_MACHINE
from eeon_experiments.expand import expand
from eeon_experiments.fabric import workload_of
from made_experiments import points, write

FRAME_PS = 1538 * 8 * 1000
"""The transmit time of 1514 bytes and 24 of overhead at 1 Gbit/s."""
INCAST = """\
name: incast
title: three servers and one client
base:
  topology: leaf-spine-4
  config: drop_tail
  workload:
    applications:
      together: {kind: incast, client: h1, servers: [h2, h3, h4], size_per_server: 64KB, rounds: 2}
      apart: {kind: rpc, background: true, pairs: [[h2, h3]], request: 1KB, response: 1KB, mean_interval: 1ms}
  time_limit: 10s
seeds: [1, 2]
"""


def jitters(folder: Path, setting: str) -> list[object]:
    text = INCAST.replace("  time_limit", f"{setting}  time_limit")
    settings, topology, _ = points(folder, text)[0].run.parts()
    return [one.get("start_jitter_ps") for one in workload_of(settings, topology, 1)["applications"]]


def test_transfers_that_begin_together_are_spread_over_a_frames_time(tmp_path: Path) -> None:
    assert jitters(tmp_path, "") == [FRAME_PS, None]
    assert jitters(tmp_path, "  start_jitter: frame\n") == [FRAME_PS, None]


def test_a_file_says_another_time_or_none(tmp_path: Path) -> None:
    assert jitters(tmp_path, "  start_jitter: 3us\n") == [3_000_000, None]
    assert jitters(tmp_path, "  start_jitter: 0s\n") == [None, None]


@pytest.mark.system
def test_seeds_differ_by_their_starts_alone(tmp_path: Path) -> None:
    pytest.importorskip("eeon_engine", reason="the engine is not built; `make setup` builds it")
    from eeon_experiments.run import run_one
    from eeon_experiments.versions import versions

    def runs(setting: str) -> list[dict[str, object]]:
        text = INCAST.replace("  time_limit", f"{setting}  time_limit")
        # Without the application that draws its start times in any case.
        path = write(
            tmp_path, "".join(line for line in text.splitlines(keepends=True) if "apart:" not in line)
        )
        found = [run_one(point.run).measured for point in expand(files.load(path), versions())]
        machine = {*OF_THE_MACHINE, "settings_json", "seed", "run_id"}
        return [{key: one for key, one in run.items() if key not in machine} for run in found]

    first, second = runs("")
    assert first["runtime_seconds"] != second["runtime_seconds"]
    assert runs("")[0] == first
    in_step = runs("  start_jitter: 0s\n")
    assert in_step[0] == in_step[1]
