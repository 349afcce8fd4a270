"""Scatter and gather in an experiment's file: the engine's input, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from eeon_control.errors import InputError
from eeon_experiments.fabric import workload_of
from made_experiments import points

QUERIES = """\
name: queries
title: queries beside traffic
base:
  topology: leaf-spine-4
  config: drop_tail
  start_jitter: 0s
  workload:
    applications:
      - name: queries
        kind: scatter_gather
        clients: [h1]
        response: 20KB
        answer: 20KB
        mean_interval: 1ms
        queries: 50
      - name: traffic
        kind: rpc
        background: true
        random_pairs: 4
        request: 1KB
        response: 100KB
        mean_interval: 1ms
  time_limit: 10s
seeds: [1]
"""


def test_a_rack_is_the_hosts_of_a_leaf(tmp_path: Path) -> None:
    settings, topology, _ = points(tmp_path, QUERIES)[0].run.parts()
    told = workload_of(settings, topology, 1)["applications"][0]
    assert told == {
        "kind": "scatter_gather",
        "name": "queries",
        "clients": ["h1"],
        "racks": [["h1", "h2"], ["h3", "h4"]],
        "response_bytes": 20_000,
        "answer_bytes": 20_000,
        "mean_interval_ps": 10**9,
        "queries": 50,
    }


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("clients: [h1]", "clients: [h9]", "has no host of that name"),
        ("        queries: 50\n", "", "the run would never end"),
        ("queries: 50", "queries: 0", "greater than or equal to 1"),
        ("        response: 20KB\n", "", "required"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        points(tmp_path, QUERIES.replace(old, new))
    assert reason.lower() in str(caught.value).lower()
