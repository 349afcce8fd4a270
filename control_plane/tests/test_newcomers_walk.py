"""A user who knows only `eeon --help` finds the path of a flow, the port that drops, and the reason.

Real switches of the engine with real frames; spine1 has lost its route to leaf2. Every command is taken from
the help, at 80 columns.
"""

import contextlib
import re

import eeon_command
import pytest
from eeon_control import topology
from eeon_control.fabric import difference
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.sync import run
from eeon_control.program import load as load_program
from eeon_control.routing import Flow
from eeon_control.targets import resolve

pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")

from carried_frames import Running, frame_of

pytestmark = pytest.mark.system

TOPOLOGY = topology.load("leaf-spine-4")
PACKETS = 5


def eeon(*words: str) -> str:
    """Returns the output of a command on a terminal of 80 columns, including stderr."""
    return eeon_command.eeon(*words, columns=80).output


async def lose_route(running: Running, name: str, prefix: int) -> None:
    targets = resolve(TOPOLOGY, running.targets)
    async with P4RuntimeSession(name, targets[name], load_program().schema(), election_id=1000) as session:
        held = await session.read_entries(["ipv4_route"])
        left = [entry for entry in held if not (entry.match and entry.match[0].value == prefix)]
        assert len(left) == len(held) - 1
        await session.write_changes(difference(held, left))


@pytest.fixture
def fabric(tmp_path, monkeypatch):
    """Yields a configured fabric, for which `eeon show` needs no options; its flow over spine1 is lost."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with contextlib.ExitStack() as stack:
        running = Running(TOPOLOGY, stack)
        eeon("config", "apply", "-c", "drop_tail", *eeon_command.place(tmp_path, running.targets))
        run(lose_route(running, "spine1", 0x0A000200))
        source, destination = TOPOLOGY.hosts["h1"], TOPOLOGY.hosts["h3"]
        frame = frame_of(source, destination, Flow(6, 40000, 5000), 4)
        assert [running.ports_taken(source, frame) for _ in range(PACKETS)] == [["leaf1:3"]] * PACKETS
        yield running


def first_steps() -> dict[str, str]:
    """Returns the commands of `eeon --help` by the text beside them."""
    found = re.findall(r"^ +(eeon (?:\S+ )+) +(\S.*)$", eeon("--help"), re.MULTILINE)
    return {what: command.strip() for command, what in found}


def typed(command: str) -> str:
    return eeon(*command.split()[1:])


def test_help_alone_leads_to_the_path_of_a_flow_the_port_that_drops_and_the_reason(fabric):
    steps = first_steps()
    way = typed(steps["show a flow's path, and its end"])
    assert "leaf1:3" in way and "path 1: no route to 10.0.2.1 at spine1" in way, way
    drops = typed(steps["show ports that drop, and why"])
    assert re.search(rf"^spine1:1 .* {PACKETS} +no route {PACKETS}$", drops, re.MULTILINE), drops
    assert "11 of 12 rows left out" in drops
    routes = typed(steps["show routes not as planned"])
    assert re.search(r"^spine1 +10\.0\.2\.0/24 .*missing; planned: 2 leaf2$", routes, re.MULTILINE), routes
    assert "--flow PROTO,SPORT,DPORT" in typed(steps["show all about one command"])


GROUPS = [(), *((group,) for group in ("show", "config", "controller", "sonic"))]
GROUPS_OF_TOOLS = [(group,) for group in ("fabric", "trace", "lab")]


@pytest.mark.parametrize("group", [*GROUPS, *GROUPS_OF_TOOLS])
def test_lists_of_commands_say_what_each_tells_without_being_cut(group):
    if group in GROUPS_OF_TOOLS:
        pytest.importorskip("eeon_tools", reason="eeon-tools, which has this group, is not installed")
    for line in eeon(*group, "--help").splitlines()[1:]:  # the first one ends with [ARGS]...
        assert not line.rstrip().endswith("..."), line
