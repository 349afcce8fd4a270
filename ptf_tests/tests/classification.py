"""The seven packet classes, seen through the `received` counter: cells are (ingress port, class).

The payload length comes from the IP and TCP lengths, never from the frame's. Not tested here: AQM protection
also uses the class (protection.py).
"""

from functools import partial

from ptf.packet import TCP
from scapy.layers.inet import IPOption_RR
from scapy.layers.inet6 import IPv6ExtHdrHopByHop

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, cases
from ptf_tests.lib.packets import PacketClass

_TIMESTAMPS = [("NOP", None), ("NOP", None), ("Timestamp", (1, 2))]
_SACK = [("NOP", None), ("NOP", None), ("SAck", (1, 2, 3, 4, 5, 6))]
_LONGEST_OPTIONS = [("NOP", None)] * 40
_RECORD_ROUTE = IPOption_RR(routers=["0.0.0.0"] * 9)


class _Classified(FabricTest):
    """Sends frames in at port 1 and expects each to be counted as one class, and nothing as another."""

    def expect(self, packet_class: PacketClass, *frames: bytes) -> None:
        for frame in frames:
            with self.subTest(frame=frame.hex()):
                self.forget_counts()
                self.send(1, frame)
                self.drain()
                self.assertEqual(self.received(1), {packet_class: 1})

    def expect_tcp(self, packet_class: PacketClass, flags: str, payload: int = 0) -> None:
        """Checks the same segment over IPv4 and IPv6, with and without VLAN tag, padding and options."""
        segment = partial(packets.tcp, 2, flags=flags, payload=payload)
        for ipv6 in (False, True):
            self.expect(
                packet_class,
                segment(ipv6=ipv6),
                segment(ipv6=ipv6, vlan=9),
                segment(ipv6=ipv6, pad_to=200),
                segment(ipv6=ipv6, tcp_options=_TIMESTAMPS),
            )
        self.expect(
            packet_class,
            segment(tcp_options=_LONGEST_OPTIONS, pad_to=200),
            segment(ip_options=[_RECORD_ROUTE]),
            segment(ip_options=[_RECORD_ROUTE], tcp_options=_LONGEST_OPTIONS),
        )


_TCP = {
    "DataIsTcpWithPayload": (PacketClass.DATA, "A", 100),
    "DataOfOneByteIsData": (PacketClass.DATA, "PA", 1),
    # A segment with payload is data, even if it also echoes congestion.
    "DataWithEceIsDataNotAckEce": (PacketClass.DATA, "AEC", 100),
    "AckIsPureAckWithoutEce": (PacketClass.ACK, "A"),
    "AckWithCwrIsAnAck": (PacketClass.ACK, "AC"),
    "AckEceIsPureAckWithEce": (PacketClass.ACK_ECE, "AE"),
    "AckWithEceAndCwrIsAckEce": (PacketClass.ACK_ECE, "AEC"),
    "SynIsSyn": (PacketClass.SYN, "S"),
    # RFC 3168, 6.1.1: an ECN-setup SYN has ECE and CWR set.
    "SynThatNegotiatesEcnIsSyn": (PacketClass.SYN, "SEC"),
    # RFC 7413: TCP Fast Open puts data on the SYN.
    "SynWithDataIsSyn": (PacketClass.SYN, "S", 100),
    "SynAckIsSynAck": (PacketClass.SYN_ACK, "SA"),
    # RFC 3168, 6.1.1: an ECN-setup SYN-ACK has ECE set and CWR clear.
    "SynAckThatNegotiatesEcnIsSynAck": (PacketClass.SYN_ACK, "SAE"),
    "FinIsFinRst": (PacketClass.FIN_RST, "FA"),
    # A FIN with payload is the end of the connection, not just data.
    "FinWithDataIsFinRst": (PacketClass.FIN_RST, "FPA", 100),
    "RstIsFinRst": (PacketClass.FIN_RST, "R"),
    "RstAckIsFinRst": (PacketClass.FIN_RST, "RA"),
}
globals().update(cases(__name__, _Classified, _Classified.expect_tcp, _TCP))


_OTHERS = {
    # 54 bytes of ACK in a frame of 60: the six bytes of padding do not count as payload.
    "AckPaddedToTheEthernetMinimumIsAnAck": (PacketClass.ACK, packets.tcp(2, flags="A", pad_to=60)),
    "AckWithSackBlocksIsAnAck": (
        PacketClass.ACK,
        packets.tcp(2, tcp_options=_SACK),
        packets.tcp(2, tcp_options=_SACK, ipv6=True),
    ),
    "Ipv4DontFragmentIsNoFragment": (PacketClass.ACK, bytes(packets.network(2, flags="DF") / TCP(flags="A"))),
    "UdpIsOther": (PacketClass.OTHER, packets.udp(2), packets.udp(2, ipv6=True), packets.udp(2, vlan=9)),
    "IcmpIsOther": (PacketClass.OTHER, packets.icmp_echo(2), packets.icmp_echo(2, ipv6=True)),
    # A later fragment has no TCP header, and the lengths of the first one are not the segment's: both are
    # other.
    "FragmentsAreOther": (
        PacketClass.OTHER,
        packets.tcp_fragment(2, first=True),
        packets.tcp_fragment(2, first=False),
        packets.tcp_fragment(2, first=True, ipv6=True),
        packets.tcp_fragment(2, first=False, ipv6=True),
    ),
    # Only TCP directly after the IPv6 header is parsed; all else is other.
    "TcpBehindIpv6ExtensionHeadersIsOther": (
        PacketClass.OTHER,
        bytes(packets.network(2, ipv6=True) / IPv6ExtHdrHopByHop() / TCP(flags="A")),
    ),
    # A segment without SYN, FIN, RST, ACK or payload is none of the named classes.
    "TcpWithoutAnyFlagIsOther": (
        PacketClass.OTHER,
        packets.tcp(2, flags=""),
        packets.tcp(2, flags="", ipv6=True),
    ),
}
globals().update(cases(__name__, _Classified, _Classified.expect, _OTHERS))


_MALFORMED = {
    # The IP packet ends inside the TCP header: it is malformed, and not an ACK.
    "TcpHeaderCutShortIsOther": (PacketClass.OTHER, bytes(packets.network(2, proto=6) / bytes(12))),
    # A data offset beyond the IP packet's end gives no payload length; padding must not be parsed as options.
    "TcpHeaderLongerThanItsPacketIsOther": (
        PacketClass.OTHER,
        packets.padded(bytes(packets.network(2) / TCP(flags="A", dataofs=15)), 200),
    ),
}
globals().update(cases(__name__, _Classified, _Classified.expect, _MALFORMED, "malformed"))
