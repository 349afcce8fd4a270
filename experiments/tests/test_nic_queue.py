"""NICs that queue like the switch ports at the other end of their links: refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from eeon_control import config, topology
from eeon_control.errors import InputError
from eeon_experiments.nic_queue import queue_like
from made_experiments import points


def of(**queue: Any) -> dict[str, Any]:
    """Returns the NIC of a host whose port has this profile."""
    roles = {role: {"queue": "fabric"} for role in ("host_facing", "uplink", "spine")}
    known = config.from_value({"profiles": {"queue": {"fabric": queue}}, "roles": roles}, "made")
    leaf = topology.load("leaf-spine-160").port("leaf1:1")
    assert leaf is not None
    return queue_like(known, leaf)


BESIDE = """\
name: beside
title: a small flow behind a large one of its host
base:
  topology: leaf-spine-4
  config: drop_tail
  workload: {applications: {flows: {kind: flows, listed: flows.csv, warm_up: 1ms}}}
  time_limit: 10s
seeds: [1]
"""


def test_an_aqm_of_the_nic_beside_flows_in_turn_is_refused_by_its_name(tmp_path: Path) -> None:
    text = BESIDE.replace("  workload", "  nic: {queue: fair, aqm: {mode: codel}}\n  workload")
    (tmp_path / "flows.csv").write_text("h1,h3,3MB,5ms\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        points(tmp_path, text)
    assert "aqm" in str(caught.value)
    assert str(caught.value).count("\n") == 0
