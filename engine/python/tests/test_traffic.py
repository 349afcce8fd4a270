"""`Traffic` between the two ends of a veth pair in one namespace. Skipped without root."""

import itertools
import json
import socket
import struct
import subprocess
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from eeon_engine import ConfigError, InvalidValueError, Traffic

from control_plane.tests.waiting import wait_until
from ptf_tests.run import veth

pytestmark = pytest.mark.system


def packet(number: int, destination: str = "192.0.2.2") -> bytes:
    """Returns a UDP packet over IPv4 from 192.0.2.1; `number` is its IP identification."""
    header = struct.pack("!BBHHHBBH", 0x45, 2, 28, number, 0, 64, 17, 0)
    header += socket.inet_aton("192.0.2.1") + socket.inet_aton(destination)
    return bytes(12) + b"\x08\x00" + header + struct.pack("!HHHH", 7, 9, 8, 0)


@pytest.fixture
def pair() -> Iterator[tuple[str, str]]:
    """Makes two interfaces that form one link, without addresses."""
    if reason := veth.why_impossible():
        pytest.skip(reason)
    with veth.pairs((0,)) as ends:
        yield ends[0]


def add(traffic: Traffic, frames: list[bytes], times_ns: list[int], length: int = 60) -> None:
    offsets = array("Q", itertools.accumulate(map(len, frames), initial=0))
    count = len(frames)
    traffic.add(
        array("I", [0] * count), array("Q", times_ns), offsets, b"".join(frames), array("I", [length] * count)
    )


def test_frames_leave_at_their_times_and_are_known_again_where_they_arrive(pair):
    traffic = Traffic([(None, pair[0], ["192.0.2.1"]), (None, pair[1], ["192.0.2.2"])], settle_ms=300)
    frames = [packet(number) for number in range(100)] + [packet(100, "192.0.2.77")]
    add(traffic, frames, [number * 200_000 for number in range(101)])
    while not traffic.run(5):
        assert 0 <= traffic.passed <= 101
    report = json.loads(traffic.report(10**9))
    other = report["classes"]["other"]
    assert (other["sent"]["packets"], other["delivered"]["packets"]) == (101, 100)
    assert other["latency"]["p50_ps"] > 0
    assert (report["misdelivered"], report["foreign"], report["duplicated"]) == (1, 0, 0)
    # The last one is due 20 ms after the first.
    assert report["elapsed_ns"] >= 20_000_000
    assert report["lateness"]["late"] == 0 or report["lateness"]["max_ns"] > 10**9
    with pytest.raises(ConfigError, match="over and reported"):
        traffic.run(1)


def test_frames_that_have_arrived_count_however_long_nobody_listened(pair):
    traffic = Traffic([(None, pair[0], ["192.0.2.1"]), (None, pair[1], ["192.0.2.2"])], settle_ms=0)
    add(traffic, [packet(number) for number in range(20)], [0] * 20)
    while not traffic.run(5):
        pass
    other = json.loads(traffic.report(10**9))["classes"]["other"]
    assert (other["sent"]["packets"], other["delivered"]["packets"]) == (20, 20)


def test_frames_that_do_not_fit_are_named_and_not_sent(pair):
    traffic = Traffic([(None, pair[0], ["192.0.2.1"]), (None, pair[1], [])], memory_limit=1000)
    with pytest.raises(InvalidValueError, match="frame 1: is due at 3 ns, the one before at 5 ns"):
        add(traffic, [packet(1), packet(2)], [5, 3])
    with pytest.raises(InvalidValueError, match="frame 1: 42 bytes captured of 41"):
        add(traffic, [packet(3)], [6], length=41)
    with pytest.raises(InvalidValueError, match="more than 1000 bytes of memory"):
        add(traffic, [packet(number) for number in range(100)], [7] * 100)
    with pytest.raises(InvalidValueError, match="host 2 of 2"):
        traffic.add(array("I", [2]), array("Q", [9]), array("Q", [0, 42]), packet(1), array("I", [60]))


def test_an_interface_whose_link_comes_up_while_it_is_opened_is_waited_for(pair):
    subprocess.run(["ip", "link", "set", pair[1], "down"], check=True)
    # Linux reports the other end later.
    state = Path(f"/sys/class/net/{pair[0]}/operstate")
    wait_until(lambda: state.read_text().strip() != "up", f"{pair[0]} stays up")
    with pytest.raises(ConfigError, match="Network is down"):
        Traffic([(None, pair[0], [])])
    rising = subprocess.Popen(["sh", "-c", f"sleep 0.2; ip link set {pair[1]} up"])
    Traffic([(None, pair[0], ["192.0.2.1"])])
    assert rising.wait() == 0


def test_an_interface_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="no-such-if0"):
        Traffic([(None, "no-such-if0", [])])
    with pytest.raises(ConfigError, match="cannot open its namespace"):
        Traffic([("/run/netns/no-such-namespace", "eth0", [])])
