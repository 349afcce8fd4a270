"""RED: nothing below `min`, everything at and above `max`, a straight line of probability between them.

Thresholds are compared with the queue a packet finds (itself excluded): instantaneous, or an average with
weight 2^-average_shift. ECT packets are marked; Not-ECT are dropped instead, unless protected
(protection.py). A statistical case compares a count with the sum of the probabilities at the depths that were
met, and allows five standard deviations; the switch's random numbers are seeded, so a case that passes once
always passes.
"""

import random
from collections.abc import Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Any

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import PLUG_BYTES, MarkingTest, cases, virtual_time_only
from ptf_tests.lib.packets import Ecn, Verdict
from ptf_tests.lib.ports import NUMBERS

SIZE = 500
_SIGMAS = 5.0
_AFTER_NS = 10_000
_AVERAGE_ONE = 1 << NUMBERS["constants"]["RED_DEPTH_BITS"]


ect = partial(packets.numbered, size=SIZE, ecn=Ecn.ECT0)
not_ect = partial(packets.numbered, size=SIZE)


class _Left(MarkingTest):
    def leave(
        self,
        settings: Mapping[str, Any],
        frames: Sequence[bytes],
        left: Sequence[bytes],
        counted: Mapping[Verdict, int],
    ) -> None:
        """Sets RED at port 2, and checks which frames of a burst leave, and what is counted."""
        self.red(2, **settings)
        self.assert_frames(self.burst(2, frames), left)
        self.assert_data(2, counted)


def _forwarded(frames: Sequence[bytes], ecn: int | None = None) -> list[bytes]:
    return [packets.forwarded(frame, 2, ecn=ecn) for frame in frames]


def _step(limit: int, **more: object) -> dict[str, object]:
    """Returns settings whose `min` is their `max`."""
    return {"low": limit, "high": limit, **more}


_FULL = _step(5 * SIZE)
_DROPPED = {Verdict.FORWARDED: 5, Verdict.EARLY_DROPPED: 15}
_MARKED_SEVEN = {Verdict.FORWARDED: 5, Verdict.MARKED: 7}
_CE = ect(10, ecn=Ecn.CE)
_IPV6 = ect(12, ipv6=True, dscp=46)
_LEFT = {
    "RedBelowMinNeverDrops": (
        *({"low": 9 * SIZE + 1, "high": 20 * SIZE}, not_ect(10)),
        *(_forwarded(not_ect(10)), {Verdict.FORWARDED: 10}),
    ),
    # Frames 0 to 4 find 0 to 4 frames and stay; every later one finds exactly `max` and is dropped, so the
    # queue stays at `max`.
    "RedAboveMaxDropsNotEct": (_FULL, not_ect(20), _forwarded(not_ect(5)), _DROPPED),
    # Without ECN an ECT packet is treated like any other: dropped where it would have been marked.
    "RedWithEcnOffDropsEctToo": (_step(5 * SIZE, ecn=False), ect(20), _forwarded(ect(5)), _DROPPED),
    "RedMarksIpv6AndChangesNothingElse": (
        *(_FULL, _IPV6),
        *(_forwarded(_IPV6[:5]) + _forwarded(_IPV6[5:], Ecn.CE), _MARKED_SEVEN),
    ),
    "RedMarksAreCounted": (
        *(_FULL, ect(12)),
        *(_forwarded(ect(12)[:5]) + _forwarded(ect(12)[5:], Ecn.CE), _MARKED_SEVEN),
    ),
    # Above `max`, a packet that already has CE is neither dropped nor cleared.
    "RedKeepsCe": (_step(SIZE), _CE, _forwarded(_CE), {Verdict.FORWARDED: 10}),
}
globals().update(cases(__name__, _Left, _Left.leave, _LEFT))


class RedInPacketsCountsPackets(MarkingTest):
    """Thresholds of five packets: 54-byte ACKs and full frames count the same."""

    def runTest(self) -> None:
        self.red(2, low=5, high=5, in_packets=True)
        small = [packets.tcp(2, flags="A", ecn=Ecn.ECT0, seq=n) for n in range(10)]
        self.assertEqual(self.marks(small), [*range(5, 10)])
        self.assertEqual(self.marks(ect(10, size=1500)), [*range(5, 10)])


_MARKED = {
    # The last of ten frames finds nine, one byte less than `min`.
    "RedBelowMinNeverMarks": ({"low": 9 * SIZE + 1, "high": 20 * SIZE}, ect(10), range(0)),
    # `max` is inclusive: the frame that finds exactly `max` bytes is marked. With min = max it has no
    # slope.
    "RedAtMaxAlwaysMarks": (_FULL, ect(10), range(5, 10)),
    "RedOneByteBelowMaxIsNotAlwaysMarked": (_step(5 * SIZE + 1), ect(10), range(6, 10)),
    # Between the thresholds almost nothing is marked (one in a million), above them everything is.
    "RedAboveMaxMarksEvenWithATinyProbability": (
        {"low": 0, "high": 10 * SIZE, "probability": 1e-6},
        ect(40),
        range(10, 40),
    ),
    "RedMarksEct1AsEct0": (_step(2 * SIZE), ect(5, ecn=Ecn.ECT1), range(2, 5)),
    # Thresholds of 2500 bytes: five 500-byte frames, or 46 of 54 bytes and part of one more.
    "RedInBytesCountsBytes": (
        _step(2500),
        [packets.tcp(2, flags="A", ecn=Ecn.ECT0, seq=n) for n in range(60)],
        range(47, 60),
    ),
    # Weight 1/512: a burst of 40 frames moves the average by less than two frames, so a `max` of five
    # frames that the instantaneous queue passes eightfold marks nothing (Floyd and Jacobson 1993, section
    # 4).
    "RedAveragedToleratesABurst": (_step(5 * SIZE, average_shift=9), ect(40), range(0)),
}
globals().update(cases(__name__, MarkingTest, MarkingTest.red_marks, _MARKED))


class _RedIdle(MarkingTest):
    """Weight 1/2, and thresholds that are never reached."""

    def idle_red(self, halvings: int, shift: int) -> None:
        """Sets RED; while the port is idle the average halves in 2^(16 + shift) / halvings ticks."""
        self.red(2, low=2**31, high=2**31, average_shift=1, idle_halvings=halvings, idle_shift=shift)

    def fill(self) -> int:
        """Sends a burst that leaves an average, and waits until the queue has been empty for 10 us. Returns
        the average in the register."""
        self.drain()
        self.plug(2)
        self.send(1, *ect(8))
        self.switch.advance(ns=self.wire_ns(PLUG_BYTES) + 7 * self.wire_ns(SIZE) + _AFTER_NS)
        return self.queue_register("red_average", 2)

    def after(self, ticks: int) -> float:
        """Returns the rest of the average when a frame arrives `ticks` after the last departure: the frame
        finds nothing, which halves the rest."""
        since = self.register("busy_until", 2)
        self.at((since + ticks) * self.switch.tick_ns)
        self.send(1, ect(1)[0])
        return 2 * self.queue_register("red_average", 2)


@virtual_time_only
class RedIdleAverageHalves(_RedIdle):
    """After one, two and five half-lives of 2^24 ticks, a half, a quarter and a 32nd are left, to the bit."""

    def runTest(self) -> None:
        self.idle_red(halvings=2**15, shift=23)
        for lives in (1, 2, 5):
            average = self.fill()
            self.assertAlmostEqual(
                self.after(lives << 24), average / 2**lives, delta=2, msg=f"{lives} half-lives"
            )


@virtual_time_only
class RedIdleAverageDecaysAsAnExponential(_RedIdle):
    """Sixty idle times from zero to forty half-lives, for six half-lives: 2^-x of the average is left, to 0.3
    % and a 2^-15th of a byte."""

    def runTest(self) -> None:
        source = random.Random(11)
        for halvings, shift in ((2**15, 20), (65_535, 20), (40_000, 22), (1, 5), (12_345, 24), (50_000, 19)):
            self.idle_red(halvings, shift)
            life = 2 ** (16 + shift) / halvings
            for _ in range(10):
                average = self.fill()
                lives = source.choice((source.uniform(0, 2), source.uniform(0, 40)))
                ticks = max(_AFTER_NS, round(life * lives))
                wanted = average * 0.5 ** (ticks / life)
                self.assertAlmostEqual(
                    self.after(ticks),
                    wanted,
                    delta=0.003 * wanted + _AVERAGE_ONE / 2**15,
                    msg=f"{ticks} ticks, half-life {life}",
                )


@virtual_time_only
class RedIdleAverageIsForgotten(_RedIdle):
    """After 64 half-lives of 1 us nothing is left, nor after 9 minutes, half a billion of them."""

    def runTest(self) -> None:
        self.idle_red(halvings=65_535, shift=10)
        for ticks in (65_540, 1 << 39):
            self.fill()
            self.assertEqual(self.after(ticks), 0, f"{ticks} ticks")


@virtual_time_only
class RedAverageOfABusyPortDoesNotAge(_RedIdle):
    """Frames that find others queued change the average only by the weight, regardless of the half-life."""

    def runTest(self) -> None:
        self.idle_red(halvings=65_535, shift=0)
        self.plug(2)
        self.send(1, ect(1)[0])
        average = 0.0
        for n in range(1, 20):
            self.switch.advance(ns=self.wire_ns(PLUG_BYTES) // 40)
            self.send(1, ect(1)[0])
            average += (n * SIZE - average) / 2
            found = self.queue_register("red_average", 2) / _AVERAGE_ONE
            self.assertAlmostEqual(found, average, delta=0.001, msg=f"frame {n}")


class RedForgetsWhileIdleInRealTime(_RedIdle):
    """With a half-life of 4 ms a burst's average is gone after 400 ms; without ageing it stays. On a slow
    target in real time the idle time is only longer."""

    def runTest(self) -> None:
        ticks = 4_000_000 // self.switch.tick_ns
        shift = 11
        for halvings, forgotten in ((2 ** (16 + shift) // ticks, True), (0, False)):
            self.red(
                2, low=2 * SIZE, high=2 * SIZE, average_shift=1, idle_halvings=halvings, idle_shift=shift
            )
            self.marks(ect(30))
            self.switch.advance(ms=400)
            average = self.queue_register("red_average", 2)
            self.assertGreater(average, SIZE * _AVERAGE_ONE, "the burst has left an average")
            self.send(1, ect(1)[0])
            left = self.drained(2)
            self.assertEqual([one.ecn == Ecn.CE for one in left], [not forgotten])


@virtual_time_only
class RedBySizeSparesSmallPackets(MarkingTest):
    """ns-2's byte mode: below `max` a packet's probability is proportional to its size. With a mean of 500
    bytes, frames of 500 bytes have the probability of the line, and ACKs of 60 bytes an eighth of it."""

    def runTest(self) -> None:
        steps, bursts = 20, 80
        high = 4 * steps * SIZE
        self.red(2, low=0, high=high, mean_bytes=SIZE, ecn=False)
        met = {SIZE: 0.0, 60: 0.0}
        lost = {SIZE: 0, 60: 0}
        for _ in range(bursts):
            acks = [packets.tcp(2, flags="A", seq=n, pad_to=60) for n in range(steps)]
            pairs = zip(not_ect(steps), acks, strict=True)
            stayed = [len(one.frame) for one in self.burst(2, [frame for pair in pairs for frame in pair])]
            found = 0
            for size in stayed:
                met[size] += found / high * size / SIZE
                found += size
            for size in lost:
                lost[size] += steps - stayed.count(size)
        for size, chances in met.items():
            # `chances` is the sum over those that stayed; the dropped ones met the same queues.
            wanted = chances / (1 - chances / (bursts * steps))
            self.assertAlmostEqual(lost[size], wanted, delta=_SIGMAS * sqrt(wanted) + 0.05 * wanted, msg=size)
        self.assertGreater(lost[SIZE], 5 * lost[60])
