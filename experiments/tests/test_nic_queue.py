"""NICs that queue like the switch ports that they face."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from eeon_control import config, topology
from eeon_control.errors import InputError
from eeon_experiments.nic_queue import queue_like
from eeon_experiments.run import run_one
from eeon_experiments.versions import versions
from made_experiments import points

RED = {"mode": "red", "target_delay": "100us", "max_probability": "100%", "protect": "ece"}


def of(aqm: dict[str, Any], port: str = "leaf1:1", **buffer: str) -> dict[str, Any]:
    fabric = topology.load("leaf-spine-160")
    roles = {role: {"queue": "fabric"} for role in ("host_facing", "uplink", "spine")}
    queue = {"buffer": "shallow", "aqm": aqm} | buffer
    known = config.from_value({"profiles": {"queue": {"fabric": queue}}, "roles": roles}, "made")
    leaf = fabric.port(port)
    assert leaf is not None
    return queue_like(known, leaf)


@pytest.mark.parametrize(
    ("aqm", "expected"),
    [
        ({"mode": "drop_tail"}, None),
        (
            {"mode": "mark_threshold", "threshold": "30KB"},
            {
                "mode": "mark_threshold",
                "threshold_bytes": 30_000,
                "l4s_threshold_bytes": 30_000,
                "at_dequeue": False,
            },
        ),
        (
            # The thesis's table 6.4 at 1GbE, halves rounded up; slope 2^48 / (38 - 13).
            RED,
            {
                "mode": "red",
                "min_threshold": 13,
                "max_threshold": 38,
                "probability_slope": 11_258_999_068_426,
                "in_packets": True,
                "average_shift": 0,
                "half_life_ps": None,
                "by_size": False,
                "ecn": True,
                "protect": "ece",
            },
        ),
        (
            {"mode": "codel", "target": "500us", "interval": "20ms", "ecn": False},
            {
                "mode": "codel",
                "target_ps": 500_000_000,
                "interval_ps": 20_000_000_000,
                "mtu_bytes": 1514,
                "ecn": False,
                "protect": "ect",
            },
        ),
    ],
)
def test_a_nic_is_set_as_the_port(aqm: dict[str, Any], expected: dict[str, Any] | None) -> None:
    assert of(aqm) == {"buffer_bytes": 300_000, "aqm": expected}


def test_a_nic_counts_its_buffer_as_its_leaf_does():
    plain = {"mode": "drop_tail"}
    assert of(plain, buffer="200pkt") == {"buffer_packets": 200, "aqm": None}
    outside = of(plain, held_packets="outside")
    assert outside == {"buffer_bytes": 300_000, "held_outside": True, "aqm": None}


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


@pytest.mark.system
def test_where_flows_take_turns_a_small_flow_does_not_wait_for_what_a_large_one_has_queued(
    tmp_path: Path,
) -> None:
    # Of these, the small flow alone begins after the warm-up.
    (tmp_path / "flows.csv").write_text("h1,h3,3MB,0\nh1,h4,20KB,5ms\n", encoding="utf-8")

    def slowdown(nic: str) -> float:
        text = BESIDE.replace("  workload", f"  nic: {{queue: {nic}}}\n  workload")
        found = run_one(points(tmp_path, text, versions=versions())[0].run).measured
        assert found["status"] == "finished", found["error"]
        return float(found["slowdown_100kb_mean"])

    assert slowdown("unlimited") > 10
    assert slowdown("fair") < 3


def test_an_aqm_of_the_nic_beside_flows_in_turn_is_refused_by_its_name(tmp_path: Path) -> None:
    text = BESIDE.replace("  workload", "  nic: {queue: fair, aqm: {mode: codel}}\n  workload")
    (tmp_path / "flows.csv").write_text("h1,h3,3MB,5ms\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        points(tmp_path, text)
    assert "aqm" in str(caught.value)
    assert str(caught.value).count("\n") == 0
