"""Traffic classes: their summary and quanta; the rest is in `expected/*.yaml` and `expected/scenarios/classes.yaml`."""

import yaml
from eeon_control import config, plan, topology
from eeon_control.plan import classes
from eeon_control.units import Duration

TICK = Duration(1000)
FABRIC = topology.load("leaf-spine-4")
SHARED = "{bulk: {priority: 1, dscp: [10], quantum: 1500B}, storage: {priority: 3, dscp: [26], quantum: 6KB}}"


def over_marking(text: str):
    return config.overridden(config.load("mark_threshold"), yaml.safe_load(text))


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
