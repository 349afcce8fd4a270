"""Packet tests of router.p4, with the fixture of eeon-engine: `pytest examples/own_program`."""

from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

HERE = Path(__file__).resolve().parent


@pytest.fixture
def router(eeon_switch):
    switch = eeon_switch(HERE / "router.json", HERE / "router.p4info.txtpb")
    switch.insert("routes", {"hdr.ipv4.dst": "10.0.3.0/24"}, "forward", next_hop="02:00:00:00:02:fd", port=3)
    return switch


def packet(destination="10.0.3.3", ttl=64):
    return Ether(dst="02:00:00:00:01:fe") / IP(src="10.0.1.1", dst=destination, ttl=ttl) / UDP() / b"hello"


def test_a_packet_with_a_route_leaves_by_its_port_for_its_next_hop(router):
    [departure] = router.send(1, packet())
    frame = Ether(departure.frame)
    assert (departure.port, frame.dst, frame[IP].ttl) == (3, "02:00:00:00:02:fd", 63)
    expected = IP(src="10.0.1.1", dst="10.0.3.3", ttl=63) / UDP() / b"hello"
    assert bytes(frame[IP]) == bytes(expected), "the checksum is computed again"


@pytest.mark.parametrize("dropped", [packet("10.0.9.1"), packet(ttl=1)], ids=["no route", "TTL used up"])
def test_a_packet_without_a_route_or_a_ttl_is_dropped(router, dropped):
    assert router.send(1, dropped) == []
