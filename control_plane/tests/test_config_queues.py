"""Classes, AQMs of queues and QCN: views, and entries in switches; the rest is in `expected/*.yaml`.

ptf_tests/tests/queue_aqm.py tests the effect of the entries.
"""

import pytest
import yaml
from eeon_control import config, plan, topology, views
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.fabric.read import Wanted, observe
from eeon_control.fabric.sync import run
from eeon_control.plan import classes, qcn
from eeon_control.units import Duration
from engine_switches import holding

TICK = Duration(1000)
FABRIC = topology.load("leaf-spine-4")
CLASSES = "{urgent: {priority: 6, dscp: [46]}, bulk: {priority: 1, dscp: [10]}}"
SHARED = "{bulk: {priority: 1, dscp: [10], quantum: 1500B}, storage: {priority: 3, dscp: [26], quantum: 6KB}}"


def over_marking(text: str):
    return config.overridden(config.load("mark_threshold"), yaml.safe_load(text))


def of(queue: str = "scope: queue"):
    """Returns a configuration whose ports all have one profile of 30 KB."""
    return over_marking(
        f"{{profiles: {{queue: {{q: {{buffer: 300KB, aqm: {{mark_threshold: 30KB}}, {queue}}}}}}}, "
        f"roles: {{host_facing: {{queue: q}}, uplink: {{queue: q}}, spine: {{queue: q}}}}, classes: {CLASSES}}}"
    )


def test_a_summary_of_what_a_switch_has():
    tables = ("switch_config", "dscp_priority", "pcp_priority")

    def summary(text: str) -> str:
        entries = plan.intended(FABRIC, over_marking(f"classes: {text}"), TICK)["leaf1"]
        return classes.summary([entry for entry in entries if entry.table in tables])

    assert summary("{}") == ""
    found = summary("{gold: {priority: 5, dscp: [46, 26], pcp: [5]}, low: {priority: 1, dscp: [8]}}")
    assert found == "DSCP 26, 46 -> 5; DSCP 8 -> 1; PCP 5 -> 5; others -> 0"


def test_quanta_are_of_queues_the_highest_first():
    assert list(over_marking(f"classes: {SHARED}").quanta.items()) == [(3, 6000), (1, 1500)]
    assert over_marking("classes: {gold: {priority: 5, dscp: [46]}}").quanta == {}


@pytest.mark.system
def test_switches_hold_aqms_of_queues_show_them_and_lose_them_again():
    wanted = of("class_aqm: {urgent: {mode: codel}, bulk: {red: [20KB, 60KB]}}")
    with holding(FABRIC, wanted, of("scope: port"), ["queue_aqm"]) as (_, targets):
        rows = views.queues.queues(FABRIC, run(observe(FABRIC, targets, Wanted(entries=True))), TICK).rows
        assert rows[0]["aqm"].startswith("by queue: 0 mark_threshold 30KB; 1 red 20KB")


@pytest.mark.system
def test_switches_hold_congestion_points_show_them_and_lose_them_again():
    wanted = over_marking(
        "{classes: {gold: {priority: 3, dscp: [26]}}, roles: {uplink: {queue: cee}}, "
        "profiles: {queue: {cee: {buffer: 300KB, qcn: {classes: [gold]}}}}}"
    )
    tables = (*qcn.TABLES, CLONE_SESSIONS)
    with holding(FABRIC, wanted, config.load("mark_threshold"), tables) as (_, targets):
        rows = views.qcn.qcn(
            FABRIC, run(observe(FABRIC, targets, Wanted(entries=True, queues=(qcn.POINTS,))))
        ).rows
        assert [(row["port"], row["priority"]) for row in rows] == [
            (f"{leaf}:{port}", 3) for leaf in ("leaf1", "leaf2") for port in (3, 4)
        ]
        assert rows[0] == {
            "port": "leaf1:3",
            "priority": 3,
            "set_point_bytes": 26_000,
            "weight": 2,
            "sample_bytes": 150_000,
            "jitter_percent": 15,
            "qcn_samples": 0,
            "cnms_made": 0,
            "cnms_ignored": 0,
        }
