"""Frames: parsing compared with scapy's, which is independent; classes compared with their definitions."""

import pytest
from eeon_tools.trace.frames import CE
from eeon_tools.trace.layers import IpFrame
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether

# With both addresses: scapy would look a missing one up in the network.
ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
A_TO_B = ETHER / IP(src="10.0.1.1", dst="10.0.2.2")


@pytest.mark.system
@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        (A_TO_B / TCP(flags="A") / b"x", "data"),
        (A_TO_B / TCP(flags="A"), "ack"),
        (A_TO_B / TCP(flags="AE"), "ack_ece"),
        (A_TO_B / TCP(flags="SEC"), "syn"),
        (A_TO_B / TCP(flags="SAE"), "syn_ack"),
        (A_TO_B / TCP(flags="FA"), "fin_rst"),
        (A_TO_B / TCP(flags="RA"), "fin_rst"),
        (A_TO_B / UDP() / b"x", "other"),
        (A_TO_B / ICMP(), "other"),
        (ETHER / IP(flags="MF") / TCP(flags="A"), "other"),
        (ETHER / IP(frag=10) / TCP(flags="A"), "other"),
        (ETHER / Dot1Q(vlan=7) / IP() / TCP(flags="A"), "ack"),
        (ETHER / IPv6() / TCP(flags="A") / b"x", "data"),
        (ETHER / ARP(), "other"),
    ],
    ids=lambda value: value.summary() if hasattr(value, "summary") else str(value),
)
def test_class_of(packet: Ether, expected: str) -> None:
    frame = IpFrame.of(bytes(packet), len(packet))
    assert ("other" if frame is None else frame.packet_class) == expected


def ip_frame(packet: Ether) -> IpFrame:
    frame = IpFrame.of(bytes(packet), len(packet))
    assert frame is not None
    return frame


def test_padding_is_not_payload() -> None:
    assert ip_frame(Ether(bytes(A_TO_B / TCP(flags="A")).ljust(60, b"\0"))).packet_class == "ack"


def test_ip_options_and_ce_are_seen() -> None:
    frame = ip_frame(ETHER / IP(tos=46 << 2 | CE, options=b"\x01\x01\x01\x00") / TCP(flags="A") / b"abc")
    assert (frame.packet_class, frame.traffic_class, frame.tcp_payload) == ("data", 46 << 2 | CE, 3)


def test_the_traffic_class_of_ipv6_is_read_across_two_bytes() -> None:
    assert ip_frame(ETHER / IPv6(tc=46 << 2 | CE) / TCP(flags="A")).traffic_class == 46 << 2 | CE


def test_no_prefix_of_a_frame_makes_it_raise() -> None:
    for packet in (A_TO_B / TCP(flags="A") / b"x", ETHER / Dot1Q() / IPv6() / TCP()):
        whole = bytes(packet)
        for length in range(len(whole)):
            frame = IpFrame.of(whole[:length], len(whole))
            if frame is not None:
                _ = frame.packet_class, frame.headers_end, frame.is_jumbogram
