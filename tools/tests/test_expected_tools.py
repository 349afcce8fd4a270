"""Answers to labs, traces, faults and explanations: each row of `expected/*.yaml`."""

import contextlib
import functools
import json
import shlex
from collections.abc import Mapping
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
import test_explain
import test_lab
from eeon_control import config as configs
from eeon_control import topology
from eeon_control.errors import EeonError
from eeon_control.units import DataRate
from eeon_tools.errors import InputError, ToolsError
from eeon_tools.lab import Lab, parse, read_topology
from eeon_tools.lab.host import Host
from eeon_tools.replay.faults import Fault
from eeon_tools.replay.unmarked import why_unmarked
from eeon_tools.trace.coflow import read_coflows
from eeon_tools.trace.frames import ECN_NAMES
from made_captures import sparse
from scapy.layers.l2 import ARP, Ether

from control_plane.tests import expected_rows
from control_plane.tests.expected_rows import Messages, Reader, command, rows, value

EVERYTHING = Path(__file__).parents[2] / "engine/python/tests/programs/everything"


refused = functools.partial(expected_rows.refused, errors=(ToolsError, EeonError, ValueError))


def lab_host(text: str, folder: Path) -> dict[str, object]:
    """Returns a host's neighbours and routes after a command at its start."""
    file = test_lab.written(folder, hosts={"h1": test_lab.host_file(text)}, **test_lab.ONE_HOST)
    host = read_topology(file).hosts["h1"]
    neighbours = {str(address): mac for address, mac in host.neighbours.items()}
    found = {"gateway": host.gateway and str(host.gateway), "neighbours": neighbours}
    return found | {"routes": list(host.routes), "ignored": list(host.ignored)}


def lab_hops(text: str, folder: Path) -> list[str | None]:
    """Returns the addresses that a host asks for to send to 10.0.9.9 and 10.1.0.1, after commands at its
    start; None where it has no route."""
    file = test_lab.written(folder, hosts={"h1": test_lab.host_file(text)}, **test_lab.ONE_HOST)
    host = Host(read_topology(file).hosts["h1"])
    found: list[str | None] = []
    for address in ("10.0.9.9", "10.1.0.1"):
        try:
            [frame] = host.send(IPv4Address(address), b"")
            found.append(Ether(frame)[ARP].pdst)
        except InputError as error:
            assert "has no route there" in str(error)
            found.append(None)
    return found


def lab_command(text: str, folder: Path) -> Messages:
    """Returns why a running lab refuses a command; the lab continues."""
    with Lab(test_lab.TOPOLOGY) as lab:
        found = refused(lambda: test_lab.run(lab, text))
        assert test_lab.run(lab, "h1 ping h2 -c 1")[0]["received"] == 1
    return found


def coflows(text: str, folder: Path) -> Messages:
    (folder / "coflows.txt").write_text(text)
    return refused(lambda: list(read_coflows(folder / "coflows.txt")[1]))


def on_a_capture(text: str, folder: Path) -> Messages:
    """Returns why a command with `sparse.pcap` in its folder is refused."""
    sparse(folder)
    return command(text, folder, 1)


def entries(text: str, folder: Path) -> Messages:
    """Returns why `eeon explain` refuses a file of entries."""
    path = folder / "s1-runtime.json"
    path.write_text(json.dumps(value(text)))
    program = ("--program", f"{EVERYTHING}.json", "--p4info", f"{EVERYTHING}.p4info.txtpb", "--port", "0")
    result = test_explain.run("020000000001020000000002123400000001", *program, "--entries", str(path))
    assert result.exit_code == 1
    return Messages(result.stderr.splitlines())


def why(
    text: str, folder: Path, frame: Mapping[str, Any] | None = None, digits: str = "", lines: int = 1
) -> list[str]:
    """Returns the first lines of a frame's ending: of a frame with changed fields, or of any digits."""
    made = digits or test_explain.frame(**frame or {})
    with contextlib.chdir(folder):
        return test_explain.why(made, *test_explain.FABRIC, *shlex.split(text))[:lines]


def ending(text: str, folder: Path) -> str:
    """Returns the first line of why a frame is not queued: one with changed fields, or any digits."""
    how = {"digits": text} if text.isalnum() else {"frame": value(text)}
    return why("-c drop_tail --port 1", folder, **how)[0]


def unmarked(text: str, folder: Path) -> str:
    """Returns why a run has marked nothing; `config` is by default a marking threshold."""
    told = value(f"{{{text}}}")
    with contextlib.chdir(folder):
        config = configs.load(told.get("config", "mark_threshold"))
    by_ecn = dict.fromkeys(ECN_NAMES, 0) | told["by_ecn"]
    return why_unmarked(config, topology.load("leaf-spine-4").ports(), by_ecn, told.get("depths", {}))


READERS: dict[str, Reader] = {
    "eeon": command,
    "topology of a lab": lambda text, folder: refused(
        lambda: read_topology(test_lab.written(folder, **value(text)))
    ),
    "host of a lab": lab_host,
    "next hops of a host": lab_hops,
    "line of a lab": lambda text, folder: refused(
        lambda: parse(text, read_topology(test_lab.TOPOLOGY, DataRate(10**9)).hosts)
    ),
    "lab": lab_command,
    "coflows": coflows,
    "fault": lambda text, folder: refused(lambda: Fault.parse(text).check(topology.load("leaf-spine-4"))),
    "eeon on a capture": on_a_capture,
    "entries": entries,
    "why": why,
    "ending": ending,
    "why nothing is marked": unmarked,
}
TABLES = sorted((Path(__file__).parent / "expected").glob("*.yaml"))


@pytest.mark.parametrize("row", [row for file in TABLES for row in rows(file)])
def test_answer_is_the_expected_one(row, tmp_path):
    row.check(READERS, tmp_path)
