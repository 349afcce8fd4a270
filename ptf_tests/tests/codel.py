"""CoDel (RFC 8289): which packets are marked or dropped at departure, and when.

The expectation comes from a plain CoDel, the RFC's loop with real square roots (`lib/codel.py`), given only
the arrivals: departures are compared to the nanosecond and fates packet by packet. A byte takes 8 ns at a
port; in a burst of equal frames behind a plug, each frame therefore waits one frame's time longer than the
one before.

`CodelInRealTime` is for targets whose clock the test does not control: a plugged port, and ranges.
"""

import random
from collections import Counter
from collections.abc import Sequence
from math import sqrt

from finsy import P4RegisterEntry

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import Departure, FabricTest, cases, virtual_time_only
from ptf_tests.lib.codel import Codel, Fate, Packet, Port, Takes
from ptf_tests.lib.eee import Eee, EeeTest
from ptf_tests.lib.packets import Ecn, Verdict
from ptf_tests.lib.ports import BYTE_NS, PRIORITIES, ROUND_NS
from ptf_tests.lib.targets.base import SwitchOptions

SIZE = 1000
FRAME_NS = (SIZE + 24) * BYTE_NS
PORT = 2

# Kinds of packets that the tests mix: (how to build it, TCP flags or None, class).
_DATA, _ACK, _ACK_ECE, _SYN_ECE = range(4)

Arrivals = Sequence[tuple[int, int, int, int]]
"""Time, kind, size and ECN of each."""

_ECT_MODE, _ECE_MODE, _ACK_SYN_MODE = range(3)
_SPARED = {_ECT_MODE: set(), _ECE_MODE: {_ACK_ECE, _SYN_ECE}, _ACK_SYN_MODE: {_ACK, _ACK_ECE, _SYN_ECE}}


def frame(number: int, kind: int = _DATA, size: int = SIZE, ecn: int = Ecn.NOT_ECT) -> bytes:
    """Returns a frame with its number where `numbers` finds it, of `size` bytes or its minimum."""
    if kind == _DATA:
        return packets.data(PORT, size=size, seq=number, ecn=ecn)
    flags = {_ACK: "A", _ACK_ECE: "AE", _SYN_ECE: "SEC"}[kind]
    return packets.tcp(PORT, flags=flags, seq=number, ecn=ecn, pad_to=60)


def takes(settings: Codel, kind: int, ecn: int) -> Takes:
    """Returns how a packet takes a signal, by the settings of its port."""
    if settings.ecn and ecn != Ecn.NOT_ECT:
        return Takes.CARRIED if ecn == Ecn.CE else Takes.MARK
    return Takes.NONE if kind in _SPARED[settings.protect] else Takes.DROP


def number_of(departure: Departure) -> int:
    """Returns the number in a TCP frame over IPv4."""
    return int.from_bytes(departure.frame[38:42], "big")


class _Codel(FabricTest):
    def codel(self, settings: Codel) -> None:
        """Puts port 2 under CoDel, or gives it other settings."""
        self.aqm = settings
        self.table_add("port_aqm", {"port": PORT}, "codel", settings.params(self.switch.tick_ns))

    def send_at_their_times(self, arrivals: Arrivals, opens_at: int = 0) -> Port:
        """Sends (time, kind, size, ECN), drains all, and returns the port of the plain CoDel after the
        same."""
        packets_sent = []
        for number, (at, kind, size, ecn) in enumerate(arrivals):
            bytes_of = frame(number, kind, size, ecn)
            packets_sent.append(Packet(number, at, len(bytes_of), takes(self.aqm, kind, ecn)))
            self.at(at)
            self.send(1, bytes_of)
        self.drain()
        plain = Port(self.aqm, opens_at)
        plain.run(packets_sent)
        return plain

    def offer(self, arrivals: Arrivals, opens_at: int = 0) -> Port:
        """Sends these packets, and compares all with the plain CoDel, whose port it returns."""
        before = self._verdict_totals()
        plain = self.send_at_their_times(arrivals, opens_at)
        left = self.departures(PORT)
        self.assertEqual(
            [(number_of(d), d.at_ns) for d in left], plain.sent_at, "number and time of each packet that left"
        )
        for departure in left:
            number = number_of(departure)
            came_with = arrivals[number][3]
            wanted = Ecn.CE if plain.fates[number] is Fate.MARKED else came_with
            self.assertEqual(departure.ecn, wanted, f"ECN of packet {number}")
        fates = list(plain.fates.values())
        given = self._verdict_totals()
        given.subtract(before)
        self.assertEqual(given[Verdict.FORWARDED], fates.count(Fate.SENT))
        self.assertEqual(given[Verdict.MARKED], fates.count(Fate.MARKED))
        self.assertEqual(given[Verdict.EARLY_DROPPED], fates.count(Fate.DROPPED))
        return plain

    def burst_of(self, count: int, kind: int = _DATA, ecn: int = Ecn.NOT_ECT) -> Port:
        """Offers `count` equal packets at the same time."""
        start = self.switch.now_ns + 1_000
        return self.offer([(start, kind, SIZE, ecn)] * count)

    def _verdict_totals(self) -> Counter[Verdict]:
        totals: Counter[Verdict] = Counter()
        for (_, verdict), count in self.verdicts(PORT).items():
            totals[verdict] += count
        return totals


@virtual_time_only
class _Burst(_Codel):
    """A burst of equal packets: packet n waits n frames' time."""

    def no_signal(self, settings: Codel, count: int) -> None:
        self.codel(settings)
        self.assertEqual(self.burst_of(count).signals, [])

    def first_drop(self, settings: Codel, count: int, number: int) -> None:
        """Checks that this is the first packet that is dropped."""
        self.codel(settings)
        fates = self.burst_of(count).fates
        self.assertEqual([fates[n] for n in range(number + 1)], [Fate.SENT] * number + [Fate.DROPPED])


_SOON = Codel(target=2 * FRAME_NS, interval=3 * FRAME_NS - 77)
_NO_SIGNAL = {
    # The last of ten waits nine frames' time, a nanosecond less than the target.
    "CodelBelowTheTargetDoesNothing": (Codel(target=9 * FRAME_NS + 1, interval=1), 10),
    # Packets wait far longer than target and interval; the third of four leaves exactly `mtu` behind.
    "CodelRestsWithAnMtuOrLessLeft": (Codel(target=1, interval=1, mtu=SIZE), 4),
}
globals().update(cases(__name__, _Burst, _Burst.no_signal, _NO_SIGNAL))

_FIRST_DROP = {
    # Packet 2 is the first above the target, and packet 5 the first to leave an interval later.
    "CodelDropsWhatIsLateForAnInterval": (_SOON, 9, 5),
    # An `mtu` one byte smaller: two packets are above it for longer than the interval.
    "CodelJudgesTheBytesLeftNotThePackets": (Codel(target=1, interval=1, mtu=SIZE - 1), 5, 2),
}
globals().update(cases(__name__, _Burst, _Burst.first_drop, _FIRST_DROP))


@virtual_time_only
class CodelLetsCeThroughAsASignalThatWasGiven(_Codel):
    """CE stays, is not counted as a mark, and the next signal is due at the same time as after a mark."""

    def runTest(self) -> None:
        self.codel(Codel(target=2 * FRAME_NS, interval=12 * FRAME_NS - 77))
        start = self.switch.now_ns + 1_000
        plain = self.offer([(start, _DATA, SIZE, Ecn.CE if n % 2 else Ecn.ECT0) for n in range(120)])
        self.assertGreater(len(plain.signals), list(plain.fates.values()).count(Fate.MARKED))


@virtual_time_only
class CodelSignalsByItsControlLaw(_Codel):
    """In a queue that stays above the target, the nth signal comes interval / sqrt(n) after the previous one,
    to within one packet."""

    def runTest(self) -> None:
        interval = 12 * FRAME_NS - 77
        self.codel(Codel(target=FRAME_NS, interval=interval))
        signals = self.burst_of(400, ecn=Ecn.ECT0).signals
        due = float(signals[0])
        self.assertGreater(len(signals), 200)
        for count, signal in enumerate(signals[1:], start=1):
            due += interval / sqrt(count)
            if interval / sqrt(count) < FRAME_NS:
                break  # More signals are due than packets leave.
            self.assertTrue(-1 <= signal - due <= FRAME_NS, f"signal {count + 1}: {signal - due} ns late")
        self.assertGreater(count, 100)


@virtual_time_only
class CodelStartsFromItsLastCountSoonAfter(_Codel):
    """Two long queues within sixteen intervals, and a third much later. The second starts with the count
    reached in the first, the third with one."""

    def runTest(self) -> None:
        interval = 10 * FRAME_NS - 77
        self.codel(Codel(target=FRAME_NS, interval=interval))
        start = self.switch.now_ns + 1_000
        first = [(start, _DATA, SIZE, Ecn.ECT0)] * 200
        again = [(start + 205 * FRAME_NS, _DATA, SIZE, Ecn.ECT0)] * 100
        later = [(start + 205 * FRAME_NS + 400 * FRAME_NS, _DATA, SIZE, Ecn.ECT0)] * 100
        plain = self.offer(first + again + later)
        second = [s for s in plain.signals if start + 205 * FRAME_NS <= s < start + 305 * FRAME_NS]
        third = [s for s in plain.signals if s >= start + 605 * FRAME_NS]
        self.assertGreater(len(second), len(third) + 20)
        self.assertEqual(self.queue_register("codel_last_count", PORT), 1)
        self.assertEqual(self.queue_register("codel_count", PORT), plain.count)


@virtual_time_only
class CodelGivesASparedPacketsSignalToTheNext(_Codel):
    """When the first signal is due ACKs leave, and the first data packet after them gets it, and only this
    one signal, however long the ACKs took."""

    def runTest(self) -> None:
        self.codel(Codel(target=FRAME_NS, interval=2 * FRAME_NS - 77, protect=_ACK_SYN_MODE))
        start = self.switch.now_ns + 1_000
        kinds = [_DATA] * 2 + [_ACK] * 60 + [_DATA] * 12
        plain = self.offer([(start, kind, SIZE, Ecn.NOT_ECT) for kind in kinds])
        self.assertEqual(plain.fates[62], Fate.DROPPED)
        self.assertEqual(plain.fates[63], Fate.SENT)


@virtual_time_only
class CodelFollowsThePlainOneUnderRandomTraffic(_Codel):
    """Sixteen settings, each with 200 random arrivals of all kinds: every departure, to the nanosecond, and
    every fate equal those of the plain CoDel."""

    trials = 16

    def runTest(self) -> None:
        source = random.Random(8289)
        signals = 0
        for trial in range(self.trials):
            settings = Codel(
                target=source.choice((1, 2, 5)) * FRAME_NS + source.randrange(1_000),
                interval=source.choice((2, 4, 10)) * FRAME_NS + source.randrange(1_000),
                mtu=source.choice((0, SIZE, 1514)),
                ecn=source.random() < 0.6,
                protect=source.randrange(3),
            )
            with self.subTest(trial=trial, settings=settings):
                self.codel(settings)
                # The port has been idle for long, but its counts persist: start both from zero.
                for register in ("codel_count", "codel_last_count", "codel_drop_next", "codel_state"):
                    write_register(self, register, 0)
                signals += len(self.offer(self.arrivals(source)).signals)
        self.assertGreater(signals, 8 * self.trials)

    def arrivals(self, source: random.Random) -> Arrivals:
        """Returns bursts and gaps, above and below the port's rate."""
        now = self.switch.now_ns + 1_000_000
        found = []
        busy = True
        for _ in range(200):
            if source.random() < 0.02:
                busy = not busy
            now += source.choice((0, 0, 500, 3_000)) if busy else source.choice((3_000, 9_000, 40_000))
            kind = source.choice((_DATA, _DATA, _DATA, _ACK, _ACK_ECE, _SYN_ECE))
            size = source.choice((200, SIZE, 1514))
            ecn = source.choice((Ecn.NOT_ECT, Ecn.ECT0, Ecn.ECT0, Ecn.ECT1, Ecn.CE))
            found.append((now, kind, size, ecn))
        return found


def write_register(test: FabricTest, name: str, value: int) -> None:
    """Writes the cell of port 2 over P4Runtime, which the engine supports."""
    test.client.write("MODIFY", P4RegisterEntry(name, index=PORT * PRIORITIES, data=value))


@virtual_time_only
class CodelControlLawIsAccurateForEveryCount(_Codel):
    """interval / sqrt(count) to the nearest tick, and 2^-28 of it. Counts from 1 to 2^32 - 1, intervals
    up to the largest."""

    def runTest(self) -> None:
        source = random.Random(5)
        counts = [*range(1, 34), *(2**n + d for n in range(6, 32, 2) for d in (-1, 0, 1)), 2**32 - 1]
        counts += [source.randrange(1, 2 ** source.randrange(2, 33)) for _ in range(20)]
        for interval in (1_000_000, 100_000_000, 2**32 - 1):
            self.codel(Codel(target=1, interval=interval, mtu=0))
            for count in counts:
                # A port that has just dropped: the second of three packets schedules the next signal.
                base = self.switch.now_ns + 2**35
                write_register(self, "codel_count", count)
                write_register(self, "codel_drop_next", base)
                self.send(1, *(packets.udp(PORT, payload=20) for _ in range(3)))
                write_register(self, "codel_state", 3)
                self.drained(PORT)
                step = self.queue_register("codel_drop_next", PORT) - base
                exact = interval / sqrt(count)
                self.assertTrue(
                    abs(step - exact) <= 0.5 + exact * 2**-28,
                    f"interval {interval}, count {count}: {step}, exact {exact}",
                )


class _CodelBehindAHold(EeeTest, _Codel):
    """Port 2 sleeps; a queue builds up during the hold, which counts as sojourn time. (`settings` are EEE's,
    `aqm` CoDel's.)"""

    def held_burst(self) -> tuple[Arrivals, int]:
        """Returns 300 arrivals, starting after a long sleep of the port, and when its gate opens."""
        self.asleep_since_long()
        start = self.switch.now_ns + 100_000
        arrivals = [(start + 900 * n, _DATA, SIZE, (Ecn.NOT_ECT, Ecn.ECT0)[n % 3 == 0]) for n in range(300)]
        return arrivals, start + self.settings.hold + self.settings.wake

    def prepare(self, codel: Codel) -> None:
        """Sets EEE with a hold of 500 us and a stall long enough to prevent another sleep, and CoDel."""
        self.eee(Eee(hold=500_000, stall=100_000))
        self.codel(codel)


class CodelCountsTheHoldAsSojourn(_CodelBehindAHold):
    """Held packets are late by their hold: the first one that leaves starts the interval, signals begin an
    interval later, and all departures after the gate equal those of the plain CoDel."""

    def runTest(self) -> None:
        self.prepare(Codel(target=200_000, interval=100_000))
        arrivals, gate = self.held_burst()
        plain = self.offer(arrivals, gate)
        self.assertGreater(len(plain.signals), 20)
        self.assertGreaterEqual(plain.signals[0], gate + 100_000)
        self.assertLess(plain.signals[0], gate + 100_000 + FRAME_NS)
        self.assertEqual(self.register("wakes", PORT), 2)
        # A dropped packet takes no time on the wire, so it does not postpone the next sleep.
        self.assertEqual(self.register("busy_until", PORT), plain.wire_free)


class CodelOfPacketsThatGoRoundSignalsAsMuch(_CodelBehindAHold):
    """Without a gate the packets recirculate until it opens, and after a drop the next one may still be
    recirculating, so departures are late by up to one recirculation each and the signals reach other packets.
    Their number is that of the plain CoDel, within a tenth; only permitted packets get them; order, tickets
    and accounts are kept."""

    options = SwitchOptions(gate=False)
    late_ns = ROUND_NS

    def runTest(self) -> None:
        self.prepare(Codel(target=200_000, interval=100_000))
        arrivals, gate = self.held_burst()
        plain = self.send_at_their_times(arrivals, gate)
        left = self.departures(PORT)
        numbers = [number_of(d) for d in left]
        self.assertEqual(numbers, sorted(numbers), "order")
        marked = {number_of(d) for d in left if d.ecn == Ecn.CE}
        dropped = set(range(len(arrivals))) - set(numbers)
        ect = {n for n, (_, _, _, ecn) in enumerate(arrivals) if ecn == Ecn.ECT0}
        self.assertTrue(marked <= ect)
        self.assertTrue(dropped.isdisjoint(ect))
        self.assertGreater(len(plain.signals), 20)
        self.assertAlmostEqual(len(marked) + len(dropped), len(plain.signals), delta=len(plain.signals) / 10)
        given, served = (self.queue_register(name, PORT) for name in ("ticket_next", "ticket_serving"))
        self.assertEqual(given, served)


class CodelOfPacketsThatGoRoundCountsFromTheirAdmission(_CodelBehindAHold):
    """Ten packets that are held for less than the target are never late, however often they recirculated."""

    options = SwitchOptions(gate=False)
    late_ns = ROUND_NS

    def runTest(self) -> None:
        self.prepare(Codel(target=700_000, interval=1_000))
        arrivals, _ = self.held_burst()
        self.send_at_their_times(arrivals[:10])
        self.assertEqual([number_of(d) for d in self.departures(PORT)], list(range(10)))


class _InRealTime(FabricTest):
    """Thirty packets behind a plug: packet n waits about n packet times. With a target of one and a half and
    an interval of four, the first signal comes about the sixth packet; by the law there are 14 in all. On the
    engine, packet times are exact and so is the count; in real time a plugged port is only roughly
    regular."""

    def signals(self, ecn: Ecn, verdict: Verdict, least: int) -> None:
        """Checks that about as many packets get CE, or are dropped, and that they are counted."""
        spacing = self.switch.plugged_packet_ns or FRAME_NS
        settings = Codel(target=3 * spacing // 2, interval=4 * spacing)
        self.table_add("port_aqm", {"port": PORT}, "codel", settings.params(self.switch.tick_ns))
        left = self.burst(PORT, [frame(n, ecn=ecn) for n in range(30)])
        untouched = {number_of(d) for d in left if d.ecn == ecn}
        signalled = sorted(set(range(30)) - untouched)
        kept = range(30) if verdict is Verdict.MARKED else sorted(untouched)
        self.assertEqual([number_of(d) for d in left], list(kept))
        self.assertTrue(signalled and 4 <= signalled[0] <= 8, signalled)
        self.assertTrue(least <= len(signalled) <= 18, signalled)
        self.assertNotIn(29, signalled, "the last packet leaves nothing behind")
        self.assert_data(PORT, {verdict: len(signalled), Verdict.FORWARDED: len(untouched)})


_IN_REAL_TIME = {
    "CodelInRealTime": (Ecn.ECT0, Verdict.MARKED, 8),
    "CodelDropsInRealTime": (Ecn.NOT_ECT, Verdict.EARLY_DROPPED, 4),
}
globals().update(cases(__name__, _InRealTime, _InRealTime.signals, _IN_REAL_TIME))
