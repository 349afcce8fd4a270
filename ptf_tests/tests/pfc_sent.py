"""Pause frames that the switch sends to the neighbour behind an ingress port.

Packets of DSCP 26 (priority 3) that arrive at port 1 are a lossless group. They go to port 2, where the
neighbour may pause priority 3: during its pause, the group fills.
"""

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, virtual_time_only
from ptf_tests.lib.eee import Eee
from ptf_tests.lib.packets import PacketClass, Verdict
from ptf_tests.lib.ports import COPY_PORT, NUMBERS, PRIORITIES, ROUND_NS
from ptf_tests.lib.targets.base import SwitchOptions

IN, OUT = 1, 2
AF31 = 26
LOSSLESS = 3
SIZE = 200
XOFF_BYTES, XON_BYTES, LIMIT_BYTES = 600, 400, 1000
QUANTA = 0x1234
REFRESH_NS = 1_000_000
SAMPLED_ALWAYS = {
    "set_point_bytes": 1,
    "weight_shift": 0,
    "range_bytes": 3,
    "scale_q56": -(-(63 << 56) // 3),
    "sample_bytes": 1,
    "jitter_q16": 0,
}
"""A congestion point with the strongest possible feedback."""
HOLD_OUT = packets.pfc({LOSSLESS: 0xFFFF})
LET_OUT_GO = packets.pfc({LOSSLESS: 0})

XOFF = bytes.fromhex(
    "0180c2000001 020100000001 8808 0101 0008 0000 0000 0000 1234 0000 0000 0000 0000" + "00" * 26
)
XON = bytes.fromhex(
    "0180c2000001 020100000001 8808 0101 0008 0000 0000 0000 0000 0000 0000 0000 0000" + "00" * 26
)


class _PfcSent(FabricTest):
    """See the module."""

    xoff_bytes = XOFF_BYTES
    obeyed: tuple[int, ...] = (LOSSLESS,)
    refresh_ns = 10**12
    """Longer than any case; on BMv2 a busy machine must not cause a refresh."""

    def setUp(self) -> None:
        super().setUp()
        self.priorities({AF31: LOSSLESS})
        self.obey_pauses(OUT, *self.obeyed)
        self.lossless_group(LOSSLESS, XON_BYTES, QUANTA)
        source = {
            "source": packets.mac_int(packets.switch_mac(IN)),
            "loop_ticks": ROUND_NS // self.switch.tick_ns,
        }
        self.table_add("made_pause", {"port": IN}, "send_pause", source)
        self.session = self.clone_session(NUMBERS["constants"]["COPY_SESSION"], COPY_PORT)

    def lossless_group(self, priority: int, xon_bytes: int, quanta: int) -> None:
        """Makes the packets of a priority that arrive at port 1 a group."""
        thresholds = {
            "xoff_bytes": self.xoff_bytes,
            "xon_bytes": xon_bytes,
            "limit_bytes": LIMIT_BYTES,
            "pause_quanta": quanta,
            "pause_refresh_ticks": self.refresh_ns // self.switch.tick_ns,
        }
        self.table_add("lossless_group", {"queue": IN * PRIORITIES + priority}, "lossless", thresholds)

    def pauses_sent(self) -> int:
        """Returns the pauses that the group has sent in this case."""
        return self.counted("pauses_sent", IN * PRIORITIES + LOSSLESS)

    def dropped(self) -> int:
        """Returns the packets of the group that did not fit, in this case."""
        return self.counted("lossless_dropped", IN * PRIORITIES + LOSSLESS)

    def group_bytes(self) -> int:
        """Returns the byte account of the group."""
        return self.queue_register("ingress_bytes", IN, LOSSLESS)

    def hold_out(self) -> None:
        """Sends a pause of priority 3 from the neighbour at port 2."""
        self.send(OUT, HOLD_OUT)
        self.settle()

    def fill(self, count: int) -> None:
        """Sends packets of the group while its neighbour at port 2 pauses them."""
        self.hold_out()
        self.send(IN, *(lossless(n) for n in range(count)))

    def let_go(self) -> None:
        """Ends the pause of port 2, and lets everything leave."""
        self.send(OUT, LET_OUT_GO)
        self.drained(OUT)


def lossless(number: int = 0, *, ecn: int = 0) -> bytes:
    """Returns a packet of the group."""
    return packets.data(OUT, dscp=AF31, sport=1000 + number, size=SIZE, ecn=ecn)


class NeighbourIsPausedAboveXoffAndGoesOnAtXon(_PfcSent):
    """Byte for byte: a frame above XOFF, and one when the account has fallen to XON."""

    def runTest(self) -> None:
        frames = [lossless(n) for n in range(4)]
        self.hold_out()
        self.send(IN, *frames[:3])
        self.settle()
        self.assertEqual(self.group_bytes(), XOFF_BYTES)
        self.assert_silent(IN)
        self.send(IN, frames[3])
        self.assert_frames(self.await_frames(IN, 1), [XOFF])
        self.send(OUT, LET_OUT_GO)
        self.assert_frames(self.await_frames(IN, 1), [XON])
        self.assert_frames(self.drained(OUT), [packets.forwarded(frame, OUT) for frame in frames])
        self.assertEqual((self.pauses_sent(), self.dropped(), self.group_bytes()), (1, 0, 0))
        self.assertEqual(self.queue_register("pause_sent_at", IN, LOSSLESS), 0)
        self.assertEqual(self.received(COPY_PORT), {PacketClass.CONTROL: 2})
        self.assertEqual(self.verdicts(IN)[PacketClass.CONTROL, Verdict.FORWARDED], 2)


class PacketThatWouldMakeACnmAndAPauseMakesThePause(_PfcSent):
    """The queue is also sampled with every frame. A packet is copied only once: the first three make a CNM
    each, and the fourth, which brings the group above its threshold, the pause."""

    def frames_made(self) -> int:
        return self.counted("cnms_made", OUT * PRIORITIES + LOSSLESS)

    def runTest(self) -> None:
        self.table_add("port_qcn", {"queue": OUT * PRIORITIES + LOSSLESS}, "qcn", SAMPLED_ALWAYS)
        self.fill(4)
        left = [departure.frame for departure in self.await_frames(IN, 4)]
        self.assertEqual([frame[12:14].hex() for frame in left].count("22e7"), 3)
        self.assertIn(XOFF, left)
        self.assertEqual((self.frames_made(), self.pauses_sent()), (3, 1))
        self.let_go()
        self.assert_frames(self.departures(IN), [XON])


class PauseInPlaceOfACnmLeavesTheSampleToTheNextPacket(PacketThatWouldMakeACnmAndAPauseMakesThePause):
    """Every third packet is sampled: the first makes a CNM, the fourth the pause, and the fifth the CNM."""

    def runTest(self) -> None:
        # An eighth of it while the feedback is strongest.
        params = {**SAMPLED_ALWAYS, "sample_bytes": 8 * 3 * SIZE}
        self.table_add("port_qcn", {"queue": OUT * PRIORITIES + LOSSLESS}, "qcn", params)
        self.fill(5)
        left = [departure.frame for departure in self.await_frames(IN, 3)]
        self.assertEqual([frame[12:14].hex() for frame in left].count("22e7"), 2)
        self.assertIn(XOFF, left)
        self.let_go()
        self.assert_frames(self.departures(IN), [XON])


@virtual_time_only
class NeighbourGoesOnWhenTheAccountHasFallenToXon(_PfcSent):
    """To the tick: with the packet that leaves exactly XON bytes behind."""

    def runTest(self) -> None:
        self.fill(4)
        self.await_frames(IN, 1)
        self.send(OUT, LET_OUT_GO)
        second = self.drained(OUT)[1]
        self.assertEqual([left.at_ns for left in self.departures(IN)], [second.at_ns + ROUND_NS])


class FrameIsAsShortWhateverItWasMadeOf(_PfcSent):
    """Long packets, with and without a parsed payload; also over IPv6."""

    def runTest(self) -> None:
        self.hold_out()
        big = [packets.data(OUT, dscp=AF31, size=700), packets.data(OUT, dscp=AF31, size=700, ipv6=True)]
        for frame in big:
            with self.subTest(frame=frame[:14].hex()):
                self.send(IN, frame)
                self.assert_frames(self.await_frames(IN, 1), [XOFF])
                self.send(OUT, LET_OUT_GO)
                self.assert_frames(self.await_frames(IN, 1), [XON])
                self.await_frames(OUT, 1)
                self.hold_out()
        self.send(OUT, LET_OUT_GO)


class WhatDoesNotFitTheLimitIsDroppedAndCounted(_PfcSent):
    """The limit of the group decides; the port's buffer limit applies only to lossy packets."""

    def runTest(self) -> None:
        self.buffer_limit(OUT, 300)
        self.fill(6)
        self.settle()
        self.assertEqual((self.group_bytes(), self.dropped()), (LIMIT_BYTES, 1))
        self.assertEqual(
            self.verdicts(OUT),
            {(PacketClass.DATA, Verdict.TAIL_DROPPED): 1, (PacketClass.CONTROL, Verdict.CONSUMED): 1},
        )
        self.send(IN, packets.data(OUT, size=SIZE))
        self.settle()
        self.assertEqual(self.verdicts(OUT)[PacketClass.DATA, Verdict.TAIL_DROPPED], 2)
        self.send(OUT, LET_OUT_GO)
        self.await_frames(OUT, 5)


class GroupThatIsFullBelowXoffPausesItsNeighbour(_PfcSent):
    """Its limit is not larger than its XOFF, so no packet ever exceeds XOFF."""

    xoff_bytes = LIMIT_BYTES

    def runTest(self) -> None:
        self.fill(5)
        self.settle()
        self.assertEqual((self.group_bytes(), self.pauses_sent()), (LIMIT_BYTES, 0))
        self.send(IN, lossless(5), lossless(6))
        self.settle()
        self.assert_frames(self.await_frames(IN, 1), [XOFF])
        self.assertEqual((self.dropped(), self.pauses_sent()), (2, 1))
        self.send(OUT, LET_OUT_GO)
        self.await_frames(OUT, 5)
        self.assert_frames(self.await_frames(IN, 1), [XON])


class PacketsOfAnotherPortOrClassAreInNoGroup(_PfcSent):
    def runTest(self) -> None:
        self.hold_out()
        others = [packets.data(OUT, size=SIZE, sport=n) for n in range(6)]
        self.send(IN, *others)
        self.send(3, *(packets.data(OUT, dscp=AF31, size=SIZE, frm=3, sport=n) for n in range(6)))
        self.await_frames(OUT, len(others))
        self.assertEqual((self.group_bytes(), self.pauses_sent()), (0, 0))
        self.send(OUT, LET_OUT_GO)
        self.await_frames(OUT, 6)
        self.assert_silent(IN, 3)


class LosslessPacketIsNeverDroppedEarly(_PfcSent):
    """RED would drop each of them. ECT packets are marked."""

    def runTest(self) -> None:
        self.red(OUT, low=0, high=0)
        frames = [lossless(0), lossless(1, ecn=2)]
        self.send(IN, *frames)
        self.assert_frames(
            self.await_frames(OUT, 2),
            [packets.forwarded(frames[0], OUT), packets.forwarded(frames[1], OUT, ecn=3)],
        )


class WithoutItsSessionThePauseIsNotSent(_PfcSent):
    """All else is unchanged: packets and accounts."""

    def runTest(self) -> None:
        self.client.write("DELETE", self.session)
        try:
            self.fill(4)
            self.switch.advance(us=100)
            self.send(OUT, LET_OUT_GO)
            self.await_frames(OUT, 4)
            self.assert_silent(IN)
            self.assertEqual((self.group_bytes(), self.pauses_sent()), (0, 0))
        finally:
            self.client.write("INSERT", self.session)


@virtual_time_only
class PauseIsSaidAgainByTimeWhereTheTargetHasTimers(_PfcSent):
    """To the tick, independent of arrivals and departures, until XON; only the frames themselves are counted
    as received."""

    refresh_ns = REFRESH_NS

    def runTest(self) -> None:
        self.fill(4)
        start = self.switch.now_ns
        # The pause of port 2 lasts 33 ms.
        self.switch.advance(ns=5 * REFRESH_NS)
        left = self.departures(IN)
        self.assert_frames(left, [XOFF] * 5)
        self.assertEqual([one.at_ns for one in left], [start + n * REFRESH_NS + ROUND_NS for n in range(5)])
        self.assertEqual(self.received(COPY_PORT), {PacketClass.CONTROL: 5})
        self.assertEqual(self.received(IN), {PacketClass.DATA: 4})
        self.send(OUT, LET_OUT_GO)
        self.switch.advance(us=100)
        self.assert_frames(self.departures(IN)[-1:], [XON])
        self.switch.advance(ns=5 * REFRESH_NS)
        self.assert_silent(IN)
        self.assertEqual(self.queue_register("pause_timer", IN, LOSSLESS), 0)


@virtual_time_only
class TwoGroupsOfAPortAreEachToldAgain(_PfcSent):
    """Priority 4 is also lossless, and both are due at the same time. When one gets XON, the pauses of the
    other continue."""

    refresh_ns = REFRESH_NS
    xoff_bytes = 0
    obeyed = (LOSSLESS, LOSSLESS + 1)

    def runTest(self) -> None:
        other = LOSSLESS + 1
        self.table_add("dscp_priority", {"dscp": 34}, "set_priority", {"priority": other})
        self.lossless_group(other, 0, 0x4321)
        self.send(OUT, packets.pfc({LOSSLESS: 0xFFFF, other: 0xFFFF}))
        self.switch.advance(us=10)
        self.send(IN, lossless(), packets.data(OUT, dscp=34, size=SIZE))
        start = self.switch.now_ns
        self.switch.advance(us=100)
        told = [one.frame[17] for one in self.departures(IN)]
        self.assertEqual(told, [1 << LOSSLESS, 1 << other])
        self.at(start + REFRESH_NS + 100_000)
        left = self.departures(IN)
        self.assertEqual([one.frame[17] for one in left], [1 << LOSSLESS, 1 << other])
        self.assertEqual([one.frame[24:28].hex() for one in left], ["12340000", "00004321"])
        self.send(OUT, packets.pfc({LOSSLESS: 0}))
        self.switch.advance(us=100)
        self.assertEqual([one.frame[17] for one in self.departures(IN)], [1 << LOSSLESS])
        self.switch.advance(ns=2 * REFRESH_NS)
        self.assertEqual([one.frame[17] for one in self.departures(IN)], [1 << other] * 2)
        self.send(OUT, packets.pfc({other: 0}))


@virtual_time_only
class PauseIsSaidAgainWhenHalfOfItIsOver(_PfcSent):
    """When a packet of the group arrives, even one that does not fit, and when one leaves; on targets without
    timers."""

    refresh_ns = REFRESH_NS
    options = SwitchOptions(timers=False)

    def runTest(self) -> None:
        self.fill(4)
        start = self.switch.now_ns
        self.switch.advance(us=100)
        self.assertEqual([left.at_ns for left in self.departures(IN)], [start + ROUND_NS])
        self.at(start + REFRESH_NS - 1)
        self.send(IN, lossless(4))
        self.assertEqual(self.departures(IN), [])
        self.switch.advance(ns=1)
        comes = self.switch.now_ns
        self.send(IN, lossless(5), lossless(6))
        self.switch.advance(us=2)
        self.assertEqual(self.dropped(), 2)
        self.assert_frames(self.departures(IN), [XOFF])
        self.assertEqual(self.queue_register("pause_sent_at", IN, LOSSLESS), comes)
        self.at(comes + REFRESH_NS)
        self.send(OUT, LET_OUT_GO)
        leaves = self.switch.now_ns
        self.switch.advance(ns=ROUND_NS)
        self.assert_frames(self.departures(IN), [XOFF])
        self.assertEqual(self.queue_register("pause_sent_at", IN, LOSSLESS), leaves)
        self.assert_frames(self.drained(IN), [XON])
        self.assertEqual(self.pauses_sent(), 3)


@virtual_time_only
class PauseAndThenMessagesLeaveBeforeAllDataThatWaits(PacketThatWouldMakeACnmAndAPauseMakesThePause):
    """Also before a class of priority 7, and with EEE, where all wait for a wake. The queue of port 2 is
    sampled with every packet: the first three make a CNM each, the fourth the pause. The second time the
    first finds less than the last sample did, and makes none."""

    def runTest(self) -> None:
        self.table_add("dscp_priority", {"dscp": 48}, "set_priority", {"priority": 7})
        self.table_add("port_qcn", {"queue": OUT * PRIORITIES + LOSSLESS}, "qcn", SAMPLED_ALWAYS)
        for eee, on_wire, messages in ((None, 1, 3), (Eee(), 0, 2)):
            with self.subTest(eee=eee):
                if eee is not None:
                    self.table_add("port_eee", {"port": IN}, "eee", eee.params())
                    self.switch.advance(ms=2)
                self.hold_out()
                back = [packets.data(IN, frm=3, dscp=48, size=1000, sport=n) for n in range(10)]
                self.send(3, *back)
                self.send(IN, *(lossless(n) for n in range(4)))
                self.switch.advance(ms=1)
                kinds = [one.frame[12:14].hex() for one in self.departures(IN)]
                first = ["0800"] * on_wire + ["8808"] + ["22e7"] * messages
                self.assertEqual(kinds, first + ["0800"] * (len(back) - on_wire))
                self.let_go()
                self.assert_frames(self.departures(IN), [XON])


@virtual_time_only
class PauseEndsTheHoldOfASleepingLink(_PfcSent):
    """Otherwise it would wait as long as packets are collected. The link takes its time to wake."""

    def runTest(self) -> None:
        eee = Eee(hold=5_000_000, trigger_packets=100)
        self.table_add("port_eee", {"port": IN}, "eee", eee.params())
        self.hold_out()
        for collected in (False, True):
            with self.subTest(collected=collected):
                self.switch.advance(ms=2)
                if collected:
                    self.send(OUT, packets.data(IN, frm=OUT))
                    self.switch.advance(us=50)
                self.send(IN, *(lossless(n) for n in range(4)))
                start = self.switch.now_ns
                self.switch.advance(us=100)
                first, *others = self.departures(IN)
                self.assertEqual((first.at_ns - start, len(others)), (ROUND_NS + eee.wake, int(collected)))
                self.assertEqual(first.frame, XOFF)
                self.switch.advance(us=100)
                self.let_go()
                self.departures(IN)
                self.hold_out()
        self.send(OUT, LET_OUT_GO)


@virtual_time_only
class AccountsHoldWherePacketsGoRound(NeighbourIsPausedAboveXoffAndGoesOnAtXon):
    """Packets that recirculate keep their group."""

    options = SwitchOptions(gate=False)
