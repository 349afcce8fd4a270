"""A fabric in virtual time that runs the project's own program, controlled over P4Runtime during the run."""

import array
import json
import threading
from collections.abc import Iterator

import pytest
from eeon_engine import ClockError, ConfigError, InvalidValueError, NoSuchObjectError, Program, Twin
from eeon_engine.p4runtime import serve
from finsy.proto import p4r
from made_fabrics import GATES, fabric
from p4rt_client import INSERT, MODIFY, Client, Names, admit_all, lpm, one_shot, primary

from ptf_tests.lib.packets import host_mac, mac_int, networks, switch_mac, udp

pytestmark = pytest.mark.system

DATAGRAM = udp(2, payload=958)
"""A datagram of 1000 bytes from h1 to h2."""


@pytest.fixture
def twin(fabric_program: Program) -> Twin:
    return Twin(fabric_program, json.dumps(fabric(2, **GATES)))


@pytest.fixture
def client(twin: Twin, fabric_names: Names) -> Iterator[Client]:
    with (
        serve(twin.switch("leaf1"), p4info=fabric_names.info) as server,
        primary(server.address, device_id=3) as client,
    ):
        client.write(admit_all(fabric_names))
        yield client


def route(names: Names, host: int = 2) -> p4r.TableEntry:
    """Returns a route to the network behind port N, on which host N is."""
    forward = names.action("forward", host, mac_int(switch_mac(host)), mac_int(host_mac(host)))
    return names.entry("ipv4_route", lpm(1, *networks(host)["ipv4_route"]), action=one_shot((forward, 1)))


def batch(count: int, gap_ps: int, start_ps: int = 0) -> dict[str, object]:
    """Returns `count` frames, of which only the headers are given."""
    headers = DATAGRAM[:42]
    return {
        "times_ps": array.array("Q", [start_ps + gap_ps * number for number in range(count)]),
        "offsets": array.array("Q", [42 * number for number in range(count + 1)]),
        "frames": headers * count,
        "lengths": array.array("I", [1000] * count),
    }


def test_frames_cross_the_fabric_and_counters_say_so(twin, client, fabric_names):
    client.write((INSERT, route(fabric_names)))
    assert twin.feed("h1", **batch(100, 10_000_000)) == 100
    assert twin.pending == 100
    assert twin.run_to_idle()
    assert twin.pending == 0
    assert twin.p4_passes >= 100
    received = client.read(p4r.CounterEntry(counter_id=fabric_names["received"]))
    assert sum(entry.data.packet_count for entry in received) == 100
    assert sum(entry.data.byte_count for entry in received) == 100_000
    stats = twin.switch("leaf1").port_stats(2)
    assert (stats["tx_packets"], stats["tx_bytes"]) == (100, 100_000)


def test_time_stands_where_it_was_run_to(twin):
    twin.run_until(123)
    assert twin.now_ps == 123
    twin.feed("h1", **batch(1, 0, start_ps=1_000_000))
    assert not twin.run_to_idle(limit_ps=500_000)
    assert twin.run_to_idle()


def test_control_calls_get_in_while_the_fabric_runs(twin, client, fabric_names):
    twin.feed("h1", **batch(200_000, 10_000_000))
    runner = threading.Thread(target=twin.run_to_idle)
    runner.start()
    while not twin.switch("leaf1").port_stats(1)["rx_packets"]:
        assert runner.is_alive(), "the run was over before the writes; feed more frames"
    client.write((INSERT, route(fabric_names)), atomicity=p4r.WriteRequest.DATAPLANE_ATOMIC)
    client.write(
        (MODIFY, p4r.CounterEntry(counter_id=fabric_names["received"], data=p4r.CounterData(packet_count=0)))
    )
    assert runner.is_alive(), "the run was over before the writes; feed more frames"
    runner.join(60)
    sent = twin.switch("leaf1").port_stats(2)["tx_packets"]
    assert isinstance(sent, int)
    assert 0 < sent < 200_000


def test_packets_to_and_from_the_controller_cross_the_cpu_port(twin, client, fabric_names):
    to_cpu = fabric_names.entry(
        "ipv4_route", lpm(1, *networks(2)["ipv4_route"]), action=one_shot((fabric_names.action("to_cpu"), 1))
    )
    client.write((INSERT, to_cpu))
    twin.feed("h1", **batch(1, 0))
    twin.run_to_idle()
    packet = client.receive().packet
    assert packet.payload[:42] == DATAGRAM[:42]
    assert packet.metadata[0].value == b"\x01"


def test_switches_and_hosts_are_found_by_name(twin):
    assert twin.switches == ["leaf1"]
    assert twin.hosts == ["h1", "h2"]
    assert twin.switch("leaf1").device_id == 3
    with pytest.raises(NoSuchObjectError, match="'leaf9'; the fabric has leaf1"):
        twin.switch("leaf9")
    with pytest.raises(NoSuchObjectError, match="'h9'"):
        twin.feed("h9", **batch(1, 0))


def test_arrays_that_do_not_fit_each_other_are_refused(twin):
    for change, reason in [
        ({"offsets": array.array("Q", [0])}, "need 3 offsets, 1 are given"),
        ({"lengths": array.array("I", [1])}, "need 2 lengths"),
        ({"frames": b""}, "frame 0: bytes 0 to 42, 0 are given"),
        ({"offsets": array.array("Q", [42, 0, 42])}, "frame 0: bytes 42 to 0"),
        ({"lengths": array.array("I", [5, 5])}, "frame 0"),
    ]:
        with pytest.raises(InvalidValueError, match=reason):
            twin.feed("h1", **(batch(2, 10) | change))
    for hosts in ([0, 1, 0], [0]):
        with pytest.raises(InvalidValueError, match=f"need 2 hosts, {len(hosts)} are given"):
            twin.feed(array.array("I", hosts), **batch(2, 10))
    with pytest.raises(InvalidValueError, match="host number 7"):
        twin.feed(array.array("I", [7, 7]), **batch(2, 10))
    assert twin.pending == 0


def test_frames_out_of_order_are_refused(twin):
    twin.run_until(1_000)
    with pytest.raises(ClockError, match="feed frames in order of time"):
        twin.feed("h1", **batch(1, 0))


def test_feeding_stops_when_enough_waits(twin):
    limit = 1 << 20
    assert twin.feed("h1", **batch(limit + 5, 10)) == limit
    assert twin.pending == limit


@pytest.mark.parametrize("text", ["", "{", "[]", '{"seed": 1}', '{"seed": "x"}', '{"surprise": 1}'])
def test_what_is_no_spec_is_a_config_error(fabric_program, text):
    with pytest.raises(ConfigError):
        Twin(fabric_program, text)
