"""Frames: parsing compared with scapy's, which is independent; classes compared with their definitions."""

from __future__ import annotations

import pytest
from eeon_tools.trace.frames import CE, PacketClass, classify
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
        (A_TO_B / TCP(flags="A") / b"x", PacketClass.DATA),
        (A_TO_B / TCP(flags="A"), PacketClass.ACK),
        (A_TO_B / TCP(flags="AE"), PacketClass.ACK_ECE),
        (A_TO_B / TCP(flags="SEC"), PacketClass.SYN),
        (A_TO_B / TCP(flags="SAE"), PacketClass.SYN_ACK),
        (A_TO_B / TCP(flags="FA"), PacketClass.FIN_RST),
        (A_TO_B / TCP(flags="RA"), PacketClass.FIN_RST),
        (A_TO_B / UDP() / b"x", PacketClass.OTHER),
        (A_TO_B / ICMP(), PacketClass.OTHER),
        (ETHER / IP(flags="MF") / TCP(flags="A"), PacketClass.OTHER),
        (ETHER / IP(frag=10) / TCP(flags="A"), PacketClass.OTHER),
        (ETHER / Dot1Q(vlan=7) / IP() / TCP(flags="A"), PacketClass.ACK),
        (ETHER / IPv6() / TCP(flags="A") / b"x", PacketClass.DATA),
        (ETHER / ARP(), PacketClass.OTHER),
    ],
    ids=lambda value: value.summary() if hasattr(value, "summary") else str(value),
)
def test_class_of(packet: Ether, expected: PacketClass) -> None:
    assert classify(bytes(packet)).packet_class is expected


def test_padding_is_not_payload() -> None:
    ack = bytes(A_TO_B / TCP(flags="A"))
    assert classify(ack.ljust(60, b"\0")).packet_class is PacketClass.ACK


def test_ip_options_and_ce_are_seen() -> None:
    packet = ETHER / IP(tos=46 << 2 | CE, options=b"\x01\x01\x01\x00") / TCP(flags="A") / b"abc"
    facts = classify(bytes(packet))
    assert (facts.packet_class, facts.dscp, facts.ecn, facts.payload_bytes) == (PacketClass.DATA, 46, CE, 3)


def test_the_traffic_class_of_ipv6_is_read_across_two_bytes() -> None:
    facts = classify(bytes(ETHER / IPv6(tc=46 << 2 | CE) / TCP(flags="A")))
    assert (facts.dscp, facts.ecn) == (46, CE)


def test_no_prefix_of_a_frame_makes_it_raise() -> None:
    for packet in (A_TO_B / TCP(flags="A") / b"x", ETHER / Dot1Q() / IPv6() / TCP()):
        whole = bytes(packet)
        for length in range(len(whole)):
            classify(whole[:length])
