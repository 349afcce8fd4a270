"""QCN: what the file may say, which entries come of it, what plans and `show qcn` say, and switches that hold it."""

from __future__ import annotations

import pytest
import yaml
from eeon_control import config, plan, topology, views
from eeon_control.config import check
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.errors import InputError
from eeon_control.fabric.read import Wanted, observe, read_entries
from eeon_control.fabric.sync import apply_sync, plan_sync, run
from eeon_control.plan import Action, Entry, Exact, qcn
from eeon_control.units import Duration
from engine_switches import serving
from planned import lines

TICK = Duration(1000)
FABRIC = topology.load("leaf-spine-4")
CLASSES = "{gold: {priority: 3, dscp: [26]}}"
UPLINKS_3_AND_4 = (27, 35)


def with_qcn(text: str, classes: str = CLASSES, buffer: str = "300KB"):
    """A configuration whose uplinks have a congestion point."""
    queue = {"buffer": buffer, "qcn": yaml.safe_load(text)}
    change = {
        "classes": yaml.safe_load(classes),
        "profiles": {"queue": {"cee": queue}},
        "roles": {"uplink": {"queue": "cee"}},
    }
    return config.overridden(config.load("mark_threshold"), change)


def entries(found, switch: str = "leaf1") -> list[Entry]:
    """Those of QCN, behind the session by which frames are made."""
    tables = (*qcn.TABLES, CLONE_SESSIONS)
    return [entry for entry in plan.intended(FABRIC, found, TICK)[switch] if entry.table in tables]


def test_entries_written_out():
    found = entries(with_qcn("{set_point: 20KB, weight: 4, sample: 100KB, jitter: 10, classes: [gold]}"))
    params = {
        "set_point_bytes": 20_000,
        "weight_shift": 2,
        "range_bytes": 180_000,
        # 63 * 2^56 / 180 000, rounded up.
        "scale_q56": 25_220_157_913_275,
        "sample_bytes": 100_000,
        "jitter_q16": 6_553,
    }
    mac = int(FABRIC.switches["leaf1"].mac.replace(":", ""), 16)
    point = (Action("qcn", tuple(params.items())),)
    assert found == [
        Entry("clone_session", (Exact("session", 1),), (Action("clone_to", (("port", 509),)),)),
        Entry("cnm_source", (), (Action("make_cnm", (("mac", mac),)),), is_default=True),
        Entry("cnm_queue", (), (Action("set_cnm_priority", (("priority", 7),)),), is_default=True),
        # The hosts' ports, 1 and 2, may send no messages.
        Entry("port_cnm", (Exact("port", 3),), (Action("trust_cnms"),)),
        Entry("port_cnm", (Exact("port", 4),), (Action("trust_cnms"),)),
        *(Entry("port_qcn", (Exact("queue", queue),), point) for queue in UPLINKS_3_AND_4),
    ]


def test_a_switch_without_congestion_point_sends_messages_on():
    found = entries(with_qcn("{}", "{default: {priority: 1}, other: {priority: 2, dscp: [1]}}"), "spine1")
    assert [entry.table for entry in found] == [
        "clone_session",
        "cnm_source",
        "cnm_queue",
        "port_cnm",
        "port_cnm",
    ]


def test_the_class_of_what_no_class_names_is_sampled_in_its_queue():
    found = entries(with_qcn("{}", "{default: {priority: 1}, other: {priority: 2, dscp: [1]}}"))
    assert [entry.match[0].value for entry in found if entry.table == "port_qcn"] == [3 * 8 + 1, 4 * 8 + 1]


def test_without_qcn_there_is_none_of_it():
    assert entries(config.load("mark_threshold")) == []


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{set_point: 0B}", "a number of bytes must be above zero"),
        ("{weight: 3}", "the weight is a power of two, so not 3"),
        ("{weight: 0}", "the weight is a whole number from 1 to 1024"),
        ("{jitter: 100}", "the jitter is a whole number from 0 to 99"),
        ("{classes: []}", "at least one is; leave `qcn` out for none"),
        ("{classes: [gold, gold]}", "classes are named once each"),
        ("{setpoint: 20KB}", "unknown key (did you mean set_point?)"),
    ],
)
def test_mistakes_in_the_file_are_named(text, error):
    with pytest.raises(InputError) as raised:
        with_qcn(text)
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (with_qcn("{}", "{}"), "error: needs traffic classes"),
        (with_qcn("{classes: [glod]}"), "error: unknown class glod (did you mean gold?)"),
        (with_qcn("{set_point: 300KB}"), "error: 300KB is not below the buffer (300KB)"),
        (
            with_qcn("{set_point: 66KB}", buffer="98KB"),
            "warning: 66KB is above two thirds of the buffer (98KB)",
        ),
    ],
)
def test_what_does_not_go_together_is_told(found, says):
    problems = check(found, FABRIC, TICK)
    told = [f"{one.severity.value}: {one.rule}" for one in problems]
    assert sum(one.startswith(says) for one in told) == 1, told


def test_a_plan_says_what_changes():
    plain = config.overridden(with_qcn("{classes: [gold]}"), {"profiles": {"queue": {"cee": {"qcn": None}}}})
    assert lines(plain, with_qcn("{classes: [gold]}")) == [
        "leaf1, leaf2, spine1, spine2: how congestion notification messages are made and sent on",
        "leaf1:3-4, leaf2:3-4 (uplink, 4 ports): "
        "QCN of priority 3 off -> set point 26 KB, weight 2, sampled every 150 KB, jitter 15 %",
    ]


@pytest.mark.system
def test_switches_hold_it_show_it_and_lose_it_again():
    with serving(FABRIC, priorities=8) as (_, targets):
        wanted = with_qcn("{classes: [gold]}")
        apply_sync(FABRIC, wanted, targets, int(TICK))
        assert not any(one.changes for one in plan_sync(FABRIC, wanted, targets, int(TICK)).switches.values())
        observed = run(observe(FABRIC, targets, Wanted(entries=True, qcn=True)))
        rows = views.qcn.qcn(FABRIC, observed).rows
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
        apply_sync(FABRIC, config.load("mark_threshold"), targets, int(TICK))
        held = run(read_entries(FABRIC, targets))["leaf1"]
        assert [
            entry for entry in held if entry.table in (*qcn.TABLES, CLONE_SESSIONS) and not entry.is_default
        ] == []
