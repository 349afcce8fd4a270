"""RED: nothing below `min`, everything at and above `max`, a straight line of probability between them.

Thresholds are compared with the queue a packet finds (itself excluded): instantaneous, or an average with
weight 2^-average_shift. ECT packets are marked; Not-ECT are dropped instead, unless protected
(protection.py). Where a case is statistical, it compares a count with the sum of the probabilities along the
very queue that was met, and allows five standard deviations; the switch's random numbers are seeded, so what
passes once passes always.
"""

from math import sqrt

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, virtual_time_only
from ptf_tests.lib.packets import Ecn, PacketClass, Verdict

SIZE = 500
_SIGMAS = 5.0


def ect(count: int, size: int = SIZE, *, ipv6: bool = False, dscp: int = 0) -> list[bytes]:
    """ECT(0) data frames."""
    return [packets.data(2, size=size, ecn=Ecn.ECT0, seq=n, ipv6=ipv6, dscp=dscp) for n in range(count)]


def not_ect(count: int, size: int = SIZE) -> list[bytes]:
    """Not-ECT data frames."""
    return [packets.data(2, size=size, ecn=Ecn.NOT_ECT, seq=n) for n in range(count)]


class _Red(FabricTest):
    def marks(self, frames: list[bytes]) -> list[bool]:
        """Which frames of a burst to port 2 left marked; all must leave."""
        left = self.burst(2, frames)
        self.assertEqual(len(left), len(frames), "no ECT packet may be dropped")
        return [departure.ecn == Ecn.CE for departure in left]


class RedBelowMinNeverMarks(_Red):
    """The last of ten frames finds nine, one byte less than `min`."""

    def runTest(self) -> None:
        self.red(2, low=9 * SIZE + 1, high=20 * SIZE)
        self.assertEqual(self.marks(ect(10)), [False] * 10)


class RedBelowMinNeverDrops(_Red):
    def runTest(self) -> None:
        self.red(2, low=9 * SIZE + 1, high=20 * SIZE)
        frames = not_ect(10)
        self.assert_frames(self.burst(2, frames), [packets.forwarded(frame, 2) for frame in frames])


class RedAtMaxAlwaysMarks(_Red):
    """`max` is inclusive: the frame that finds exactly `max` bytes is marked. With min = max there is no
    slope."""

    def runTest(self) -> None:
        self.red(2, low=5 * SIZE, high=5 * SIZE)
        self.assertEqual(self.marks(ect(10)), [False] * 5 + [True] * 5)


class RedOneByteBelowMaxIsNotAlwaysMarked(_Red):
    def runTest(self) -> None:
        self.red(2, low=5 * SIZE + 1, high=5 * SIZE + 1)
        self.assertEqual(self.marks(ect(10)), [False] * 6 + [True] * 4)


class RedAboveMaxMarksEvenWithATinyProbability(_Red):
    """Between the thresholds next to nothing is marked (one in a million), above them everything is."""

    def runTest(self) -> None:
        self.red(2, low=0, high=10 * SIZE, probability=1e-6)
        self.assertEqual(self.marks(ect(40)), [False] * 10 + [True] * 30)


class RedAboveMaxDropsNotEct(_Red):
    """Frames 0 to 4 find 0 to 4 frames and stay; every later one finds exactly `max` and is dropped, which
    leaves the queue at `max`."""

    def runTest(self) -> None:
        self.red(2, low=5 * SIZE, high=5 * SIZE)
        frames = not_ect(20)
        self.assert_frames(self.burst(2, frames), [packets.forwarded(frame, 2) for frame in frames[:5]])
        counted = {
            (PacketClass.DATA, Verdict.FORWARDED): 5,
            (PacketClass.DATA, Verdict.EARLY_DROPPED): 15,
        }
        self.assertEqual(self.verdicts(2), counted)


class RedMarksAreCounted(_Red):
    def runTest(self) -> None:
        self.red(2, low=5 * SIZE, high=5 * SIZE)
        self.marks(ect(12))
        counted = {(PacketClass.DATA, Verdict.FORWARDED): 5, (PacketClass.DATA, Verdict.MARKED): 7}
        self.assertEqual(self.verdicts(2), counted)


class RedMarksIpv6AndChangesNothingElse(_Red):
    def runTest(self) -> None:
        self.red(2, low=2 * SIZE, high=2 * SIZE)
        frames = ect(4, ipv6=True, dscp=46)
        wanted = [packets.forwarded(frame, 2) for frame in frames[:2]]
        wanted += [packets.forwarded(frame, 2, ecn=Ecn.CE) for frame in frames[2:]]
        self.assert_frames(self.burst(2, frames), wanted)


class RedKeepsCe(_Red):
    """A packet that is CE already is neither dropped nor cleared above `max`."""

    def runTest(self) -> None:
        self.red(2, low=SIZE, high=SIZE)
        frames = [packets.data(2, size=SIZE, ecn=Ecn.CE, seq=n) for n in range(10)]
        self.assert_frames(self.burst(2, frames), [packets.forwarded(frame, 2) for frame in frames])


class RedMarksEct1AsEct0(_Red):
    def runTest(self) -> None:
        self.red(2, low=2 * SIZE, high=2 * SIZE)
        frames = [packets.data(2, size=SIZE, ecn=Ecn.ECT1, seq=n) for n in range(5)]
        self.assertEqual(self.marks(frames), [False] * 2 + [True] * 3)


class RedWithEcnOffDropsEctToo(_Red):
    """Without ECN an ECT packet is nothing special: dropped where it would have been marked."""

    def runTest(self) -> None:
        self.red(2, low=5 * SIZE, high=5 * SIZE, ecn=False)
        frames = ect(20)
        self.assert_frames(self.burst(2, frames), [packets.forwarded(frame, 2) for frame in frames[:5]])


@virtual_time_only
class RedProbabilityRisesOnAStraightLine(_Red):
    """Bursts of ECT frames climb from an empty queue to `max`. Over many bursts the marks in each quarter of
    the range are as many as the line says, and none fall outside."""

    def runTest(self) -> None:
        steps, bursts, probability = 40, 60, 0.5
        self.red(2, low=0, high=steps * SIZE, probability=probability)
        seen = [0] * steps
        for _ in range(bursts):
            for step, marked in enumerate(self.marks(ect(steps))):
                seen[step] += marked
        for quarter in range(4):
            part = range(quarter * steps // 4, (quarter + 1) * steps // 4)
            chances = [probability * step / steps for step in part]
            wanted = bursts * sum(chances)
            allowed = _SIGMAS * sqrt(bursts * sum(p * (1 - p) for p in chances))
            found = sum(seen[step] for step in part)
            with self.subTest(quarter=quarter + 1):
                self.assertAlmostEqual(found, wanted, delta=allowed)


@virtual_time_only
class RedDropProbabilityHoldsAtOneDepth(_Red):
    """Dropped packets do not change the queue, so a Not-ECT run at one depth repeats one probability. ECT(0)
    frames that may be marked but never dropped first fill the queue half way; then 2000 tiny ACKs, Not-ECT,
    are offered: the count of drops follows the probability at the depth each of them met."""

    def runTest(self) -> None:
        high, probability, offered = 200_000, 0.4, 2000
        self.red(2, low=0, high=high, probability=probability)
        ack = [packets.tcp(2, flags="A", seq=n) for n in range(offered)]
        left = self.burst(2, ect(100, size=1000) + ack)
        arrived = {int.from_bytes(d.frame[38:42], "big") for d in left[100:]}
        depth, wanted, variance = 100 * 1000, 0.0, 0.0
        for n in range(offered):
            chance = probability * depth / high
            wanted, variance = wanted + chance, variance + chance * (1 - chance)
            depth += len(ack[n]) if n in arrived else 0
        self.assertAlmostEqual(offered - len(arrived), wanted, delta=_SIGMAS * sqrt(variance))
        dropped = self.verdicts(2)[PacketClass.ACK, Verdict.EARLY_DROPPED]
        self.assertEqual(dropped, offered - len(arrived))


class RedInPacketsCountsPackets(_Red):
    """Thresholds of five packets: 54-byte ACKs and full frames weigh the same."""

    def runTest(self) -> None:
        self.red(2, low=5, high=5, in_packets=True)
        small = [packets.tcp(2, flags="A", ecn=Ecn.ECT0, seq=n) for n in range(10)]
        self.assertEqual(self.marks(small), [False] * 5 + [True] * 5)
        self.assertEqual(self.marks(ect(10, size=1500)), [False] * 5 + [True] * 5)


class RedInBytesCountsBytes(_Red):
    """Thresholds of 2500 bytes: five 500-byte frames, or 46 of 54 bytes and part of one more."""

    def runTest(self) -> None:
        self.red(2, low=2500, high=2500)
        small = [packets.tcp(2, flags="A", ecn=Ecn.ECT0, seq=n) for n in range(60)]
        self.assertEqual(self.marks(small), [False] * 47 + [True] * 13)


@virtual_time_only
class RedInPacketsProbabilityRisesOnAStraightLine(_Red):
    def runTest(self) -> None:
        steps, bursts = 20, 60
        self.red(2, low=0, high=steps, in_packets=True)
        found = sum(sum(self.marks(ect(steps))) for _ in range(bursts))
        chances = [step / steps for step in range(steps)]
        allowed = _SIGMAS * sqrt(bursts * sum(p * (1 - p) for p in chances))
        self.assertAlmostEqual(found, bursts * sum(chances), delta=allowed)


class RedInstantaneousForgetsAnOldBurst(_Red):
    """With weight 1 the history does not matter: right after a deep burst has left, nothing is marked."""

    def runTest(self) -> None:
        self.red(2, low=5 * SIZE, high=5 * SIZE)
        self.marks(ect(40))
        self.assertEqual(self.marks(ect(5)), [False] * 5)


class RedAveragedToleratesABurst(_Red):
    """Weight 1/512: a burst of 40 frames moves the average by less than two frames, so a `max` of five frames
    that the instantaneous queue passes eightfold marks nothing (Floyd and Jacobson 1993, section 4)."""

    def runTest(self) -> None:
        self.red(2, low=5 * SIZE, high=5 * SIZE, average_shift=9)
        self.assertEqual(self.marks(ect(40)), [False] * 40)


@virtual_time_only
class RedAverageFollowsItsDefinition(_Red):
    """avg <- avg + (q - avg) / 16 at each arrival, q the queue found. The register is that in units of 2^-16
    byte; we allow one byte for rounding over the burst."""

    def runTest(self) -> None:
        self.red(2, low=2**31, high=2**31, average_shift=4)
        self.plug(2)
        average = self.register("red_average", 2) / 2**16
        self.assertEqual(average, 0)
        for n in range(50):
            self.send(1, ect(1)[0])
            average += (n * SIZE - average) / 16
            self.assertAlmostEqual(
                self.register("red_average", 2) / 2**16, average, delta=1.0, msg=f"frame {n}"
            )


class RedAveragedMarksOnceTheAverageReachesMax(_Red):
    """Weight 1/4 and min = max = 10 frames: the first frame marked is the first whose average is at `max`."""

    def runTest(self) -> None:
        self.red(2, low=10 * SIZE, high=10 * SIZE, average_shift=2)
        average, expected = 0.0, []
        for n in range(30):
            average += (n * SIZE - average) / 4
            expected.append(average >= 10 * SIZE)
        self.assertEqual(self.marks(ect(30)), expected)


class RedOfAnotherPortDoesNothingHere(_Red):
    def runTest(self) -> None:
        self.red(3, low=1, high=1)
        self.assertEqual(self.marks(ect(20)), [False] * 20)
