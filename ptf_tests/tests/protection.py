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

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest
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
    """Offers one frame to port 2 in a queue above `max`."""

    mode = 0
    frame = b""
    packet_class = PacketClass.OTHER

    def offer(self) -> list[bytes]:
        """Returns the frames that left after those that filled the queue."""
        self.red(2, low=_FULL, high=_FULL, protect=self.mode)
        filling = [packets.data(2, size=1000, ecn=Ecn.ECT0) for _ in range(5)]
        return [departure.frame for departure in self.burst(2, [*filling, self.frame])[5:]]

    def verdict(self) -> set[Verdict]:
        """Returns the verdicts under port 2 for the frame's class, without the five frames in the queue."""
        found = self.verdicts(2)
        if self.packet_class == PacketClass.DATA:
            found[PacketClass.DATA, Verdict.FORWARDED] -= 5
        return {verdict for (c, verdict), count in found.items() if c == self.packet_class and count}

    def expect_spared(self) -> None:
        self.assertEqual([f.hex() for f in self.offer()], [packets.forwarded(self.frame, 2).hex()])
        self.assertEqual(self.verdict(), {Verdict.FORWARDED})

    def expect_dropped(self) -> None:
        self.assertEqual(self.offer(), [])
        self.assertEqual(self.verdict(), {Verdict.EARLY_DROPPED})


def _cases() -> dict[str, type]:
    cases = {}
    for mode, number in _MODES.items():
        for what, (packet_class, frame) in _FRAMES.items():
            spared = what in _SPARED[mode]
            name = f"Protect{mode}{'Spares' if spared else 'Drops'}{what}"
            settings = {
                "__module__": __name__,
                "mode": number,
                "frame": frame,
                "packet_class": packet_class,
                "runTest": _Protection.expect_spared if spared else _Protection.expect_dropped,
            }
            cases[name] = type(name, (_Protection,), settings)
    return cases


globals().update(_cases())


class ProtectEctMarksEctOfEveryClass(FabricTest):
    """In every mode an ECT packet of any class is marked and not dropped."""

    def runTest(self) -> None:
        self.red(2, low=1, high=1, protect=_MODES["Ect"])
        first = packets.tcp(2, flags="A")
        frames = [packets.of_class(packet_class, 2, ecn=Ecn.ECT0) for packet_class in packets.BUILDERS]
        wanted = [packets.forwarded(first, 2)]
        wanted += [packets.forwarded(frame, 2, ecn=Ecn.CE) for frame in frames]
        self.assert_frames(self.burst(2, [first, *frames]), wanted)


class ProtectAckSynMarksEctOfEveryClass(FabricTest):
    """Protection means "not dropped", not "not marked": an ECT pure ACK (DCTCP) still gets the signal."""

    def runTest(self) -> None:
        self.red(2, low=1, high=1, protect=_MODES["AckSyn"])
        first = packets.tcp(2, flags="A")
        frames = [packets.of_class(packet_class, 2, ecn=Ecn.ECT0) for packet_class in packets.BUILDERS]
        wanted = [packets.forwarded(first, 2)]
        wanted += [packets.forwarded(frame, 2, ecn=Ecn.CE) for frame in frames]
        self.assert_frames(self.burst(2, [first, *frames]), wanted)


class ProtectAckSynDoesNotSpareFromTailDrop(FabricTest):
    """Protection is from early drops, not from a full buffer."""

    def runTest(self) -> None:
        self.red(2, low=2**31, high=2**31, protect=_MODES["AckSyn"])
        self.buffer_limit(2, 1000)
        left = self.burst(2, [packets.data(2, size=1000), packets.tcp(2, flags="S")])
        self.assertEqual(len(left), 1)
        self.assertEqual(self.verdicts(2)[PacketClass.SYN, Verdict.TAIL_DROPPED], 1)
