"""The industry's requirements for ECN marking, from two published test plans.

  * SONiC: sonic-mgmt, docs/testplan/ECN_test.md, "ECN marking at egress" and "ECN marking accuracy". Its two
    sections require marking at dequeue; here marking at enqueue has the same requirements, mirrored.
  * OpenConfig: featureprofiles, DP-1.3 (feature/qos/tests/qos_ecn_config_test) and DP-1.12
    (feature/qos/ecn/otg_tests/ecn_enabled_traffic_test).

"Above" or "at or above". The plans differ only in the packet that meets exactly the threshold: SONiC (q >=
Kmax in its steps, though its overview says "exceeds") and DP-1.3 (at or above the cut-off) mark it; DP-1.12
(> min-threshold) and RFC 8257, section 3.1, do not, nor does our `mark_threshold`. With equal frames that is
one packet in a burst. Lengths are whole bytes, so "at or above K" is "above K - 1": the cases of the first
two configure K - 1 (`at_or_above`) and expect exactly the marks of their plan. The cases named
`...WithKmaxAsItIs` and `...WithTheThresholdAsItIs` configure K itself and show that only that one packet
differs, for users who take a profile's number unchanged. `red` compares inclusively, as the two plans do, and
takes their numbers unchanged.

A kilobyte is 1000 bytes of frame without FCS, a queue is the waiting bytes (without the frame on the wire).
In place of the plans' paused port there is a plug (README). Not tested here: the plans' several queues per
port (one here), and telemetry over gNMI (P4Runtime here).
"""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, MarkingTest, cases, virtual_time_only
from ptf_tests.lib.p4rt import table_entry
from ptf_tests.lib.packets import Ecn, Verdict
from ptf_tests.lib.ports import WIRE_OVERHEAD_BYTES
from ptf_tests.lib.targets.base import SwitchOptions

KB = 1000
"""Length of the frames of SONiC's plan, and of DP-1.3's bursts."""

KMIN, KMAX = 50, 51
"""SONiC's example profile: red_min_threshold 50000, red_max_threshold 51000; in frames of 1 kB."""
PMAX = 0.05
"""The same profile: red_drop_probability 5."""
BEYOND = 10
"""Marking accuracy sends Kmax + 10 packets."""
REPETITIONS = 200
"""Number of repetitions of the accuracy test in SONiC's plan."""

CUT_OFF_BYTES = 80_000
"""OpenConfig's threshold: DP-1.3 (80 KB, min = max), DP-1.12 (min-threshold 80000)."""
CUT_OFF = CUT_OFF_BYTES // KB

TRAFFIC_CLASSES = {"BE1": 0, "BE0": 4, "AF1": 8, "AF2": 16, "AF3": 24, "AF4": 32, "NC1": 48}
"""The traffic classes of DP-1.12, each by one DSCP."""

_SIGMAS = 5.0


def at_or_above(limit_bytes: int) -> int:
    """Returns the `threshold_bytes` that marks at `limit_bytes` or more: see the module."""
    return limit_bytes - 1


# A frame is marked for what it finds, or for what it leaves behind.
_FINDS_KMAX = {"threshold": at_or_above(KMAX * KB)}
_LEAVES_KMAX = {**_FINDS_KMAX, "dequeue": True}
_FINDS_CUT_OFF = {"threshold": at_or_above(CUT_OFF_BYTES)}
_LEAVES_CUT_OFF = {**_FINDS_CUT_OFF, "dequeue": True}
ect = partial(packets.numbered, size=KB, ecn=Ecn.ECT0)


# --- SONiC: ECN marking at egress --------------------------------------------------------------------------


_ENDS = {
    # Sends 2 x Kmax packets into a paused port, then releases it. All arrive; the first leaves 2 x Kmax - 1
    # behind and must have CE, the last leaves none and must not. So the plan recognises marking at egress.
    "SonicDequeueMarksTheFirstOfTwiceKmaxAndNotTheLast": (_LEAVES_KMAX, ect(2 * KMAX), range(KMAX)),
    # The mirror image: the first finds no packet ahead of it, the last 2 x Kmax - 1.
    "SonicEnqueueMarksTheLastOfTwiceKmaxAndNotTheFirst": (_FINDS_KMAX, ect(2 * KMAX), range(KMAX, 2 * KMAX)),
}
globals().update(cases(__name__, MarkingTest, MarkingTest.threshold_marks, _ENDS))


# --- SONiC: ECN marking accuracy ---------------------------------------------------------------------------
#
# Kmax + 10 packets of 1 kB into a paused port. Packet i (from 1) leaves Kmax + 10 - i kB behind at its
# release: Kmax or more for i = 1 .. 10, less for all others. At enqueue packet i has i - 1 kB ahead of it:
# less than Kmax for i = 1 .. Kmax, Kmax or more for the last ten.


_ACCURACY = {
    "SonicAccuracyAtDequeueMarksExactlyTheFirstTen": (_LEAVES_KMAX, ect(KMAX + BEYOND), range(10)),
    "SonicAccuracyAtEnqueueMarksExactlyTheLastTen": (_FINDS_KMAX, ect(KMAX + BEYOND), range(51, 61)),
    # Packet 10 leaves exactly Kmax behind: SONiC's q >= Kmax marks it, RFC 8257's "greater than" does
    # not. Nothing else differs.
    "SonicAccuracyAtDequeueMarksNineWithKmaxAsItIs": (
        {"threshold": KMAX * KB, "dequeue": True},
        ect(KMAX + BEYOND),
        range(9),
    ),
    # Packet Kmax + 1 finds exactly Kmax: also one packet, at the other end.
    "SonicAccuracyAtEnqueueMarksNineWithKmaxAsItIs": (
        {"threshold": KMAX * KB},
        ect(KMAX + BEYOND),
        range(52, 61),
    ),
}
globals().update(cases(__name__, MarkingTest, MarkingTest.threshold_marks, _ACCURACY))


@virtual_time_only
class SonicAccuracyOfRedRisesFromKminTowardsPmax(MarkingTest):
    """Below Kmin no packet is marked, from Kmax on every packet, and in between a packet that meets q is
    marked with probability (q - Kmin) / (Kmax - Kmin) * Pmax, which stays below Pmax. Kmin is 20 kB here, so
    that there is a range between; tolerance: five standard deviations, at each depth and in each half of the
    line."""

    def runTest(self) -> None:
        low, high = 20, 40
        self.red(2, low=low * KB, high=high * KB, probability=PMAX)
        frames = ect(high + BEYOND)
        marked = Counter(n for _ in range(REPETITIONS) for n in self.marks(frames))
        counts = [marked[n] for n in range(len(frames))]
        self.assertEqual(counts[: low + 1], [0] * (low + 1), "up to and at Kmin")
        self.assertEqual(counts[high:], [REPETITIONS] * BEYOND, "from Kmax on")
        probability = {q: (q - low) / (high - low) * PMAX for q in range(low, high)}
        for depths in (*([q] for q in probability), range(low, 30), range(30, high)):
            found = sum(counts[q] for q in depths)
            mean = REPETITIONS * sum(probability[q] for q in depths)
            deviation = sqrt(REPETITIONS * sum(probability[q] * (1 - probability[q]) for q in depths))
            self.assertLessEqual(abs(found - mean), _SIGMAS * deviation, f"marks at {list(depths)} kB")


# --- OpenConfig DP-1.3: vertical cut-off -------------------------------------------------------------------
#
# min-threshold = max-threshold = 80 KB, probability 100 %: below the line nothing is marked, at or above it
# everything. DP-1.3 itself sends no packets: it configures the profile and reads it back; the first case does
# that, the others test what the profile means.


class OpenConfigCutOffIsReadBackAsWritten(FabricTest):
    def runTest(self) -> None:
        self.mark_threshold(2, at_or_above(CUT_OFF_BYTES))
        params = {"threshold_bytes": 79_999, "l4s_threshold_bytes": 79_999, "at_dequeue": 0}
        (found,) = self.client.read(table_entry("port_aqm", {"port": 2}))
        self.assertEqual(found, table_entry("port_aqm", {"port": 2}, "mark_threshold", params))


_CUT_OFF = {
    # The last frame finds 79 x 1000 + 999 bytes.
    "OpenConfigCutOffMarksNothingAByteBelow": (
        _FINDS_CUT_OFF,
        ect(CUT_OFF - 1) + ect(1, size=KB - 1) + ect(1),
        range(0),
    ),
    # Frame 81 finds exactly 80 000 bytes; it and all later ones are marked.
    "OpenConfigCutOffMarksEverythingAtAndAbove": (_FINDS_CUT_OFF, ect(CUT_OFF + 20), range(80, 100)),
    # Strictly above 80 000 bytes, as in RFC 8257 and DP-1.12: frame 81 is the one that differs.
    "OpenConfigCutOffMarksOneFewerWithTheThresholdAsItIs": (
        {"threshold": CUT_OFF_BYTES},
        ect(CUT_OFF + 20),
        range(81, 100),
    ),
    # The plan does not specify where a switch marks. Of 100 frames, frame 20 leaves exactly 80 000 bytes.
    "OpenConfigCutOffAtDequeueMarksWhatLeavesAsMuchBehind": (_LEAVES_CUT_OFF, ect(CUT_OFF + 20), range(20)),
    # The first frame leaves 999 + 79 x 1000 bytes behind.
    "OpenConfigCutOffAtDequeueMarksNothingThatLeavesAByteLess": (
        _LEAVES_CUT_OFF,
        ect(1) + ect(1, size=KB - 1) + ect(CUT_OFF - 1),
        range(0),
    ),
    # enable-ecn true, drop false: above the line a Not-ECT packet is neither marked nor dropped.
    "OpenConfigCutOffLeavesNotEctAlone": (_FINDS_CUT_OFF, ect(CUT_OFF + 20, ecn=Ecn.NOT_ECT), range(0)),
}
globals().update(cases(__name__, MarkingTest, MarkingTest.threshold_marks, _CUT_OFF))


_RED = {
    # SONiC's example profile with its numbers: at Kmin the probability is 0, at Kmax 1, and no frame of 1 kB
    # meets a queue between the two. `red` decides at enqueue, so the mirrored expectation applies.
    "SonicAccuracyOfRedMarksExactlyTheLastTen": (
        {"low": KMIN * KB, "high": KMAX * KB, "probability": PMAX},
        ect(KMAX + BEYOND),
        range(51, 61),
    ),
    # The profile unchanged, min = max: inclusive, so no byte is subtracted.
    "OpenConfigCutOffOfRedMarksEverythingAtAndAbove": (
        {"low": CUT_OFF_BYTES, "high": CUT_OFF_BYTES},
        ect(CUT_OFF + 20),
        range(80, 100),
    ),
}
globals().update(cases(__name__, MarkingTest, MarkingTest.red_marks, _RED))


@virtual_time_only
class OpenConfigCutOffHoldsForEveryTrafficClassAndIpVersion(MarkingTest):
    """OpenConfig repeats its tests for every traffic class, over IPv4 and IPv6. Here all share the port's one
    queue, and none may have its own threshold."""

    def runTest(self) -> None:
        self.mark_threshold(2, at_or_above(CUT_OFF_BYTES))
        for name, dscp in TRAFFIC_CLASSES.items():
            for ipv6 in (False, True):
                with self.subTest(traffic_class=name, ipv6=ipv6):
                    frames = ect(CUT_OFF + 5, dscp=dscp, ipv6=ipv6)
                    self.assertEqual(self.marks(frames), [*range(80, 85)])


# --- OpenConfig DP-1.12: oversubscription ------------------------------------------------------------------
#
# Two ports send 51 % and 50 % of the line rate to a third of the same speed. The queue grows by 1 % of the
# rate, passes 80 000 bytes, and fills the buffer. Required: every ECN-capable packet above the threshold is
# marked; packets that are not ECN-capable never are; by the port's own counters, transmitted and dropped
# packets add up to those offered; no packet takes 100 us. The plan specifies 100 or 400 Gbit/s; with such a
# link 80 000 bytes are 6.4 us of queue.
#
# The plan's profile has max-threshold 2^64 - 1 with drop false: no upper end, so the threshold is a step and
# `mark_threshold` its mode (a `red` between 80 000 and 2^64 would never mark). Its summary says "greater than
# the minimum threshold": the same rule as ours, so the number is configured unchanged.

SIZE = 1226
"""Frame length, bytes: with its overhead 1250, which take 100 ns at 100 Gbit/s."""
FRAME_NS = 100
BUFFER_BYTES = 100_000
DURATION_NS = 1_200_000
"""The queue passes the threshold after about 650 us and fills the buffer after about 810 us."""
LATENCY_LIMIT_NS = 100_000


@dataclass(frozen=True)
class Arrival:
    """A frame offered to the switch."""

    at_ns: int
    ingress: int
    frame: bytes


@dataclass(frozen=True)
class Passage:
    """The values for an admitted frame, by `fifo`."""

    arrival: Arrival
    leaves_ns: int
    """Time of its first bit on the wire."""
    found_bytes: int
    """Bytes waiting at its arrival."""
    behind_bytes: int
    """Bytes waiting at its departure."""


def fifo(arrivals: Sequence[Arrival], limit_bytes: int) -> list[Passage]:
    """Returns the passages of a first-in first-out port, in plain arithmetic. Marks are left out, because
    marking changes none of the values. A frame that leaves at the time of an arrival has left before it."""
    admitted: list[tuple[Arrival, int, int]] = []
    waiting: deque[int] = deque()
    free = 0
    for arrival in arrivals:
        while waiting and waiting[0] <= arrival.at_ns:
            waiting.popleft()
        found = len(waiting) * SIZE
        if found + SIZE > limit_bytes:
            continue
        leaves = max(arrival.at_ns, free)
        free = leaves + FRAME_NS
        waiting.append(leaves)
        admitted.append((arrival, leaves, found))
    times = [arrival.at_ns for arrival, _, _ in admitted]
    return [
        Passage(arrival, leaves, found, max(0, bisect_left(times, leaves) - number) * SIZE)
        for number, (arrival, leaves, found) in enumerate(admitted, start=1)
    ]


@virtual_time_only
class _Oversubscribed(FabricTest):
    """51 % from port 1 and 50 % from port 2 to port 3, at 100 Gbit/s, seven traffic classes in turn."""

    options = SwitchOptions(port_rate_bps=100_000_000_000)

    def offer(self, *, ecn: int, ipv6: bool = False) -> list[Arrival]:
        """Sends the load and lets the queue empty; returns the arrivals."""
        self.assertEqual((SIZE + WIRE_OVERHEAD_BYTES) * 8 * 10**9 // self.options.port_rate_bps, FRAME_NS)
        self.buffer_limit(3, BUFFER_BYTES)
        self.forget_counts()
        start = self.switch.now_ns
        arrivals = []
        for ingress, percent in ((1, 51), (2, 50)):
            kinds = [
                packets.data(3, frm=ingress, size=SIZE, dscp=dscp, ecn=ecn, ipv6=ipv6)
                for dscp in TRAFFIC_CLASSES.values()
            ]
            arrivals += [
                Arrival(start + n * FRAME_NS * 100 // percent, ingress, kinds[n % len(kinds)])
                for n in range(DURATION_NS * percent // (FRAME_NS * 100))
            ]
        arrivals.sort(key=lambda arrival: (arrival.at_ns, arrival.ingress))
        for arrival in arrivals:
            self.at(arrival.at_ns)
            self.send(arrival.ingress, arrival.frame)
        self.drain()
        return arrivals

    def expect(self, arrivals: Sequence[Arrival], passages: Sequence[Passage], marks: Sequence[bool]) -> None:
        """Checks that port 3 transmitted exactly `passages`, marked as in `marks`, at the model's times and
        within the plan's latency, that its counters agree, and that dropped = offered - transmitted."""
        self.assertGreater(len(arrivals), len(passages), "the load must overflow the buffer")
        wanted: dict[tuple[bytes, bool], bytes] = {}
        for passage, mark in zip(passages, marks, strict=True):
            frame = passage.arrival.frame
            if (frame, mark) not in wanted:
                wanted[frame, mark] = packets.forwarded(frame, 3, ecn=Ecn.CE if mark else None)
        left = self.departures(3)
        self.assertEqual(len(left), len(passages), "packets received")
        for n, (departure, passage, mark) in enumerate(zip(left, passages, marks, strict=True)):
            met = f"packet {n}, which found {passage.found_bytes} and left {passage.behind_bytes} bytes"
            self.assertEqual(departure.frame.hex(), wanted[passage.arrival.frame, mark].hex(), met)
            self.assertEqual(departure.at_ns, passage.leaves_ns, met)
            self.assertLess(departure.at_ns + FRAME_NS - passage.arrival.at_ns, LATENCY_LIMIT_NS, met)
        verdicts = Counter(Verdict.MARKED if mark else Verdict.FORWARDED for mark in marks)
        verdicts[Verdict.TAIL_DROPPED] = len(arrivals) - len(passages)
        self.assert_data(3, verdicts)

    def marked_above(self, ecn: Ecn, ipv6: bool = False, dequeue: bool = False) -> None:
        """Checks that exactly the ECT packets that met more than the threshold are marked. Of others, as many
        are transmitted and dropped."""
        self.mark_threshold(3, CUT_OFF_BYTES, dequeue=dequeue)
        arrivals = self.offer(ecn=ecn, ipv6=ipv6)
        passages = fifo(arrivals, BUFFER_BYTES)
        above = [(one.behind_bytes if dequeue else one.found_bytes) > CUT_OFF_BYTES for one in passages]
        self.assertEqual(set(above), {False, True}, "the load must pass the threshold")
        self.expect(arrivals, passages, [ecn is Ecn.ECT0 and found for found in above])


_MARKED = {
    "OpenConfigOversubscribedEctIsMarkedAboveTheThreshold": (Ecn.ECT0,),
    "OpenConfigOversubscribedEctOverIpv6IsMarkedAboveTheThreshold": (Ecn.ECT0, True),
    # The plan does not specify where a switch marks; at departure the bytes left behind have the same
    # threshold.
    "OpenConfigOversubscribedEctIsMarkedAtDequeueForWhatItLeavesBehind": (Ecn.ECT0, False, True),
    # The plan's second half: the same load with both bits clear. Drops are the buffer's (drop false), none
    # early.
    "OpenConfigOversubscribedNotEctIsNeverMarkedAndItsDropsAreCounted": (Ecn.NOT_ECT,),
    "OpenConfigOversubscribedNotEctOverIpv6IsNeverMarkedAndItsDropsAreCounted": (Ecn.NOT_ECT, True),
}
globals().update(cases(__name__, _Oversubscribed, _Oversubscribed.marked_above, _MARKED))
