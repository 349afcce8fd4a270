"""Forwarding of IPv4 and IPv6: egress ports, changed fields, drops and counts.

One case:  python -m ptf_tests.run --target engine forwarding.Ipv4PacketLeavesWithNewMacsAndTtlLessOne
"""

from ipaddress import IPv4Address, IPv6Address

from ptf.packet import ARP, Ether
from scapy.layers.inet import IPOption_RR, IPOption_Timestamp
from scapy.layers.inet6 import IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop
from scapy.utils import checksum

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, cases
from ptf_tests.lib.packets import Ecn, PacketClass, Verdict, received_cell, verdict_cell


class _Forwarded(FabricTest):
    def expect_forwarded(self, frame: bytes, port: int = 2) -> None:
        """Sends a frame in at port 1 and checks that it leaves, rewritten, only at one port."""
        self.send(1, frame)
        self.assert_frames(self.drained(port), [packets.forwarded(frame, port)])
        self.assert_silent()


class _Dropped(FabricTest):
    """Sends one frame in at port 1 and checks that nothing leaves, and the verdict."""

    def expect_dropped(self, frame: bytes, verdict: Verdict) -> None:
        self.send(1, frame)
        self.drain()
        self.assert_silent()
        found = {v: count for (_, v), count in self.verdicts(1).items()}
        self.assertEqual(found, {verdict: 1}, "verdicts at the ingress port")


_DROPPED = {
    "Ipv4TtlOneExpiresAndIsCounted": (packets.udp(2, ttl=1), Verdict.TTL_EXPIRED),
    # RFC 1812, 5.3.1: a router must not forward a packet whose TTL is zero.
    "Ipv4TtlZeroExpiresAndIsCounted": (packets.udp(2, ttl=0), Verdict.TTL_EXPIRED),
    "Ipv6HopLimitOneExpiresAndIsCounted": (packets.udp(2, ipv6=True, ttl=1), Verdict.TTL_EXPIRED),
    "Ipv4WithoutRouteIsDroppedAndCounted": (packets.udp(200), Verdict.NO_ROUTE),
    "Ipv6WithoutRouteIsDroppedAndCounted": (packets.udp(200, ipv6=True), Verdict.NO_ROUTE),
    # IEEE 802.3 clause 31: a MAC control frame is for the receiving MAC, whatever its content.
    "MacControlFrameEndsAtTheSwitchAndIsCounted": (packets.mac_control(2), Verdict.CONSUMED),
}
globals().update(cases(__name__, _Dropped, _Dropped.expect_dropped, _DROPPED))


class _LongestPrefix(FabricTest):
    """Host 7 behind port 2 has a route of its own to port 3; its neighbours keep the network's to port 2."""

    def wins(self, table: str, prefix: tuple[int, int], ipv6: bool) -> None:
        self.table_add(table, {"dst": prefix}, "forward", self.next_hop(3))
        special, plain = packets.udp(2, host=7, ipv6=ipv6), packets.udp(2, host=6, ipv6=ipv6)
        self.send(1, special, plain)
        self.assert_frames(self.drained(3), [packets.forwarded(special, 3)])
        self.assert_frames(self.departures(2), [packets.forwarded(plain, 2)])


_PREFIXES = {
    "Ipv4LongestPrefixWins": ("ipv4_route", (int(IPv4Address(packets.host_ipv4(2, 7))), 32), False),
    "Ipv6LongestPrefixWins": ("ipv6_route", (int(IPv6Address(packets.host_ipv6(2, 7))), 128), True),
}
globals().update(cases(__name__, _LongestPrefix, _LongestPrefix.wins, _PREFIXES))


class Ipv4DefaultRouteCatchesTheRest(_Forwarded):
    def runTest(self) -> None:
        self.table_add("ipv4_route", {}, "forward", self.next_hop(4))
        self.expect_forwarded(packets.udp(200), 4)


class Ipv4DeletedRouteNoLongerForwards(_Dropped):
    def runTest(self) -> None:
        self.table_remove("ipv4_route", {"dst": packets.networks(2)["ipv4_route"]})
        self.expect_dropped(packets.udp(2), Verdict.NO_ROUTE)


_TAGGED = packets.tcp(2, payload=40, vlan=100)
_FORWARDED = {
    "Ipv4PacketLeavesWithNewMacsAndTtlLessOne": (packets.udp(2),),
    "Ipv4PacketReturnsThroughItsIngressPortWhenTheRouteSaysSo": (packets.udp(1), 1),
    "Ipv6PacketLeavesWithNewMacsAndHopLimitLessOne": (packets.udp(2, ipv6=True),),
    "Ipv4TtlTwoIsForwardedAsOne": (packets.udp(2, ttl=2),),
    "Ipv6HopLimitTwoIsForwardedAsOne": (packets.udp(2, ipv6=True, ttl=2),),
    # The checksum covers the options: a 40-byte record-route option, the longest possible header.
    "Ipv4OptionsAreKeptAndTheChecksumIsRight": (
        packets.tcp(2, payload=40, ip_options=[IPOption_RR(routers=["0.0.0.0"] * 9)]),
    ),
    "Ipv4ShortOptionIsKeptAndTheChecksumIsRight": (
        packets.udp(2, ip_options=[IPOption_Timestamp(internet_address="0.0.0.0", flg=0, length=8)]),
    ),
    "Ipv4PacketWithVlanTagKeepsItsTag": (_TAGGED,),
    # IEEE 802.1ad: a service tag in front of a customer tag.
    "Ipv4PacketWithTwoVlanTagsKeepsThem": (_TAGGED[:12] + bytes.fromhex("88a80007") + _TAGGED[12:],),
    "Ipv6PacketWithVlanTagKeepsItsTag": (packets.tcp(2, payload=40, vlan=100, ipv6=True),),
    # A 54-byte ACK padded to the 60-byte Ethernet minimum stays 60 bytes long.
    "Ipv4PaddingIsForwardedUntouched": (packets.tcp(2, flags="A", pad_to=60),),
    "Ipv6FlowLabelAndTrafficClassPassUnchanged": (
        packets.tcp(2, ipv6=True, payload=9, fl=0xABCDE, dscp=46, ecn=Ecn.ECT0),
    ),
    "Ipv6ExtensionHeadersPassUnchanged": (
        bytes(packets.network(2, ipv6=True) / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / bytes(30)),
    ),
    "Ipv4FullFramePassesWhole": (packets.data(2, size=packets.FULL_FRAME),),
    "Ipv4JumboFramePassesWhole": (packets.data(2, size=9014),),
}
globals().update(cases(__name__, _Forwarded, _Forwarded.expect_forwarded, _FORWARDED))


def _damaged(frame: bytes, offset: int, value: int) -> bytes:
    """Returns `frame` with one byte of its IP header changed and a correct IPv4 checksum."""
    out = bytearray(frame)
    out[14 + offset] = value
    if out[14] >> 4 == 4:
        out[24:26] = b"\0\0"
        out[24:26] = checksum(bytes(out[14:34])).to_bytes(2, "big")
    return bytes(out)


def _with(frame: bytes, offset: int, value: int) -> bytes:
    """Returns `frame` with one byte changed."""
    return frame[:offset] + bytes([value]) + frame[offset + 1 :]


_IPV4, _IPV6 = packets.udp(2), packets.udp(2, ipv6=True)
_MALFORMED = {
    # RFC 1812, 5.2.2 (3): the version number must be 4.
    "Ipv4WrongVersionIsMalformed": (_with(_IPV4, 14, 0x75), Verdict.MALFORMED),
    # RFC 1812, 5.2.2 (2): the checksum must be correct.
    "Ipv4WrongChecksumIsMalformed": (_with(_IPV4, 24, _IPV4[24] ^ 0x10), Verdict.MALFORMED),
    "Ipv6WrongVersionIsMalformed": (_with(_IPV6, 14, 0x40), Verdict.MALFORMED),
    # Padding may make a frame longer than its packet; a frame must not be shorter.
    "Ipv4TotalLengthBeyondTheFrameIsMalformed": (_damaged(_IPV4, 3, len(_IPV4) - 13), Verdict.MALFORMED),
    "Ipv6PayloadLengthBeyondTheFrameIsMalformed": (_damaged(_IPV6, 5, len(_IPV6) - 53), Verdict.MALFORMED),
    # RFC 1812, 5.2.2 (4): the header length field must be at least 5.
    "Ipv4HeaderLengthBelowFiveIsMalformed": (_damaged(packets.udp(2), 0, 0x44), Verdict.MALFORMED),
    # RFC 1812, 5.2.2 (5): the total length must hold the header.
    "Ipv4TotalLengthShorterThanItsHeaderIsMalformed": (_damaged(packets.udp(2), 3, 19), Verdict.MALFORMED),
    "Ipv4HeaderCutShortIsMalformed": (packets.udp(2)[: 14 + 12], Verdict.MALFORMED),
    "Ipv4OptionsCutShortAreMalformed": (
        packets.udp(2, ip_options=[IPOption_RR(routers=["0.0.0.0"] * 9)])[: 14 + 30],
        Verdict.MALFORMED,
    ),
    "Ipv6HeaderCutShortIsMalformed": (packets.udp(2, ipv6=True)[: 14 + 39], Verdict.MALFORMED),
    "EthernetHeaderAloneIsMalformed": (packets.udp(2)[:14], Verdict.MALFORMED),
    # The switch routes; it does not bridge.
    "ArpIsNotRoutedButCounted": (
        bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src=packets.host_mac(1)) / ARP() / bytes(18)),
        Verdict.NOT_ADMITTED,
    ),
    # An unfragmented packet with protocol TCP that is too short for its header.
    "TcpHeaderBeyondItsPacketIsMalformed": (
        bytes(packets.network(2, proto=6) / bytes(12)),
        Verdict.MALFORMED,
    ),
}
globals().update(cases(__name__, _Dropped, _Dropped.expect_dropped, _MALFORMED, "malformed"))


class CountersCountFrameBytes(FabricTest):
    """Bytes are those of the frame at arrival (received) and at departure (verdicts): equal here."""

    def runTest(self) -> None:
        self.send(1, packets.data(2, size=777), packets.data(2, size=333))
        self.drain()
        received = self.client.counter_read("received", received_cell(1, PacketClass.DATA))
        decided = self.client.counter_read("verdicts", verdict_cell(2, PacketClass.DATA, Verdict.FORWARDED))
        self.assertEqual(received, (2, 1110))
        self.assertEqual(decided, (2, 1110))
