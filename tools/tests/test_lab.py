"""The lab: networks read and refused, hosts that answer, and a user's program that forwards their packets."""

import json
import re
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_control.errors import EeonError
from eeon_control.units import Bytes, DataRate
from eeon_tools.cli.lab import lab as command
from eeon_tools.errors import InputError
from eeon_tools.lab import Lab, SendFrames, UdpStream, parse, read_topology
from eeon_tools.lab.host import Host
from eeon_tools.lab.packets import Packet, ipv4
from eeon_tools.lab.topology import LabHost
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.utils import rdpcap

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "own_program"
TOPOLOGY = str(EXAMPLE / "topology.json")


def run(lab: Lab, line: str) -> list[dict[str, object]]:
    return [task.result() for task in lab.run(*parse(line, lab.topology.hosts))]


# ---- networks


def written(tmp_path: Path, **changes: object) -> str:
    document = json.loads(Path(TOPOLOGY).read_text(encoding="utf-8"))
    for switch in document["switches"].values():
        del switch["runtime_json"]
    document.update(changes)
    path = tmp_path / "topology.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_a_topology_of_the_tutorials_is_read_with_its_routes_delays_and_rates():
    read = read_topology(TOPOLOGY, DataRate(10**9))
    host = read.hosts["h1"]
    assert (host.ipv4, host.gateway) == (IPv4Interface("10.0.1.1/24"), IPv4Address("10.0.1.254"))
    assert host.neighbours == {IPv4Address("10.0.1.254"): "02:00:00:00:01:fe"}
    first, _, core, _ = read.links
    for link, one, other, rate_bps, delay_ps in (
        (first, ("h1", 0), ("s1", 1), 10**9, 0),
        (core, ("s1", 3), ("s2", 3), 10**7, 10**8),
    ):
        assert (*link["a"].values(),) == one and (*link["b"].values(),) == other
        assert (link["rate_bps"], link["delay_ps"]) == (rate_bps, delay_ps)
    assert [switch.device_id for switch in read.switches.values()] == [0, 1]


def host_file(*commands: str, ip: str | None = "10.0.1.1/24") -> dict[str, object]:
    return {"ip": ip, "mac": "02:00:00:00:01:01", "commands": list(commands)}


ONE_HOST = {"switches": {"s1": {}}, "links": [["h1", "s1-p1"]]}


@given(
    data=st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_json_is_a_topology_or_is_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "topology.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises((InputError, EeonError)):
        read_topology(str(path))


# ---- hosts


def host(**changes: object) -> Host:
    place = {"gateway": IPv4Address("10.0.1.254"), **changes}
    return Host(LabHost("h1", "02:00:00:00:01:01", IPv4Interface("10.0.1.1/24"), **place))


def test_a_host_asks_for_a_neighbour_once_and_sends_what_waited():
    one = host()
    [asked] = one.send(IPv4Address("10.0.1.7"), b"first")
    assert (Ether(asked).dst, Ether(asked)[ARP].pdst) == ("ff:ff:ff:ff:ff:ff", "10.0.1.7")
    reply = Ether(src="02:00:00:00:01:07", dst="02:00:00:00:01:01") / ARP(
        op="is-at", hwsrc="02:00:00:00:01:07", psrc="10.0.1.7", hwdst="02:00:00:00:01:01", pdst="10.0.1.1"
    )
    [sent] = one.receive(bytes(reply)).answers
    assert (sent[:6].hex(), sent[14:]) == ("020000000107", b"first")
    [known] = one.send(IPv4Address("10.0.1.7"), b"second")
    assert known[14:] == b"second"


def test_a_host_answers_arp_and_echo_for_its_own_address_only():
    one = host(neighbours={IPv4Address("10.0.1.254"): "02:00:00:00:01:fe"})
    for target, answered in (("10.0.1.1", True), ("10.0.1.2", False)):
        asked = Ether(src="02:00:00:00:01:09", dst="ff:ff:ff:ff:ff:ff") / ARP(
            op="who-has", hwsrc="02:00:00:00:01:09", psrc="10.0.1.9", pdst=target
        )
        answers = one.receive(bytes(asked)).answers
        assert [Ether(answer)[ARP].op for answer in answers] == ([2] if answered else [])
        echo = (
            Ether(dst="02:00:00:00:01:01")
            / IP(src="10.0.9.9", dst=target, tos=2)
            / ICMP(id=7, seq=3)
            / b"data"
        )
        answers = one.receive(bytes(echo)).answers
        if answered:
            [answer] = map(Ether, answers)
            # scapy's checksums are equal, and the frame goes to the gateway.
            assert bytes(answer) == bytes(
                Ether(src="02:00:00:00:01:01", dst="02:00:00:00:01:fe")
                / IP(src="10.0.1.1", dst="10.0.9.9", tos=2, id=0)
                / ICMP(type=0, id=7, seq=3)
                / b"data"
            )
        else:
            assert answers == ()


@pytest.mark.parametrize("neighbours", [{}, {IPv4Address("10.0.9.9"): "02:00:00:00:09:09"}])
def test_a_packet_takes_its_route_whatever_neighbours_are_known(neighbours):
    far, gateway = IPv4Address("10.0.9.9"), IPv4Address("10.0.1.254")
    [frame] = host(neighbours={**neighbours, gateway: "02:00:00:00:01:fe"}).send(far, b"")
    assert Ether(frame).dst == "02:00:00:00:01:fe"
    with pytest.raises(InputError, match=r"10\.0\.9\.9: has no route there"):
        host(gateway=None, neighbours=neighbours).send(far, b"")


@given(frame=st.binary(max_size=200), addressed=st.booleans())
def test_no_frame_makes_a_host_fail(frame, addressed):
    received = host().receive((b"\x02\0\0\0\x01\x01" if addressed else b"") + frame)
    assert len(received.answers) <= 1


@given(
    tos=st.integers(0, 255), data=st.binary(max_size=100), at=st.integers(0, 19), change=st.integers(1, 255)
)
def test_an_ip_packet_is_read_as_written_and_not_at_all_when_its_header_is_broken(tos, data, at, change):
    source, destination = IPv4Address("10.0.0.1"), IPv4Address("10.0.0.2")
    packet = ipv4(source, destination, 17, data, tos)
    assert Packet.read(packet) == Packet(source, destination, 17, tos, data)
    broken = bytearray(packet)
    broken[at] ^= change
    assert Packet.read(bytes(broken)) is None


# ---- a user's program


@pytest.fixture
def lab():
    with Lab(TOPOLOGY) as running:
        yield running


def test_a_stream_beyond_the_link_is_marked_where_it_is_capable_and_loses_the_rest(lab):
    quiet = run(lab, "h1 udp h3 --rate 1Mbps --count 50 --tos 0b10")
    assert quiet[0]["tos"] == {"0x02": 50}
    capable, other = run(lab, "h1 udp h3 --rate 8Mbps --tos 2 & h2 udp h3 --rate 4Mbps")
    assert capable["sent"] == 1000 and other["sent"] == 500
    assert set(other["tos"]) == {"0x00"}
    assert capable["tos"]["0x03"] > 20 * capable["tos"]["0x02"]
    # 10 Mb/s carry 1,221 frames of 1,000 bytes and 24 per second, and 65 are queued or on the wire when the
    # streams end.
    assert capable["received"] + other["received"] == pytest.approx(1221 + 65, abs=3)


def test_frames_are_sent_as_they_are_and_captured(tmp_path):
    sent = (
        Ether(dst="02:00:00:00:01:fe", src="02:00:00:00:01:01")
        / IP(src="10.0.1.1", dst="10.0.2.2")
        / UDP()
        / b"hello"
    )
    with Lab(TOPOLOGY, pcap=tmp_path) as running:
        [arrival] = running.send("h1", sent)
        running.run(SendFrames("h1", [(10**9, bytes(sent)), (0, bytes(sent))]))
        _, first, last = running.received("h2")
        assert last.at_ps - first.at_ps == 10**9 and running.received("h3") == []
    assert (arrival.host, Ether(arrival.frame)[IP].ttl) == ("h2", 63)
    assert [bytes(packet) for packet in rdpcap(str(tmp_path / "h1.pcap"))] == [bytes(sent)] * 3
    assert [bytes(packet) for packet in rdpcap(str(tmp_path / "h2.pcap"))] == [arrival.frame] * 3


def test_a_host_that_sends_nothing_causes_no_arrivals(lab):
    assert lab.send("h1") == []


def test_a_limit_in_packets_bounds_what_a_port_queues():
    with Lab(TOPOLOGY, queue_limit_packets=4) as running:
        stream = UdpStream("h1", "h3", DataRate(10**9), count=100, size=Bytes(1000))
        running.run(stream)
        depth = running.report()["queue_depth"]["queues"]
        # The frame on the wire has left the queue.
        assert max(max(queue["max_bytes"]) for queue in depth) == 4 * 1000
        assert stream.result()["received"] == pytest.approx(5, abs=2)


def test_a_file_that_is_named_with_its_whole_path_and_is_nowhere_is_told_once(tmp_path):
    nowhere = str(tmp_path / "nowhere.json")
    with pytest.raises(InputError) as refused:
        read_topology(written(tmp_path, switches={"s1": {"program": nowhere}}))
    assert str(refused.value).endswith(f"switches.s1.program: {nowhere} is not there")


# ---- the command


# Fixed ports of tests are below 32768, where those of outgoing connections begin: one may have any of those.
@pytest.mark.system
def test_typed_commands_are_answered_and_p4runtime_is_served():
    typed = "hosts\n\n# a comment\nh1 ping h3 -c 1\nreport\nexit\nh1 ping h2\n"
    done = CliRunner().invoke(command, ["up", TOPOLOGY, "--first-port", "0"], input=typed)
    assert done.exit_code == 2, "port 0 is not a valid port"
    done = CliRunner().invoke(command, ["up", TOPOLOGY, "--first-port", "17311"], input=typed)
    assert done.exit_code == 0, done.output
    assert "P4Runtime: s1 127.0.0.1:17311, s2 127.0.0.1:17312" in done.output
    assert "h1  10.0.1.1/24  02:00:00:00:01:01" in done.output
    assert "h1 ping h3: 1 sent, 1 answered; round trip min 399.1 us" in done.output
    assert "h1 ping h2" not in done.output
    assert "deepest queue" in done.output


@pytest.mark.system
def test_a_wrong_line_in_a_script_ends_it_with_status_1():
    done = CliRunner().invoke(command, ["up", TOPOLOGY, "--first-port", "17321"], input="h1 pong h2\nhosts\n")
    assert done.exit_code == 1 and "write one of ping" in done.output and "10.0.1.1" not in done.stdout


# ---- the page


@pytest.mark.system
def test_the_python_of_the_page_runs(monkeypatch, capsys, eeon_switch):
    page = (EXAMPLE.parents[1] / "docs" / "p4" / "lab.md").read_text(encoding="utf-8")
    monkeypatch.chdir(EXAMPLE)
    twin, packet_test = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(twin, {})
    printed = capsys.readouterr().out
    assert "h1 ping h3: 3 sent, 3 answered" in printed and "h2 Ether / IP / UDP" in printed
    names: dict[str, object] = {}
    exec(packet_test, names)
    [case] = [value for name, value in names.items() if name.startswith("test_")]
    case(eeon_switch)
