"""Captures of several interfaces of a router or bridge: each packet is sent once."""

import struct
from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_control.topology import Host
from eeon_tools.cli.trace import trace
from eeon_tools.replay.feed import Feed
from made_captures import interface, packet, pcap, section
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, PadN
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Padding

pytestmark = pytest.mark.system

IN, BRIDGE, OUT = (2, 0), (3, 0), (4, 4)
"""Interface, and packet type: 0 for the machine, 4 outgoing."""


def cooked(link_type: int, seen_at: tuple[int, int], ip: bytes) -> bytes:
    ethertype = 0x0800 if ip[0] >> 4 == 4 else 0x86DD
    if link_type == 113:
        return struct.pack(">HHH8sH", seen_at[1], 1, 6, bytes(8), ethertype) + ip
    return struct.pack(">HHIHBB8s", ethertype, 0, seen_at[0], 1, seen_at[1], 6, bytes(8)) + ip


def write(path: Path, link_type: int, *packets: tuple[int, tuple[int, int], Packet]) -> Path:
    frames = (cooked(link_type, seen_at, bytes(packet)) for _, seen_at, packet in packets)
    path.write_bytes(pcap(link_type, *frames, times_us=[at for at, _, _ in packets]))
    return path


def sent(path: Path, hosts: list[Host]) -> tuple[list[int], list[str]]:
    """Returns the numbers of the packets that hosts send, and the remarks."""
    feed = Feed(path, hosts, 1.0)
    return [offer.number for offer in feed.offers()], feed.counts.remarks()


def ipv4(number: int = 1, ttl: int = 64, tos: int = 2) -> Packet:
    return (
        IP(src="10.0.1.1", dst="10.0.2.1", id=number, ttl=ttl, tos=tos) / TCP(flags="A", seq=number) / b"data"
    )


def ipv6(hop_limit: int = 64, tc: int = 2) -> Packet:
    return IPv6(src="fd00:0:0:1::1", dst="fd00:0:0:2::1", hlim=hop_limit, tc=tc) / UDP() / b"data"


@pytest.mark.parametrize("link_type", [113, 276])
def test_a_packet_that_a_router_forwards_is_sent_as_it_came_in(
    tmp_path: Path, hosts: list[Host], link_type: int
) -> None:
    forwarded = [
        (0, IN, ipv4(1)),
        (1, IN, ipv4(2)),
        (2, OUT, ipv4(1, ttl=63)),
        (3, OUT, ipv4(2, ttl=63, tos=3)),
        (4, IN, ipv6()),
        (5, OUT, ipv6(hop_limit=63, tc=3)),
        (6, OUT, ipv4(3)),
    ]
    path = write(tmp_path / "any.pcap", link_type, *forwarded)
    why = "they are further copies, seen at another interface"
    assert sent(path, hosts) == ([1, 2, 5, 7], [f"packets left out because {why}: 3"])
    told = CliRunner().invoke(trace, ["info", str(path)])
    assert "\n  further copies of packets, seen at another interface: 3;" in told.output


def test_of_a_bridge_only_a_capture_that_names_interfaces_tells_that_a_packet_came_in_once(
    tmp_path: Path, hosts: list[Host]
) -> None:
    bridged = [(0, IN, ipv4()), (1, BRIDGE, ipv4()), (2, OUT, ipv4())]
    assert sent(write(tmp_path / "v2.pcap", 276, *bridged), hosts)[0] == [1]
    assert sent(write(tmp_path / "v1.pcap", 113, *bridged), hosts)[0] == [1, 2]


def test_what_one_interface_has_twice_is_sent_twice(tmp_path: Path, hosts: list[Host]) -> None:
    twice = [(0, IN, ipv4()), (1, OUT, ipv4(ttl=63)), (2, IN, ipv4()), (3, OUT, ipv4(ttl=63))]
    assert sent(write(tmp_path / "any.pcap", 276, *twice), hosts)[0] == [1, 3]
    together = [(0, IN, ipv4()), (1, IN, ipv4()), (2, OUT, ipv4(ttl=63)), (3, OUT, ipv4(ttl=63))]
    assert sent(write(tmp_path / "together.pcap", 276, *together), hosts)[0] == [1, 2]


def test_the_same_bytes_more_than_a_second_later_are_another_packet(
    tmp_path: Path, hosts: list[Host]
) -> None:
    path = write(tmp_path / "late.pcap", 276, (0, IN, ipv4()), (1_000_001, OUT, ipv4(ttl=63)))
    assert sent(path, hosts) == ([1, 2], [])


def test_two_packets_that_differ_in_one_field_are_two(tmp_path: Path, hosts: list[Host]) -> None:
    other = [ipv4(2), ipv4() / b"more", IP(src="10.0.1.2", dst="10.0.2.1", id=1) / TCP(flags="A", seq=1)]
    packets = [(0, IN, ipv4()), *((at, OUT, packet) for at, packet in enumerate(other, start=1))]
    assert sent(write(tmp_path / "any.pcap", 276, *packets), hosts)[0] == [1, 2, 3, 4]


def segments(sizes: list[int], *, flags: str = "PA", **changed: int) -> list[Packet]:
    """Returns TCP segments in order, the last of them with `flags`; `changed`: fields of TCP."""
    return [
        IP(src="10.0.1.1", dst="10.0.2.1", id=number, flags="DF")
        / TCP(flags=flags if number == len(sizes) else "A", seq=sum(sizes[: number - 1]), **changed)
        / bytes(size)
        for number, size in enumerate(sizes, start=1)
    ]


def datagram(checksum: int, payload: bytes = bytes(18)) -> Packet:
    return IP(src="10.0.1.1", dst="10.0.2.1") / UDP(chksum=checksum) / payload


FULL = [1460, 1460, 700]
ON_THE_WIRE = [1514, 1514, 754]
FAR_HEADER = (
    IPv6(src="fd00:0:0:1::1", dst="fd00:0:0:2::1")
    / IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(200)), PadN(optdata=bytes(200))])
    / TCP(flags="A")
)


def pcapng(path: Path, interfaces: int, *packets: tuple[int, Packet]) -> Path:
    """Writes a pcapng file of Ethernet interfaces; each packet has its interface, and they are 1 us apart."""
    content = section() + interface() * interfaces
    for time_us, (index, one) in enumerate(packets):
        content += packet(time_us, bytes(Ether() / one), index)
    path.write_bytes(content)
    return path


def test_a_packet_at_two_ethernet_interfaces_of_one_capture_is_sent_once(
    tmp_path: Path, hosts: list[Host]
) -> None:
    forwarded = [(0, ipv4(1)), (0, ipv4(2)), (1, ipv4(1, ttl=63)), (1, ipv4(2, ttl=63)), (1, ipv4(3))]
    assert sent(pcapng(tmp_path / "two.pcapng", 2, *forwarded), hosts)[0] == [1, 2, 5]
    again = [(0, ipv4()), (0, ipv4())]
    assert sent(pcapng(tmp_path / "again.pcapng", 2, *again), hosts) == ([1, 2], [])


@pytest.mark.parametrize(
    ("packets", "repeated"),
    [
        ([ipv4(), ipv4(ttl=62, tos=3)], 1),
        ([*segments(FULL, chksum=1), *segments([sum(FULL)])], 1),
        ([ipv4(1), ipv4(2)], 0),
        ([ipv4(0), ipv4(0)], 0),
        ([datagram(1), datagram(2)], 1),
        ([datagram(1), datagram(1, b"other".ljust(18))], 0),
        ([ipv6(), ipv6()], 0),
    ],
    ids=["mirrored", "merged ends", "sent again", "not numbered", "datagram", "number used again", "IPv6"],
)
def test_packets_that_one_interface_has_twice_are_sent_and_told(
    tmp_path: Path, hosts: list[Host], packets: list[Packet], repeated: int
) -> None:
    path = pcapng(tmp_path / "one.pcapng", 1, *((0, one) for one in packets))
    feed = Feed(path, hosts, 1.0)
    assert {offer.number for offer in feed.offers()} == set(range(1, len(packets) + 1))
    assert feed.counts.repeated == repeated
    told = CliRunner().invoke(trace, ["info", str(path)]).output
    said = "packets with the IP identification of one before"
    assert (said in told) is (said in str(feed.counts.remarks())) is bool(repeated)


@pytest.mark.parametrize(
    ("sender", "receiver", "sent_bytes", "copies"),
    [
        (segments(FULL, chksum=1), segments(FULL), ON_THE_WIRE, 3),
        ([datagram(1)], [datagram(2)], [60], 1),
        (segments([0]), [segments([0])[0] / Padding(bytes(6))], [60], 1),
        (segments([sum(FULL)], chksum=1), segments(FULL), ON_THE_WIRE, 3),
        (segments(FULL), segments([sum(FULL)]), ON_THE_WIRE, 1),
        (segments(FULL[:1], flags="A"), segments([sum(FULL)]), ON_THE_WIRE, 0),
        (segments([sum(FULL)]), segments([sum(FULL)]), ON_THE_WIRE, 1),
        ([FAR_HEADER / bytes(2000)], [FAR_HEADER / bytes(2000)], [1514, 1450], 1),
    ],
    ids=["checksum", "UDP", "padding", "segmented", "merged", "merged with one more", "both", "long headers"],
)
def test_nics_change_checksums_and_segment_and_merge_between_the_two_ends_of_a_path(
    tmp_path: Path,
    hosts: list[Host],
    sender: list[Packet],
    receiver: list[Packet],
    sent_bytes: list[int],
    copies: int,
) -> None:
    ends = [*((0, one) for one in sender), *((1, one) for one in receiver)]
    feed = Feed(pcapng(tmp_path / "ends.pcapng", 2, *ends), hosts, 1.0)
    assert [offer.frame_bytes for offer in feed.offers()] == sent_bytes
    assert feed.counts.copies == copies


def test_a_capture_of_one_interface_has_no_copies(tmp_path: Path, hosts: list[Host]) -> None:
    path = tmp_path / "raw.pcap"
    path.write_bytes(pcap(101, bytes(ipv4(0)), bytes(ipv4(0)), times_us=[0, 0]))
    assert sent(path, hosts) == ([1, 2], [])
