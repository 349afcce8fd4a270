"""Traffic classes: what the file may say, which entries come of it, and what plans and `show queues` say of them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from eeon_control import config, plan, topology
from eeon_control.cli import main
from eeon_control.errors import InputError
from eeon_control.plan import Action, Entry, Exact, classes
from eeon_control.units import Duration
from planned import lines

TICK = Duration(1000)
FABRIC = topology.load("leaf-spine-4")
TABLES = ("switch_config", "dscp_priority", "pcp_priority")


def with_classes(text: str):
    return config.overridden(config.load("mark_threshold"), {"classes": config_value(text)})


def config_value(text: str) -> object:
    import yaml

    return yaml.safe_load(text)


def entries(text: str) -> list[Entry]:
    return [
        entry for entry in plan.intended(FABRIC, with_classes(text), TICK)["leaf1"] if entry.table in TABLES
    ]


def to(priority: int) -> tuple[Action]:
    return (Action("set_priority", (("priority", priority),)),)


def test_entries_written_out():
    found = entries(
        "{gold: {priority: 5, dscp: [46, 26], pcp: [5]}, low: {priority: 1, dscp: [8]}, default: {priority: 2}}"
    )
    assert found[0].actions[0].name == "set_ecmp_seed_and_priorities"
    assert found[1:] == [
        Entry("dscp_priority", (), to(2), is_default=True),
        Entry("dscp_priority", (Exact("dscp", 8),), to(1)),
        Entry("dscp_priority", (Exact("dscp", 26),), to(5)),
        Entry("dscp_priority", (Exact("dscp", 46),), to(5)),
        Entry("pcp_priority", (Exact("pcp", 5),), to(5)),
    ]


def test_without_classes_packets_meet_no_table_of_queues():
    assert [(entry.table, entry.actions[0].name) for entry in entries("{}")] == [
        ("switch_config", "set_ecmp_seed")
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{a: {priority: 8, dscp: [1]}}", "a priority is a whole number from 0 to 7"),
        ("{a: {priority: true, dscp: [1]}}", "a priority is a whole number from 0 to 7"),
        ("{a: {priority: 1, dscp: [64]}}", "a DSCP is a whole number from 0 to 63"),
        ('{a: {priority: 1, dscp: ["26"]}}', "from 0 to 63; write it without quotes"),
        ("{a: {priority: 1, pcp: [8]}}", "a PCP is a whole number from 0 to 7"),
        ("{a: {dscp: [1]}}", "priority: this key is required"),
        ("{a: {priority: 1}}", "a has neither dscp nor pcp"),
        ("{a: {priority: 1, dscp: [3]}, b: {priority: 2, dscp: [4, 3]}}", "dscp 3 is in a and in b"),
        ("{a: {priority: 1, pcp: [3, 3]}}", "pcp 3 is twice in a"),
        ("{default: {priority: 1, dscp: [3]}}", "default is what no other class names"),
        ("{a: {priority: 1, dcsp: [3]}}", "unknown key (did you mean dscp?)"),
    ],
)
def test_mistakes_are_named(text, error):
    with pytest.raises(InputError) as raised:
        with_classes(text)
    assert error in str(raised.value)


def said(before: str, after: str) -> list[str]:
    """What a plan says, without its ports and without AQM (test_config_queue_aqm.py)."""
    told = [line.partition(": ")[2] for line in lines(with_classes(before), with_classes(after))]
    return [line for line in told if "AQM" not in line]


def test_a_plan_says_what_changes():
    assert said("{}", "{gold: {priority: 5, dscp: [46]}}") == [
        "packets go to a queue by their class",
        "DSCP 46: by default -> priority 5",
    ]
    assert said(
        "{gold: {priority: 5, dscp: [46]}}", "{gold: {priority: 6, pcp: [3]}, default: {priority: 1}}"
    ) == [
        "other packets: priority 0 -> priority 1",
        "PCP 3: by default -> priority 6",
        "DSCP 46: priority 5 -> by default",
    ]


def test_a_summary_of_what_a_switch_has():
    assert classes.summary(entries("{}")) == ""
    found = entries("{gold: {priority: 5, dscp: [46, 26], pcp: [5]}, low: {priority: 1, dscp: [8]}}")
    assert classes.summary(found) == "DSCP 26, 46 -> 5; DSCP 8 -> 1; PCP 5 -> 5; others -> 0"


SHARED = "{bulk: {priority: 1, dscp: [10], quantum: 1500B}, storage: {priority: 3, dscp: [26], quantum: 6KB}}"


def problems(text: str) -> list[str]:
    return [problem.rule for problem in config.check(with_classes(text), FABRIC, TICK)]


def test_quanta_are_of_queues_the_highest_first():
    found = with_classes(SHARED)
    assert list(found.quanta.items()) == [(3, 6000), (1, 1500)]
    assert with_classes("{gold: {priority: 5, dscp: [46]}}").quanta == {}
    assert problems(SHARED) == []


def test_an_explanation_of_a_port_has_the_quanta_of_its_queues():
    port = FABRIC.port("leaf1:1")
    settings = {one.key: one.value for one in config.explain(with_classes(SHARED), port).settings}
    assert (settings["quantum.1"], settings["quantum.3"]) == ("1.5KB", "6KB")
    host = config.explain(with_classes(SHARED), FABRIC.hosts["h1"].port).settings
    assert not [one for one in host if one.key.startswith("quantum")]


def test_a_queue_has_one_quantum():
    of = "{a: {priority: 1, dscp: [10], quantum: 3KB}, b: {priority: 1, dscp: [12]%s}}"
    assert problems(of % "") == problems(of % ", quantum: 3KB") == []
    (problem,) = problems(of % ", quantum: 4KB")
    assert problem.startswith("the queue of priority 1 has quantum 3KB by class a and 4KB here")


def test_the_switches_own_frames_wait_for_no_turn():
    (problem,) = problems("{a: {priority: 7, dscp: [10], quantum: 3KB}}")
    assert problem.startswith("priority 7 is for the switches' own frames")


@pytest.mark.parametrize(("quantum", "error"), [("0B", "above zero"), ("5GB", "32 bits"), ("3", "unit")])
def test_a_quantum_is_a_size(quantum, error):
    with pytest.raises(InputError, match=error):
        with_classes(f"{{a: {{priority: 1, dscp: [1], quantum: {quantum}}}}}")


@pytest.mark.system
def test_plans_say_that_quanta_are_not_set(tmp_path):
    (tmp_path / "c.yaml").write_text(f"classes: {SHARED}\n")
    place = ["-t", "leaf-spine-4", "--tick", "1ns", "-c", "mark_threshold", "-c", str(tmp_path / "c.yaml")]
    place += [part for name in FABRIC.switches for part in ("--target", f"{name}=127.0.0.1:1")]
    for verb in (["plan"], ["apply", "--dry-run"]):
        warned = CliRunner().invoke(main, ["config", *verb, *place]).stderr
        assert "start eeon-switch with --queue-quantum 3=6KB --queue-quantum 1=1.5KB" in warned, warned
