"""Packet coalescing: the first packet that finds the port asleep starts a timer, and the port wakes when it
fires or when a trigger is reached, whichever is first. Departure times are exact to the tick (1 ns).

The timer starts at the first arrival even while the link is still in its sleep transition, and a sleep that
has begun is never aborted; this matters with Ts = 182 us of 1000BASE-T, which is longer than the 12 and 120
us of the papers.
"""

import random

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import cases
from ptf_tests.lib.eee import SLEEP_NS, WAKE_NS, Eee, EeeTest, predict
from ptf_tests.lib.packets import Ecn, PacketClass, Verdict
from ptf_tests.lib.ports import BYTE_NS, TICK_VALUES
from ptf_tests.lib.targets.base import SwitchOptions

HOLD = 120_000
SIZE = 500
_WIRE = (SIZE + 24) * BYTE_NS


def data(number: int, size: int = SIZE, to: int = 2, ecn: int = Ecn.NOT_ECT) -> bytes:
    """Returns data frame `number`, with this sequence number."""
    return packets.data(to, size=size, seq=number, ecn=ecn)


class _Holding(EeeTest):
    def send_at(self, *times: int, size: int = SIZE) -> list[bytes]:
        """Sends one frame at each time."""
        frames = [data(n, size) for n in range(len(times))]
        for time_ns, frame in zip(times, frames, strict=True):
            self.at(time_ns)
            self.send(1, frame)
        return frames


_ASLEEP = {
    "HoldByTimerReleasesAfterHoldAndWake": (Eee(hold=HOLD), [0], HOLD + WAKE_NS),
    # All held packets leave back to back when the gate opens, at a time that only the first arrival
    # determines.
    "HoldTimerIsNotRestartedByLaterArrivals": (
        Eee(hold=HOLD),
        [n * 20_000 for n in range(6)],
        HOLD + WAKE_NS,
    ),
    "HoldPacketTriggerWakesAtTheNthPacket": (
        Eee(hold=HOLD, trigger_packets=4),
        [n * 5_000 for n in range(4)],
        15_000 + WAKE_NS,
    ),
    "HoldPacketTriggerOneShortWaitsForTheTimer": (
        Eee(hold=HOLD, trigger_packets=4),
        [n * 5_000 for n in range(3)],
        HOLD + WAKE_NS,
    ),
    # The third packet comes while the link is already waking: the gate stays at the timer's time.
    "HoldTriggerAfterTheTimerChangesNothing": (
        Eee(hold=HOLD, trigger_packets=3),
        [0, 1_000, HOLD + 5_000],
        HOLD + WAKE_NS,
    ),
    # After the trigger the port wakes; three more packets during the wake do not move the gate again.
    "HoldTriggerReachedTwiceChangesNothing": (
        Eee(hold=HOLD, trigger_packets=3),
        [n * 2_000 for n in range(6)],
        4_000 + WAKE_NS,
    ),
    "HoldWithoutTriggersWaitsForTheTimerHoweverMuchComes": (Eee(hold=HOLD), [0] * 300, HOLD + WAKE_NS),
    # 1500 bytes: the third frame of 500 brings them up to exactly the trigger.
    "HoldByteTriggerWakesWhenEnoughBytesAreHeld": (
        Eee(hold=HOLD, trigger_bytes=3 * SIZE),
        [n * 5_000 for n in range(5)],
        10_000 + WAKE_NS,
    ),
    "HoldByteTriggerOneByteShortNeedsOneMore": (
        Eee(hold=HOLD, trigger_bytes=3 * SIZE + 1),
        [n * 5_000 for n in range(5)],
        15_000 + WAKE_NS,
    ),
    "HoldByteTriggerReachedByTheFirstPacketIsStandardEee": (Eee(hold=HOLD, trigger_bytes=SIZE), [0], WAKE_NS),
}
globals().update(cases(__name__, EeeTest, EeeTest.asleep_leaves, _ASLEEP))


_IDLE = {
    # Arrival 10 us into the transition: the timer fires at 130 us, the link is asleep at 182 us and wakes
    # at once.
    "HoldTimerRunsDuringTheSleepTransition": (Eee(hold=HOLD), [10_000], SLEEP_NS + WAKE_NS),
    # Arrival 100 us into the transition: the timer fires at 220 us, 38 us after the link fell asleep.
    "HoldTimerThatOutlastsTheSleepTransitionDecides": (Eee(hold=HOLD), [100_000], 100_000 + HOLD + WAKE_NS),
    "HoldWithinTheStallIsNoHold": (Eee(hold=HOLD, stall=30_000), [29_999], 29_999),
    "HoldBeginsWhenTheStallIsOver": (Eee(hold=300_000, stall=30_000), [30_000], 330_000 + WAKE_NS),
    # Three packets within the transition reach the trigger; the link cannot wake before it is asleep.
    "HoldTriggerInTheSleepTransitionWaitsForItsEnd": (
        Eee(hold=HOLD, trigger_packets=3),
        [100_000, 110_000, 120_000],
        SLEEP_NS + WAKE_NS,
    ),
}
globals().update(cases(__name__, EeeTest, EeeTest.idle_leaves, _IDLE))


class HoldTriggerOfOnePacketIsStandardEee(_Holding):
    def runTest(self) -> None:
        self.eee(Eee(hold=HOLD, trigger_packets=1))
        self.settings = Eee()  # priming the port must assume these: no hold
        self.asleep_since_long()
        self.leave([0], WAKE_NS)


class HoldWakesByWhicheverTriggerIsFirst(_Holding):
    """Ten packets or 1000 bytes: small packets reach the first trigger, large ones the second."""

    def runTest(self) -> None:
        now = self.asleep_with(Eee(hold=HOLD, trigger_packets=10, trigger_bytes=1000))
        self.send_at(*(now + n * 1_000 for n in range(10)), size=60)
        self.drain()
        self.assert_leaves(self.departures(2)[:1], [now + 9_000 + WAKE_NS], now)
        self.switch.advance(ms=1)
        self.leave([0, 1_000], 1_000 + WAKE_NS)


class HoldRegistersTellWhatIsHeld(_Holding):
    def runTest(self) -> None:
        now = self.asleep_with(Eee(hold=HOLD, trigger_packets=9))
        self.send_at(now, now + 1_000, now + 2_000)
        self.assertEqual(self.register("eee_state", 2), 1)
        self.assertEqual(self.register("held_packets", 2), 3)
        self.assertEqual(self.register("held_bytes", 2), 3 * SIZE)
        self.assertEqual(self.register("wake_start", 2), now + HOLD)
        self.assertEqual(self.register("gate_open_at", 2), now + HOLD + WAKE_NS)
        self.assertEqual(self.register("occupancy_bytes", 2), 3 * SIZE)
        self.drain()
        self.departures(2)
        for register in ("eee_state", "held_packets", "held_bytes", "gate_open_at"):
            self.assertEqual(self.register(register, 2), 0, register)


class HoldAccountsLpiAndWakes(_Holding):
    """By timer and by trigger: the time from asleep to the start of the wake."""

    def runTest(self) -> None:
        self.eee(Eee(hold=HOLD, trigger_packets=3))
        asleep = self.asleep_since_long()
        lpi, wakes = self.register("lpi_ticks", 2), self.register("wakes", 2)
        now = self.switch.now_ns
        self.send_at(now)
        self.drain()
        self.departures(2)
        lpi += now + HOLD - asleep
        self.assert_account("lpi_ticks", 2, lpi, 2 * self.late_ns)
        self.assertEqual(self.register("wakes", 2), wakes + 1)
        asleep = self.register("busy_until", 2) + SLEEP_NS
        now = self.switch.now_ns
        self.send_at(now, now + 1_000, now + 2_000)
        self.drain()
        self.departures(2)
        self.assert_account("lpi_ticks", 2, lpi + now + 2_000 - asleep, 2 * self.late_ns)
        self.assertEqual(self.register("wakes", 2), wakes + 2)


_SWITCHED_OFF = {
    # The gate opens at the planned time; no packet is stuck or overtaken, and the next one is not held.
    "HoldCanBeSwitchedOffWhilePacketsAreHeld": (Eee(hold=HOLD), HOLD + WAKE_NS),
}
globals().update(cases(__name__, EeeTest, EeeTest.switched_off_leaves, _SWITCHED_OFF))


class HoldFillsTheBufferAndTailDrops(_Holding):
    """Held bytes are queued bytes: the buffer limit applies to them, and the gate opens regardless."""

    def runTest(self) -> None:
        now = self.asleep_with(Eee(hold=HOLD))
        self.buffer_limit(2, 4 * SIZE)
        self.forget_counts()
        frames = [data(n) for n in range(7)]
        self.send(1, *frames)
        self.drain()
        left = self.departures(2)
        self.assert_frames(left, [packets.forwarded(frame, 2) for frame in frames[:4]])
        self.assert_leaves(left, [now + HOLD + WAKE_NS + n * _WIRE for n in range(4)], now)
        self.assertEqual(self.verdicts(2)[PacketClass.DATA, Verdict.TAIL_DROPPED], 3)


class HoldOutsideTheBufferDropsNothingAndLeavesItToWhatComesAfter(_Holding):
    """The buffer has space for two frames. Seven are held outside it. When they leave, two more fit, and
    still only two as the seven become fewer; `outside_bytes` is the part of the queue that is not in the
    buffer."""

    def runTest(self) -> None:
        now = self.asleep_with(Eee(hold=HOLD))
        self.buffer_limit(2, 2 * SIZE, "set_buffer_limit_beside_held")
        self.forget_counts()
        frames = [data(n) for n in range(14)]
        self.send(1, *frames[:7])
        self.assertEqual(self.register("outside_bytes", 2), 7 * SIZE)
        gate = now + HOLD + WAKE_NS
        self.at(gate + _WIRE // 2)
        self.assertEqual(self.register("outside_bytes", 2), 6 * SIZE)
        self.send(1, *frames[7:10])
        self.at(gate + 4 * _WIRE + _WIRE // 2)
        self.assertEqual(self.register("outside_bytes", 2), 2 * SIZE)
        self.send(1, frames[10])
        # Of those that came after the hold one is on the wire, and there is space for one.
        self.at(gate + 7 * _WIRE + _WIRE // 2)
        self.assertEqual(self.register("outside_bytes", 2), 0)
        self.send(1, *frames[11:])
        self.drain()
        kept = [*frames[:9], frames[11]]
        left = self.departures(2)
        self.assert_frames(left, [packets.forwarded(frame, 2) for frame in kept])
        self.assert_leaves(left, [gate + n * _WIRE for n in range(10)], now)
        self.assertEqual(self.verdicts(2)[PacketClass.DATA, Verdict.TAIL_DROPPED], 4)


class HoldDroppedPacketsDoNotCountForTheTrigger(_Holding):
    """Two frames fit the buffer; eight more are dropped. The trigger of five packets is never reached."""

    def runTest(self) -> None:
        now = self.asleep_with(Eee(hold=HOLD, trigger_packets=5))
        self.buffer_limit(2, 2 * SIZE)
        self.send(1, *(data(n) for n in range(10)))
        self.drain()
        gate = now + HOLD + WAKE_NS
        self.assert_leaves(self.departures(2), [gate, gate + _WIRE], now)


class _Marking(_Holding):
    """The marking threshold applies to held bytes as to any other queue, or to those that are left behind."""

    def marks(self, dequeue: bool, ecn: list[Ecn]) -> None:
        self.asleep_with(Eee(hold=HOLD))
        self.mark_threshold(2, 3 * SIZE, dequeue=dequeue)
        self.send(1, *(data(n, ecn=Ecn.ECT0) for n in range(8)))
        self.drain()
        self.assertEqual([d.ecn for d in self.departures(2)], ecn)


_MARKS = {
    "HoldMarksByWhatIsHeld": (False, [Ecn.ECT0] * 4 + [Ecn.CE] * 4),
    "HoldMarksAtDequeueByWhatIsLeftBehind": (True, [Ecn.CE] * 4 + [Ecn.ECT0] * 4),
}
globals().update(cases(__name__, _Marking, _Marking.marks, _MARKS))


class HoldsOfTwoPortsRunByThemselves(_Holding):
    def runTest(self) -> None:
        self.eee(Eee(hold=2 * HOLD), port=3)
        self.eee(Eee(hold=HOLD), port=2)
        self.drain()
        now = self.switch.now_ns
        self.send(1, data(0, to=3))
        self.at(now + 7_000)
        self.send(1, data(1, to=2), data(2, to=4))
        self.drain()
        self.assert_leaves(self.departures(2), [now + 7_000 + HOLD + WAKE_NS], now)
        self.assert_leaves(self.departures(3), [now + 2 * HOLD + WAKE_NS], now)
        self.assert_leaves(self.departures(4), [now + 7_000], now)


class HoldSurvivesTheWrapOfTheClock(_Holding):
    """48-bit ticks wrap after 78 hours of nanoseconds. The wrap is during a hold; the port's last frame was a
    day before."""

    options = SwitchOptions(clock_start_ns=2**47 - 1_000_000)

    def runTest(self) -> None:
        self.eee(Eee(hold=HOLD))
        self.prime()
        self.at(2**47 + 2**46)
        self.prime()
        self.at(TICK_VALUES - 50_000)
        for _ in range(2):
            self.leave([0], HOLD + WAKE_NS)


class HoldFirstPacketAfterDaysIsHeld(_Holding):
    """Idle for 45 hours, more than half of the clock's period: the port sleeps, and continues to do so."""

    def runTest(self) -> None:
        self.eee(Eee(hold=HOLD))
        self.prime()
        for pause in (45 * 3600 * 10**9, 10**6):
            self.at(self.switch.now_ns + pause)
            self.leave([0], HOLD + WAKE_NS)


class HoldFollowsTheModelUnderRandomTraffic(_Holding):
    """Twelve settings, each with 120 random arrivals in bursts and gaps: every departure, the LPI account and
    the wakes equal those of the model (lib/eee.py)."""

    needs_gate = True

    def runTest(self) -> None:
        random_source = random.Random(20)
        for trial in range(12):
            settings = Eee(
                sleep=random_source.choice((2_880, 182_000)),
                wake=random_source.choice((4_480, 16_500)),
                stall=random_source.choice((0, 20_000)),
                hold=random_source.choice((0, 12_000, 120_000)),
                trigger_packets=random_source.choice((0, 3, 10)),
                trigger_bytes=random_source.choice((0, 4_000)),
            )
            with self.subTest(trial=trial, settings=settings):
                self.follow(settings, random_source)

    def follow(self, settings: Eee, random_source: random.Random) -> None:
        """Runs the traffic with one setting and compares."""
        port = 2
        self.eee(settings)
        self.send(1, data(0))
        self.drain()
        self.departures(port)
        idle = self.register("busy_until", port)
        lpi, wakes = self.register("lpi_ticks", port), self.register("wakes", port)
        arrivals = []
        time_ns = self.switch.now_ns
        for number in range(120):
            time_ns += random_source.choice((0, 300, 5_000, 30_000, 250_000))
            size = random_source.choice((60, 500, 1514))
            self.at(time_ns)
            self.send(1, data(number, size))
            arrivals.append((time_ns, size))
        self.drain()
        expected = predict(settings, arrivals, idle)
        left = self.departures(port)
        self.assertEqual([int.from_bytes(d.frame[38:42], "big") for d in left], list(range(120)), "order")
        self.assertEqual(
            [d.at_ns - arrivals[0][0] for d in left], [t - arrivals[0][0] for t in expected.departures]
        )
        self.assertEqual(self.register("lpi_ticks", port) - lpi, expected.lpi_ns)
        self.assertEqual(self.register("wakes", port) - wakes, expected.wakes)
