"""A live fabric of the engine, with Linux' own TCP between its hosts. Skipped with a message without root."""

import json
import os
import re
from collections.abc import Iterator

import pytest
from live_fabrics import HAS_BMV2, MARKING, NEEDS_FABRIC, Fabric, brought_up, remains

MEGABYTES = 4

# No PHY of 10 Mbit/s has EEE.
BMV2_HOLD = """
profiles:
  eee: {held: {mode: coalesce, hold: 1ms, trigger: 1000pkt, sleep: 200us, wake: 30us}}
roles: {host_facing: {eee: held}, uplink: {eee: held}, spine: {eee: held}}
"""

pytestmark = NEEDS_FABRIC


@pytest.fixture(scope="module")
def fabric(tmp_path_factory) -> Iterator[Fabric]:
    """Yields leaf-spine-4 at a tenth of its rates: hosts at 100 Mbit/s."""
    with brought_up(tmp_path_factory.mktemp("fabric"), f"a{os.getpid() % 1000:03d}") as up:
        yield up


@pytest.fixture
def marking(fabric) -> str:
    path = fabric.folder / "marking.yaml"
    path.write_text(MARKING)
    return str(path)


def marks(fabric: Fabric) -> int:
    return sum(row["marked"] for row in fabric.show("ecn"))


def drops(fabric: Fabric) -> int:
    return sum(row["early_dropped"] + row["tail_dropped"] for row in fabric.show("ecn"))


def ce_delivered(ss: str) -> int:
    found = re.search(r"\bdelivered_ce:(\d+)", ss)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("eee", ["eee_off", "eee_1ms1000"])
def test_linux_tcp_crosses_the_fabric_whole_and_answers_its_marks(fabric, marking, eee):
    fabric.apply(marking, eee)
    before, lost = marks(fabric), drops(fabric)
    sent = fabric.transfer("h1", "h3", "10.0.2.1", MEGABYTES << 20)
    assert re.search(r"\becn\b", sent["ss"]), sent["ss"]
    assert re.search(r"\becnseen\b", sent["ss"]), sent["ss"]
    counted = marks(fabric) - before
    assert counted > 0
    assert drops(fabric) == lost
    # The receiver sets ECE until it sees CWR, so several ACKs may report one mark (RFC 3168).
    assert ce_delivered(sent["ss"]) > 0, sent["ss"]
    # It has left its first slow start; without a loss, only a mark makes Reno do so.
    assert re.search(r"\bssthresh:\d+", sent["ss"]), sent["ss"]
    rows = fabric.show("eee")
    assert any(row["wakes"] for row in rows) == (eee != "eee_off")


def test_ipv6_crosses_the_fabric_as_well(fabric, marking):
    fabric.apply(marking)
    fabric.transfer("h4", "h2", "fd00:0:0:1::2", 1 << 20)


def test_status_names_switches_and_hosts_and_exec_gives_the_commands_status(fabric):
    text = fabric.eeon("fabric", "status", "--name", fabric.name).stdout
    assert all(name in text for name in ("leaf1", "leaf2", "spine1", "spine2", "h4"))
    done = fabric.eeon("fabric", "exec", "--name", fabric.name, "h1", "--", "sh", "-c", "exit 7", check=False)
    assert done.returncode == 7
    unknown = fabric.eeon("fabric", "exec", "--name", fabric.name, "h9", "--", "true", check=False)
    assert "not one of h1, h2, h3, h4" in unknown.stderr


def test_a_second_fabric_of_the_same_name_is_refused_and_the_first_stays(fabric):
    second = fabric.eeon(
        *("fabric", "up", "leaf-spine-4", "--target", "engine", "--name", fabric.name),
        *("--targets", str(fabric.folder / "second.yaml")),
        check=False,
    )
    assert second.returncode == 1
    assert f"a fabric named {fabric.name} already exists" in second.stderr
    fabric.eeon("fabric", "status", "--name", fabric.name)


@pytest.mark.nightly
@pytest.mark.skipif(not HAS_BMV2, reason="BMv2 is not on PATH")
def test_linux_tcp_crosses_a_fabric_of_bmv2_at_its_packet_rates_with_and_without_a_hold(tmp_path):
    name = f"d{os.getpid() % 1000:03d}"
    marking, hold = tmp_path / "marking.yaml", tmp_path / "hold.yaml"
    marking.write_text(MARKING)
    hold.write_text(BMV2_HOLD)
    with brought_up(tmp_path, name, "--rate-scale", "1/100", target="bmv2") as up:
        for eee in ("eee_off", str(hold)):
            up.apply(str(marking), eee)
            before = marks(up)
            sent = up.transfer("h1", "h3", "10.0.2.1", 500_000)
            # 346 segments at 812 packets per second: 10 Mbit/s in frames of 1538 bytes on the wire.
            busy = re.search(r"\bbusy:(\d+)ms", sent["ss"])
            assert busy is not None and int(busy[1]) > 400, sent["ss"]
            assert ce_delivered(sent["ss"]) > 0, sent["ss"]
            assert marks(up) > before
            assert drops(up) == 0
        up.eeon("fabric", "down", "--name", name)


def test_hosts_have_a_congestion_control_that_answers_marks_and_status_shows_it(fabric):
    told = json.loads(fabric.eeon("fabric", "status", "--name", fabric.name, "--json").stdout)
    assert told["congestion_control"] in ("dctcp", "cubic", "reno")
    shown = fabric.eeon("fabric", "status", "--name", fabric.name).stdout
    assert f"hosts' congestion control: {told['congestion_control']}, with ECN" in shown
    read = "cat /proc/sys/net/ipv4/tcp_congestion_control /proc/sys/net/ipv4/tcp_ecn"
    for host in told["hosts"]:
        words = ("fabric", "exec", "--name", fabric.name, host, "--", "sh", "-c", read)
        assert fabric.eeon(*words).stdout.split() == [told["congestion_control"], "1"]


def test_a_congestion_control_that_hosts_cannot_have_is_refused_and_nothing_is_left(tmp_path):
    name = f"q{os.getpid() % 1000:03d}"
    words = ("fabric", "up", "leaf-spine-4", "--target", "engine", "--name", name, "--cc", "none_such")
    done = Fabric.eeon(*words, "--targets", str(tmp_path / "targets.yaml"), check=False)
    assert done.returncode == 1 and "cannot use congestion control none_such" in done.stderr
    assert remains(name) == []
