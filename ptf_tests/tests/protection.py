"""The packets that RED drops early or protects: each protection mode with each packet class, in a full queue.

ECT packets, which are marked and never dropped, keep the queue above `max`; then one Not-ECT packet of the
class is offered. Protected means forwarded unmarked (a Not-ECT packet must not be marked). One case for each
mode and class, made from the tables below, e.g. `protection.ProtectEctDropsSyn`.

The modes (the papers criticise RED with thresholds, and propose `ack_syn`):
  ect      only ECT packets are protected: the present practice
  ece      also TCP packets with ECE set: an ECN-setup SYN or SYN-ACK (RFC 3168, 6.1.1), an ACK that echoes
  congestion
  ack_syn  all pure ACKs, with and without ECE, every SYN and every SYN-ACK
"""

from collections import Counter

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, cases
from ptf_tests.lib.packets import Ecn, PacketClass, Verdict

_MODES = {"Ect": 0, "Ece": 1, "AckSyn": 2}

_FRAMES = {
    "Data": (PacketClass.DATA, packets.data(2)),
    "Ack": (PacketClass.ACK, packets.tcp(2, flags="A")),
    "AckEce": (PacketClass.ACK_ECE, packets.tcp(2, flags="AE")),
    "Syn": (PacketClass.SYN, packets.tcp(2, flags="S")),
    "SynEcnSetup": (PacketClass.SYN, packets.tcp(2, flags="SEC")),
    "SynAck": (PacketClass.SYN_ACK, packets.tcp(2, flags="SA")),
    "SynAckEcnSetup": (PacketClass.SYN_ACK, packets.tcp(2, flags="SAE")),
    "Fin": (PacketClass.FIN_RST, packets.tcp(2, flags="FA")),
    "Rst": (PacketClass.FIN_RST, packets.tcp(2, flags="R")),
    "Udp": (PacketClass.OTHER, packets.udp(2)),
    "Icmp": (PacketClass.OTHER, packets.icmp_echo(2)),
    "Fragment": (PacketClass.OTHER, packets.tcp_fragment(2, first=True)),
    "DataIpv6": (PacketClass.DATA, packets.data(2, ipv6=True)),
    "AckIpv6": (PacketClass.ACK, packets.tcp(2, flags="A", ipv6=True)),
    "AckEceIpv6": (PacketClass.ACK_ECE, packets.tcp(2, flags="AE", ipv6=True)),
    "SynIpv6": (PacketClass.SYN, packets.tcp(2, flags="S", ipv6=True)),
    "SynAckEcnSetupIpv6": (PacketClass.SYN_ACK, packets.tcp(2, flags="SAE", ipv6=True)),
    "AckPadded": (PacketClass.ACK, packets.tcp(2, flags="A", pad_to=60)),
}
_SPARED = {
    "Ect": set(),
    "Ece": {"AckEce", "SynEcnSetup", "SynAckEcnSetup", "AckEceIpv6", "SynAckEcnSetupIpv6"},
    "AckSyn": {
        *("Ack", "AckEce", "Syn", "SynEcnSetup", "SynAck", "SynAckEcnSetup", "AckPadded"),
        *("AckIpv6", "AckEceIpv6", "SynIpv6", "SynAckEcnSetupIpv6"),
    },
}

_FULL = 5000
"""`min` and `max` of these cases, bytes; five ECT frames of 1000 bytes reach it."""


class _Protection(FabricTest):
    def offer(self, mode: int, packet_class: PacketClass, frame: bytes, spared: bool) -> None:
        """Offers one frame to port 2 in a queue above `max`."""
        self.red(2, low=_FULL, high=_FULL, protect=mode)
        filling = [packets.data(2, size=1000, ecn=Ecn.ECT0) for _ in range(5)]
        left = self.burst(2, [*filling, frame])[5:]
        self.assert_frames(left, [packets.forwarded(frame, 2)] if spared else [])
        wanted = Counter({(PacketClass.DATA, Verdict.FORWARDED): 5})
        wanted[packet_class, Verdict.FORWARDED if spared else Verdict.EARLY_DROPPED] += 1
        self.assertEqual(self.verdicts(2), wanted)

    def marks_ect_of_every_class(self, mode: int) -> None:
        self.red(2, low=1, high=1, protect=mode)
        first = packets.tcp(2, flags="A")
        frames = [build(2, ecn=Ecn.ECT0) for build in packets.BUILDERS.values()]
        wanted = [packets.forwarded(first, 2)]
        wanted += [packets.forwarded(frame, 2, ecn=Ecn.CE) for frame in frames]
        self.assert_frames(self.burst(2, [first, *frames]), wanted)


_OFFERED = {
    f"Protect{mode}{'Spares' if what in _SPARED[mode] else 'Drops'}{what}": (
        number,
        packet_class,
        frame,
        what in _SPARED[mode],
    )
    for mode, number in _MODES.items()
    for what, (packet_class, frame) in _FRAMES.items()
}
globals().update(cases(__name__, _Protection, _Protection.offer, _OFFERED))

_MARKED = {
    "ProtectEctMarksEctOfEveryClass": (_MODES["Ect"],),
    # Protection means "not dropped", not "not marked": an ECT pure ACK (DCTCP) still gets the signal.
    "ProtectAckSynMarksEctOfEveryClass": (_MODES["AckSyn"],),
}
globals().update(cases(__name__, _Protection, _Protection.marks_ect_of_every_class, _MARKED))


class ProtectAckSynDoesNotSpareFromTailDrop(FabricTest):
    """Protection is from early drops, not from a full buffer."""

    def runTest(self) -> None:
        self.red(2, low=2**31, high=2**31, protect=_MODES["AckSyn"])
        self.buffer_limit(2, 1000)
        left = self.burst(2, [packets.data(2, size=1000), packets.tcp(2, flags="S")])
        self.assertEqual(len(left), 1)
        self.assertEqual(self.verdicts(2)[PacketClass.SYN, Verdict.TAIL_DROPPED], 1)
