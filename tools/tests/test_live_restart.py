"""The links of a live switch that is killed go down, and `eeon fabric restart` brings both back."""

import json
import os
import signal
from collections.abc import Iterator

import pytest
from eeon_tools.live import state
from live_fabrics import MARKING, NEEDS_FABRIC, Fabric, brought_up, until

pytestmark = [*NEEDS_FABRIC, pytest.mark.slow]


@pytest.fixture
def fabric(tmp_path) -> Iterator[Fabric]:
    with brought_up(tmp_path, f"r{os.getpid() % 1000:03d}") as up:
        (tmp_path / "marking.yaml").write_text(MARKING)
        up.apply(str(tmp_path / "marking.yaml"))
        yield up


def down_at(fabric: Fabric, leaf: str) -> list[str]:
    """Returns the ports of a switch whose links are down, by the neighbour's name."""
    place = ("-t", str(fabric.topology), "-T", str(fabric.targets), "--switch", leaf, "-o", "json")
    rows = json.loads(fabric.eeon("show", "ports", *place).stdout)["rows"]
    return [row["peer"] for row in rows if row["link"] == "down"]


def test_links_of_a_killed_switch_go_down_and_come_back_when_it_is_started_again(fabric):
    before = state.load(fabric.name).switches["spine1"]
    os.kill(before.pid, signal.SIGKILL)
    said = fabric.folder / "up.txt"
    until(lambda: "spine1 has ended with status -9" in said.read_text())
    until(lambda: len(down_at(fabric, "leaf1")) == 1)
    assert "spine1" in down_at(fabric, "leaf1")[0]
    told = fabric.eeon("fabric", "status", "--name", fabric.name, check=False)
    assert told.returncode == 1 and "engine, up without spine1" in told.stdout
    assert "spine1 not running" in told.stderr and "eeon fabric restart SWITCH" in told.stderr

    unknown = fabric.eeon("fabric", "restart", "--name", fabric.name, "spine9", check=False)
    assert unknown.returncode == 1 and "did you mean spine" in unknown.stderr
    done = fabric.eeon("fabric", "restart", "--name", fabric.name, "spine1")
    now = state.load(fabric.name).switches["spine1"]
    assert f"process {now.pid}" in done.stdout and now.is_alive and now != before
    until(lambda: down_at(fabric, "leaf1") == [])
    until(lambda: "spine1 is running again" in said.read_text())
    fabric.apply(str(fabric.folder / "marking.yaml"))
    fabric.transfer("h1", "h3", "10.0.2.1", 1 << 20)
    assert str(now.pid) in fabric.eeon("fabric", "status", "--name", fabric.name).stdout

    # A switch that still runs is ended first.
    fabric.eeon("fabric", "restart", "--name", fabric.name, "spine1")
    assert not now.is_alive and state.load(fabric.name).switches["spine1"].is_alive
    fabric.apply(str(fabric.folder / "marking.yaml"))
    fabric.transfer("h1", "h3", "10.0.2.1", 1 << 20)
