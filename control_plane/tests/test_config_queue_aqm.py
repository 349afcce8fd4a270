"""AQMs of queues: what the file may say, which entries come of it, what plans, `config explain` and `show queues` say.

Cannot see what a switch does with the entries: ptf_tests/tests/queue_aqm.py.
"""

from __future__ import annotations

import pytest
import yaml
from eeon_control import config, plan, port_settings, topology, views
from eeon_control.fabric.diff import difference
from eeon_control.fabric.read import FabricObservation, Observation, Wanted, observe, read_entries
from eeon_control.fabric.sync import apply_sync, plan_sync, run
from eeon_control.plan import Action, Entry, Exact
from eeon_control.units import Duration
from engine_switches import serving
from planned import lines

TICK = Duration(1000)
FABRIC = topology.load("leaf-spine-4")
CLASSES = "{urgent: {priority: 6, dscp: [46]}, bulk: {priority: 1, dscp: [10]}}"
TABLES = (port_settings.AQM.name, port_settings.QUEUE_AQM.name)
# Queues of port 2.
LOWEST, BULK, URGENT = 16, 17, 22


def of(queue: str = "{}", classes: str = CLASSES):
    """A configuration whose ports all have one profile: 30 KB unless `queue` says otherwise."""
    profile = {"buffer": "300KB", "aqm": {"mark_threshold": "30KB"}, **yaml.safe_load(queue)}
    return config.from_text(
        yaml.safe_dump(
            {
                "profiles": {"queue": {"q": profile}},
                "roles": {role: {"queue": "q"} for role in ("host_facing", "uplink", "spine")},
                "classes": yaml.safe_load(classes),
            }
        ),
        "a.yaml",
    )


def aqms(found) -> dict[str, Action]:
    """AQM entries of port 2 of leaf1 and of its queues, by their key."""
    keys = {"port=2", *(f"queue={queue}" for queue in range(LOWEST, LOWEST + config.PRIORITIES))}
    entries = [entry for entry in plan.intended(FABRIC, found, TICK)["leaf1"] if entry.table in TABLES]
    return {entry.match_text: entry.actions[0] for entry in entries if entry.match_text in keys}


def marking(threshold: int) -> Action:
    params = (("threshold_bytes", threshold), ("l4s_threshold_bytes", threshold), ("at_dequeue", 0))
    return Action("mark_threshold", params)


def problems(found) -> list[str]:
    return [f"{one.key}: {one.rule}" for one in config.check(found, FABRIC, TICK)]


def test_with_classes_each_queue_in_use_has_the_aqm_of_the_profile():
    assert aqms(of()) == {
        "port=2": Action("by_queue"),
        f"queue={LOWEST}": marking(30_000),
        f"queue={BULK}": marking(30_000),
        f"queue={URGENT}": marking(30_000),
    }


def test_a_class_may_have_an_aqm_of_its_own():
    found = aqms(of("{class_aqm: {urgent: drop_tail, default: {mark_threshold: 60KB}}}"))
    assert found[f"queue={URGENT}"] == Action("drop_tail")
    assert (found[f"queue={LOWEST}"], found[f"queue={BULK}"]) == (marking(60_000), marking(30_000))


def test_scope_port_keeps_one_aqm_for_all_queues():
    assert aqms(of("{scope: port}")) == {"port=2": marking(30_000)}


def test_a_port_without_classes_has_one_aqm():
    assert aqms(of(classes="{}")) == aqms(of("{scope: port}", classes="{}")) == {"port=2": marking(30_000)}


@pytest.mark.parametrize(
    ("queue", "classes", "key", "rule"),
    [
        ("{scope: queue}", "{}", "scope", "needs traffic classes: without them a port has one queue"),
        ("{class_aqm: {urgent: drop_tail}}", "{}", "class_aqm", "needs traffic classes"),
        ("{scope: port, class_aqm: {urgent: drop_tail}}", CLASSES, "class_aqm", "needs scope: queue"),
        (
            "{class_aqm: {urgnt: drop_tail}}",
            CLASSES,
            "class_aqm.urgnt",
            "unknown class (did you mean urgent?); there are bulk, default, urgent",
        ),
        (
            "{class_aqm: {a: drop_tail, b: mark_threshold}}",
            "{a: {priority: 1, dscp: [10]}, b: {priority: 1, dscp: [12]}}",
            "class_aqm.b",
            "the queue of priority 1 has another AQM by class a; give both one, or different priorities",
        ),
        (
            "{class_aqm: {urgent: {mode: codel, interval: 5s}}}",
            CLASSES,
            "class_aqm.urgent",
            "interval is 5s; with this target's 1ns tick at most",
        ),
    ],
)
def test_a_mistake_is_told_at_its_place(queue: str, classes: str, key: str, rule: str):
    found = [one for one in problems(of(queue, classes)) if one.startswith(f"profiles.queue.q.{key}: ")]
    assert found and all(rule in one for one in found), problems(of(queue, classes))


def test_two_classes_of_one_queue_may_say_the_same():
    classes = "{a: {priority: 1, dscp: [10]}, b: {priority: 1, dscp: [12]}}"
    assert problems(of("{class_aqm: {a: drop_tail, b: drop_tail}}", classes)) == []


def test_a_warning_is_about_the_aqm_of_the_class_that_it_names():
    [found] = problems(of("{class_aqm: {urgent: {mark_threshold: 400KB}}}"))
    assert found.startswith("profiles.queue.q.class_aqm.urgent.mark_threshold: not below the buffer (300KB)")


def explained(found) -> dict[str, tuple[str, str]]:
    port = FABRIC.port("leaf1:2")
    return {one.key: (one.value, one.source) for one in config.explain(found, port).settings}


def test_an_explanation_says_what_is_compared_and_where_each_queues_aqm_comes_from():
    found = explained(of("{class_aqm: {urgent: {mark_threshold: 6KB}}}"))
    path = "profiles.queue.q.class_aqm.urgent"
    assert found["scope"] == ("queue", "default with classes")
    assert found["aqm.6"] == ("mark_threshold", path)
    assert found["aqm.6.threshold"] == ("6KB", f"{path}.mark_threshold")
    assert found["threshold"] == ("30KB", "profiles.queue.q.aqm.mark_threshold")
    assert explained(of("{scope: port}"))["scope"] == ("port", "profiles.queue.q.scope")
    assert "scope" not in explained(of(classes="{}"))


def test_a_plan_says_what_changes_at_which_queue():
    assert lines(of("{scope: port}"), of("{class_aqm: {urgent: drop_tail}}")) == [
        "leaf1:1-4, leaf2:1-4, spine1:1-2, spine2:1-2 (12 ports): AQM mark above 30 KB -> one for each queue; "
        "priority 0: AQM not set -> mark above 30 KB; priority 1: AQM not set -> mark above 30 KB; "
        "priority 6: AQM not set -> drop tail"
    ]
    assert lines(of(), of("{class_aqm: {bulk: {mark_threshold: 60KB}}}")) == [
        "leaf1:1-4, leaf2:1-4, spine1:1-2, spine2:1-2 (12 ports): priority 1: marking threshold 30 KB -> 60 KB"
    ]


def shown(found):
    entries = {name: tuple(some) for name, some in plan.intended(FABRIC, found, TICK).items()}
    observed = {name: Observation(0, some, None, None, 0) for name, some in entries.items()}
    view = views.queues.queues(FABRIC, FabricObservation(observed, {}), TICK)
    return {row["port"]: row["aqm"] for row in view.rows}, view.notes


def test_show_queues_has_the_aqm_of_each_queue():
    rows, notes = shown(of("{class_aqm: {urgent: drop_tail}}"))
    assert rows["leaf1:2"] == "by queue: 0, 1 mark_threshold 30KB; 6 drop_tail"
    assert "by queue: the AQM of each priority compares its own queue alone" in notes
    rows, notes = shown(of("{scope: port}"))
    assert rows["leaf1:2"] == "mark_threshold 30KB"
    assert not [note for note in notes if note.startswith("by queue")]


def test_what_is_read_of_a_queue_is_what_was_written():
    table = port_settings.QUEUE_AQM
    for text in ("drop_tail", "{mark_threshold: 6KB}", "{mode: codel}"):
        profile = config.from_text(f"profiles: {{queue: {{q: {{buffer: 1MB, aqm: {text}}}}}}}", "a.yaml")
        settings = profile.profiles.queue["q"].aqm.settings_at(FABRIC.port("leaf1:2").rate)
        assert table.from_action(settings.to_action(TICK), TICK) == settings


def test_an_entry_of_a_queue_that_is_gone_is_deleted():
    before, after = (plan.intended(FABRIC, found, TICK)["leaf1"] for found in (of(), of("{scope: port}")))
    gone = [change.before for change in difference(before, after) if change.after is None]
    assert Entry("queue_aqm", (Exact("queue", URGENT),), (marking(30_000),)) in gone


@pytest.mark.system
def test_switches_hold_them_show_them_and_lose_them_again():
    with serving(FABRIC, priorities=8) as (_, targets):
        wanted = of("{class_aqm: {urgent: {mode: codel}, bulk: {red: [20KB, 60KB]}}}")
        apply_sync(FABRIC, wanted, targets, int(TICK))
        assert not any(one.changes for one in plan_sync(FABRIC, wanted, targets, int(TICK)).switches.values())
        rows = views.queues.queues(FABRIC, run(observe(FABRIC, targets, Wanted(entries=True))), TICK).rows
        assert rows[0]["aqm"].startswith("by queue: 0 mark_threshold 30KB; 1 red 20KB")
        apply_sync(FABRIC, of("{scope: port}"), targets, int(TICK))
        held = run(read_entries(FABRIC, targets))["leaf1"]
        assert [entry for entry in held if entry.table == "queue_aqm" and not entry.is_default] == []
