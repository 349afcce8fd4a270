"""Experiment files for tests: one that is right, to be changed in one place."""

from __future__ import annotations

from pathlib import Path

from eeon_experiments import files
from eeon_experiments.expand import Point, expand
from eeon_experiments.versions import Versions

VERSIONS = Versions("p" * 64, "e" * 64)

TINY = """\
name: tiny
title: a small experiment
base:
  topology: leaf-spine-4
  config: drop_tail
  tcp: {algorithm: ecn, min_rto: 10ms}
  workload:
    applications:
      - kind: mapreduce
        heartbeat: 20ms
        reserved: 0
        jobs:
          - name: sort
            maps: 8
            reducers: 4
            input: 4MB
            shuffle: 4MB
            output: 4MB
            cost:
              startup_cycles: 1.0e+7
              map_cycles_per_byte: 4
              sort_cycles_per_byte: 4
              merge_cycles: 1.0e+6
              wrapup_cycles: 1.0e+6
              reduce_start_cycles: 1.0e+6
              reduce_cycles_per_byte: 4
  time_limit: 60s
axes:
  queue:
    drop_tail:
    mark: {config: [mark_threshold]}
  transport:
    newreno: {tcp: {algorithm: newreno}}
    dctcp: {tcp: {algorithm: dctcp}}
seeds: [1, 2]
quick:
  axes: {queue: [mark]}
  seeds: [1]
"""


def write(folder: Path, text: str = TINY) -> Path:
    """Write an experiment file."""
    path = folder / "experiment.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def points(
    folder: Path, text: str = TINY, *, quick: bool = False, versions: Versions = VERSIONS
) -> list[Point]:
    """The points of an experiment given as text."""
    return expand(files.load(write(folder, text)), versions, quick=quick)
