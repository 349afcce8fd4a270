"""Frames: checksums and lengths against scapy, an independent judge; classes against their definitions."""

from __future__ import annotations

import ipaddress

import pytest
from eeon_tools.trace.frames import (
    ACK,
    CE,
    ECE,
    ECT_0,
    NOT_ECT,
    PSH,
    SYN,
    FlowTemplate,
    PacketClass,
    classify,
)
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether

MAC_A, MAC_B = bytes.fromhex("020000000101"), bytes.fromhex("020100000001")


def template(version: int) -> FlowTemplate:
    ends = ("10.0.1.1", "10.0.2.2") if version == 4 else ("fd00:0:0:1::1", "fd00:0:0:2::2")
    source, destination = map(ipaddress.ip_address, ends)
    return FlowTemplate(MAC_A, MAC_B, source, destination, 40000, 13562, 1 << 20)


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(
    ("flags", "payload", "ecn"),
    [
        (SYN, 0, NOT_ECT),
        (ACK, 0, NOT_ECT),
        (ACK, 1460 - 20, ECT_0),
        (ACK | PSH, 1, ECT_0),
        (ACK | ECE, 0, NOT_ECT),
    ],
)
def test_scapy_computes_the_same_checksums_and_lengths(
    version: int, flags: int, payload: int, ecn: int
) -> None:
    headers, frame_bytes = template(version).headers(0xFFFFFFF0, 0x12345678, flags, payload, ecn)
    frame = headers.ljust(frame_bytes, b"\0")
    parsed = Ether(frame)
    ip = parsed[IP] if version == 4 else parsed[IPv6]
    found = (ip.chksum if version == 4 else None, ip[TCP].chksum)
    if version == 4:
        del ip.chksum
    del ip[TCP].chksum
    again = Ether(bytes(parsed))
    ip_again = again[IP] if version == 4 else again[IPv6]
    assert (ip_again.chksum if version == 4 else None, ip_again[TCP].chksum) == found
    assert (ip[TCP].seq, ip[TCP].ack, int(ip[TCP].flags)) == (0xFFFFFFF0, 0x12345678, flags)
    assert (ip.tos if version == 4 else ip.tc) & 3 == ecn
    assert classify(frame).payload_bytes == payload


def test_a_pure_ack_is_padded_to_the_shortest_ethernet_frame() -> None:
    headers, frame_bytes = template(4).headers(1, 1, ACK, 0, NOT_ECT)
    assert (len(headers), frame_bytes) == (54, 60)


# With both addresses: scapy asks the network for one that it is not given.
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
