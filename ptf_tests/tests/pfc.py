"""Priority flow control (IEEE 802.1Q-2022 clause 36): received pause frames, and the queues that they stop.

Port 2 obeys pauses for priority 3, the priority of DSCP 26. Its links have 1 Gbit/s: a quantum is 512 ns.
Frames are written out as bytes; `pfc` of the library makes the others. Pauses that replace others or end
early, while a frame is on the wire or the link sleeps, and the order between classes: hold_exhaustive.rs and
priorities.rs in engine/simple_switch/tests/it/.
"""

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, cases, virtual_time_only
from ptf_tests.lib.packets import PacketClass, Verdict
from ptf_tests.lib.ports import PRIORITIES, ROUND_NS
from ptf_tests.lib.targets.base import SwitchOptions

PORT = 2
AF31, EF = 26, 46
LOSSLESS, OTHER = 3, 5
QUANTUM_NS = 512

XOFF = bytes.fromhex(
    "0180c2000001 020000000002 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000" + "00" * 26
)
XON = bytes.fromhex(
    "0180c2000001 020000000002 8808 0101 0008 0000 0000 0000 0000 0000 0000 0000 0000" + "00" * 26
)


class _Pfc(FabricTest):
    """DSCP 26 is priority 3, which the neighbour at port 2 may pause; DSCP 46 is priority 5, not pausable."""

    def setUp(self) -> None:
        super().setUp()
        self.priorities({AF31: LOSSLESS, EF: OTHER})
        self.obey_pauses(PORT, LOSSLESS)

    def pause(self, quanta: int) -> int:
        """Pauses priority 3; returns the time at which the pause ends."""
        self.send(PORT, packets.pfc({LOSSLESS: quanta}))
        return self.switch.now_ns + quanta * QUANTUM_NS

    def await_queued(self, count: int) -> None:
        """Waits until that number of packets is in the queues of port 2."""
        self.wait_for(lambda: self.register("occupancy_packets", PORT) == count)

    def ignored(self) -> int:
        """Returns the MAC control frames of port 2 that changed no gate."""
        return self.counted("control_ignored", PORT)

    def pauses(self) -> int:
        """Returns the pauses received at port 2, obeyed or not."""
        return self.counted("pauses_received", PORT * PRIORITIES + LOSSLESS)


def lossless(number: int = 0) -> bytes:
    """Returns a packet of the class that may be paused."""
    return packets.data(PORT, dscp=AF31, sport=1000 + number)


class XoffStopsTheQueueAndXonOpensIt(_Pfc):
    """On every target: no packet of the class leaves until XON, and then all of them, in order."""

    def runTest(self) -> None:
        frames = [lossless(n) for n in range(20)]
        self.send(PORT, XOFF)
        self.switch.advance(ms=1)
        self.send(1, *frames)
        self.await_queued(len(frames))
        self.assert_silent(PORT)
        self.send(PORT, XON)
        self.assert_frames(self.drained(PORT), [packets.forwarded(frame, PORT) for frame in frames])
        self.assertEqual(self.verdicts(PORT)[PacketClass.DATA, Verdict.FORWARDED], len(frames))
        self.assertEqual(self.verdicts(PORT)[PacketClass.CONTROL, Verdict.CONSUMED], 2)
        self.assertEqual((self.pauses(), self.ignored()), (1, 0))


class QueueThatDiscardsTakesNothingMoreAndLosesNothing(_Pfc):
    """The watchdog's setting: waiting packets leave when the pause is over, new ones are dropped, and other
    classes continue."""

    def runTest(self) -> None:
        held, late = [lossless(n) for n in range(4)], [lossless(n) for n in range(4, 7)]
        other = packets.data(PORT, dscp=EF)
        self.send(PORT, XOFF)
        self.switch.advance(ms=1)
        self.send(1, *held)
        self.await_queued(len(held))
        self.table_add("pausable_queue", {"queue": PORT * PRIORITIES + LOSSLESS}, "discard")
        self.send(1, *late, other)
        self.send(PORT, XON)
        left = sorted(departure.frame for departure in self.drained(PORT))
        self.assertEqual(left, sorted(packets.forwarded(frame, PORT) for frame in (*held, other)))
        self.assertEqual(self.verdicts(PORT)[PacketClass.DATA, Verdict.TAIL_DROPPED], len(late))


class OtherClassesGoOn(_Pfc):
    def runTest(self) -> None:
        other = [packets.data(PORT, dscp=dscp) for dscp in (EF, 0)]
        self.send(PORT, XOFF)
        self.switch.advance(ms=1)
        self.send(1, lossless(), *other)
        left = [departure.frame for departure in self.await_frames(PORT, len(other))]
        self.assertEqual(sorted(left), sorted(packets.forwarded(frame, PORT) for frame in other))
        self.send(PORT, XON)
        self.assert_frames(self.drained(PORT), [packets.forwarded(lossless(), PORT)])


@virtual_time_only
class PauseEndsAfterItsQuanta(_Pfc):
    """To the tick: 512 bit times for each quantum."""

    late_ns = 0

    def runTest(self) -> None:
        for quanta in (1, 7, 1000, 65_535):
            with self.subTest(quanta=quanta):
                end = self.pause(quanta)
                self.send(1, lossless())
                self.at(end - 1)
                self.assert_silent(PORT)
                self.at(end + self.late_ns)
                (departure,) = self.departures(PORT)
                self.assertTrue(end <= departure.at_ns <= end + self.late_ns, departure.at_ns - end)
                self.drain()


@virtual_time_only
class PauseEndsAfterItsQuantaWhereTheTargetKeepsNoGate(PauseEndsAfterItsQuanta):
    """The packets recirculate meanwhile."""

    options = SwitchOptions(gate=False)
    late_ns = ROUND_NS


@virtual_time_only
class GateOfTheLastPauseIsClearedWhenAPacketLeaves(_Pfc):
    """A time left in the register would be in the future again when the clock has wrapped."""

    def runTest(self) -> None:
        self.pause(10)
        self.assertNotEqual(self.queue_register("class_gate_open_at", PORT, LOSSLESS), 0)
        self.send(1, lossless())
        self.assertEqual(len(self.drained(PORT)), 1)
        self.assertEqual(self.queue_register("class_gate_open_at", PORT, LOSSLESS), 0)


class _Ignored(_Pfc):
    """A frame that changes no gate: a packet of the class leaves as if it had not arrived."""

    def without_effect(
        self, port: int, verdict: tuple[PacketClass, Verdict], counted: int, *frames: bytes
    ) -> None:
        """Checks each frame's verdict, and how often it is counted as ignored."""
        for frame in frames:
            with self.subTest(frame=frame.hex()):
                self.forget_counts()
                before = self.counted("control_ignored", port)
                self.send(port, frame)
                self.switch.advance(ms=1)
                self.send(1, lossless())
                self.assertEqual(len(self.drained(PORT)), 1)
                self.assertEqual(self.counted("control_ignored", port) - before, counted)
                self.assertEqual(self.verdicts(port)[verdict], 1)
                for priority in range(PRIORITIES):
                    gate = self.queue_register("class_gate_open_at", port, priority)
                    self.assertEqual(gate, 0, f"gate of priority {priority}")


_CONSUMED = ((PacketClass.CONTROL, Verdict.CONSUMED), 1)
_MALFORMED = ((PacketClass.OTHER, Verdict.MALFORMED), 0)
_OTHER_CLASSES = (packets.pfc({OTHER: 0xFFFF}), packets.pfc({LOSSLESS: 0xFFFF}, enabled=0))
_ELSEWHERE = packets.pfc({LOSSLESS: 0xFFFF}, dst="02:00:00:00:00:09")
_WITHOUT_EFFECT = {
    "PauseOfAClassThatIsNotLosslessHereIsIgnored": (PORT, *_CONSUMED, *_OTHER_CLASSES),
    "PauseOnAPortWithoutPfcIsIgnored": (3, *_CONSUMED, XOFF),
    "OtherMacControlIsIgnored": (PORT, *_CONSUMED, packets.mac_control(PORT)),
    "PauseThatIsCutShortIsMalformed": (PORT, *_MALFORMED, XOFF[:33], XOFF[:20], XOFF[:15]),
    "PauseToAnotherAddressIsMalformed": (PORT, *_MALFORMED, _ELSEWHERE),
}
globals().update(cases(__name__, _Ignored, _Ignored.without_effect, _WITHOUT_EFFECT))


class PausesAreHeardByTheirBitsObeyedOrNot(_Pfc):
    """Priority 3 is obeyed and 5 is not: counted by each frame's bits, unless the time is 0."""

    def runTest(self) -> None:
        for frame in (
            packets.pfc({LOSSLESS: 1, OTHER: 1}),
            packets.pfc({LOSSLESS: 1, OTHER: 0}),
            packets.pfc({OTHER: 0}),
            packets.pfc({OTHER: 0xFFFF}),
            packets.mac_control(PORT),
        ):
            self.send(PORT, frame)
        self.drain()
        heard = self.counted("pauses_received", PORT * PRIORITIES + OTHER)
        self.assertEqual((self.pauses(), heard), (2, 2))
        self.assertEqual(self.ignored(), 3)
        self.assertEqual(self.queue_register("class_gate_open_at", PORT, OTHER), 0)


class ShortestPauseIsObeyed(_Pfc):
    """34 bytes: without its padding."""

    def runTest(self) -> None:
        self.send(PORT, XOFF[:34])
        self.drain()
        self.assertEqual((self.pauses(), self.ignored()), (1, 0))
        self.assertNotEqual(self.queue_register("class_gate_open_at", PORT, LOSSLESS), 0)
        self.send(PORT, XON[:34])


class EachPriorityHasItsBitAndItsTime(_Pfc):
    """Every priority of a port where all may be paused, alone and with others."""

    def runTest(self) -> None:
        port = 3
        cells = range(port * PRIORITIES, (port + 1) * PRIORITIES)
        params = {"quantum_ticks_q16": 1 << 16, "priorities": 0xFF}
        self.table_add("port_pfc", {"port": port}, "obey_pauses", params)
        for priority in range(PRIORITIES):
            with self.subTest(priority=priority):
                self.send(port, packets.pfc({one: 0xFFFF if one == priority else 0 for one in range(8)}))
                self.drain()
                gates = [self.queue_register("class_gate_open_at", port, one) != 0 for one in range(8)]
                self.assertEqual(gates, [one == priority for one in range(8)])
        self.assertEqual([self.counted("pauses_received", cell) for cell in cells], [1] * PRIORITIES)


class PacketOutOfAPauseLeavesAsItIs(_Pfc):
    """The controller's own frame goes to the neighbour; this switch does not obey it."""

    def runTest(self) -> None:
        frame = packets.pfc({LOSSLESS: 0x1234, 7: 1})
        self.packet_out(PORT, frame)
        self.assert_frames(self.drained(PORT), [frame])
        self.assertEqual((self.pauses(), self.ignored()), (0, 0))
