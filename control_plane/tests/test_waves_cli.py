"""`eeon config apply --waves`, `--switch` and `--gate`: options and output."""

import json

import pytest
from eeon_command import Command
from eeon_control import config, topology
from eeon_control.errors import InputError
from eeon_control.operations.partial import merged

FABRIC4 = topology.load("leaf-spine-4")


class Fabric(Command):
    def apply(self, name: str, *words: str, code: int | None = 0):
        return super().apply("-c", name, *words, code=code)


@pytest.fixture
def fabric(tmp_path, fakes):
    return Fabric(tmp_path, fakes)


@pytest.mark.system
def test_waves_are_told_and_make_one_revision(fabric):
    result = fabric.apply("drop_tail", "--waves", "1,rest", "--gate", "drops", "--gate-command", "true")
    lines = result.stderr.splitlines()
    assert [one for one in lines if one.startswith("wave ")] == [
        text
        for number, name in enumerate(FABRIC4.switches, 1)
        for text in (f"wave {number} of 4 ({name}): begins", f"wave {number} of 4: its gate is open")
    ]
    assert "this is revision 1" in result.stdout


@pytest.mark.system
def test_history_has_a_rollout_that_stopped_between_the_revisions(fabric, tmp_path):
    fabric.apply("drop_tail", "-q")
    command = 'test "$EEON_WAVE" -lt 2 || { echo it rains; exit 9; }'
    words = ("-q", "--comment", "at last", "--waves", "rest", "--gate-command", command)
    result = fabric.apply("mark_threshold", *words, code=1)
    assert "wave 2 of 4: the gate `" in result.stderr and "exited with 9: it rains" in result.stderr
    assert "undone on leaf1, leaf2: every switch is as it was before" in result.stderr
    fabric.apply("mark_threshold", "-q")
    value = json.loads(fabric.config("history", "-o", "json").stdout)
    (stopped,) = value["stopped"]
    assert (stopped["after"], stopped["progress"], stopped["comment"]) == (
        1,
        "wave 2 of 4 (leaf2)",
        "at last",
    )
    lines = [line for line in fabric.config("history").stdout.splitlines() if "@" in line]
    assert [line.split()[0] for line in lines] == ["*", "-", "1"]


@pytest.mark.system
def test_switch_alone_gets_the_new_profiles_and_the_revision_says_so(fabric, fakes):
    fabric.apply("drop_tail", "-q")
    before = fakes.state()
    result = fabric.apply("mark_threshold", "--switch", "leaf2", "-q")
    assert "applied on leaf2; " in result.stdout
    assert [name for name, held in fakes.state().items() if held != before[name]] == ["leaf2"]
    fabric.config("drift", code=0)
    (now, _) = json.loads(fabric.config("history", "-o", "json").stdout)["revisions"]
    assert now["action"] == "apply on leaf2"
    fabric.apply("mark_threshold", "-q")
    fabric.apply("mark_threshold", "--dry-run")


@pytest.mark.system
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--waves", "0,rest"], "--waves 0,rest: wave 1 (0) has no switch: give at least 1"),
        (["--waves", "1,1"], "--waves 1,1: 2 of 4 switches are in no wave; end with rest"),
        (["--switch", "leaf7"], "--switch leaf7: leaf-spine-4 has no switch of that name"),
        (["--gate", "drop"], "'drop' is not one of drops, drops=N, pauses, pauses=N, links, account"),
        (["--pause", "1m"], "--pause needs --waves, --gate or --gate-command"),
        (["--gate-command", "sleep 60", "--gate-timeout", "0.1s"], "did not end within 0.1 s and was killed"),
        (["--switch", "leaf1"], "no revision is in force for the other switches; apply to all first"),
    ],
)
def test_bad_input_is_told_in_one_line_and_nothing_is_written(fabric, fakes, arguments, said):
    result = fabric.apply("drop_tail", *arguments, code=None)
    assert result.exit_code != 0
    assert [said in line for line in result.stderr.splitlines()].count(True) == 1
    assert [(one.pushes, len(one.updates)) for one in fakes.switches.values()] == [(0, 0)] * 4
    assert (
        not (fabric.state_folder / "current").exists() and not (fabric.state_folder / "journal.json").exists()
    )


def test_profiles_of_one_name_and_other_values_stand_beside_each_other():
    roles = {"host_facing": {"queue": "q"}, "uplink": {"queue": "q"}, "spine": {"queue": "q"}}
    queues = {"q": {"buffer": "100KB", "aqm": "drop_tail"}}
    held = config.from_value({"profiles": {"queue": queues}, "roles": roles}, "held")
    changes = {"profiles.queue.q.buffer": "200KB", "roles.host_facing.eee": "standard"}
    new = config.overridden(held, changes)
    mixed = merged(held, new, FABRIC4, ["leaf1"])
    of = {name: mixed.settings_of(FABRIC4.port(name)) for name in ("leaf1:1", "leaf1:3", "leaf2:1")}
    assert [(str(one.queue.buffer), one.eee_name) for one in of.values()] == [
        ("200KB", "standard"),
        ("200KB", "off"),
        ("100KB", "off"),
    ]
    again = merged(mixed, new, FABRIC4, ["leaf2"])
    assert list(again.profiles.queue) == ["q", "q_2"]


def test_what_is_the_whole_fabrics_cannot_be_one_switchs():
    held = config.load("drop_tail")
    with pytest.raises(InputError, match="--switch: error: routing: differs from the revision in force"):
        merged(held, config.overridden(held, {"routing.seed": 7}), FABRIC4, ["leaf1"])
