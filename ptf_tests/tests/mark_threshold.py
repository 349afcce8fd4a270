"""The true marking threshold: an ECT packet is marked if and only if the queue that it meets has more than K
bytes.

Queues are built behind a plug: one frame is on the wire, and frames that follow at the same time are queued.
The Nth of equal frames (from 0) therefore finds N times its length. RFC 8257, section 3.1: mark if the
occupancy is greater than K, so a packet that finds exactly K is not marked.
"""

from functools import partial

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, MarkingTest, cases
from ptf_tests.lib.packets import Ecn

SIZE = 500
"""Length of the frames in these cases; thresholds are multiples of it, or differ by one byte."""


ect = partial(packets.numbered, size=SIZE, ecn=Ecn.ECT0)


class MarkChangesOnlyEcnAndChecksum(MarkingTest):
    """DSCP, options, payload, padding, flow label: all are unchanged. The IPv4 checksum is right for the new
    byte."""

    def runTest(self) -> None:
        self.mark_threshold(2, 0)
        first = ect(1)
        varied = [
            packets.data(2, size=SIZE, ecn=Ecn.ECT0, dscp=dscp, ipv6=ipv6)
            for dscp in (0, 10, 46, 63)
            for ipv6 in (False, True)
        ]
        varied += [
            packets.tcp(2, ecn=Ecn.ECT0, pad_to=90),
            packets.data(2, ecn=Ecn.ECT1, ipv6=True, fl=0xFFFFF),
            packets.data(2, ecn=Ecn.ECT1, vlan=4095),
        ]
        self.assertEqual(self.marks(first + varied), [*range(1, 1 + len(varied))])


class CeStaysCeBelowAndAboveTheThreshold(FabricTest):
    """RFC 3168, section 5: a router never clears CE."""

    def runTest(self) -> None:
        self.mark_threshold(2, 2 * SIZE)
        frames = ect(10, ecn=Ecn.CE)
        self.assert_frames(self.burst(2, frames), [packets.forwarded(frame, 2) for frame in frames])


class Ect1HasAThresholdOfItsOwn(MarkingTest):
    """L4S (RFC 9331) marks ECT(1) at a shallower depth; ECT(0) in the same queue keeps its own threshold."""

    def runTest(self) -> None:
        self.mark_threshold(2, 6 * SIZE, l4s=2 * SIZE)
        frames = [packets.data(2, size=SIZE, ecn=Ecn.ECT1 if n % 2 else Ecn.ECT0, seq=n) for n in range(12)]
        # ECT(0) is marked if it finds more than six frames, ECT(1) if it finds more than two.
        self.assertEqual(self.marks(frames), [3, 5, 7, 8, 9, 10, 11])


_MARKED = {
    # Ten frames, threshold ten frames: the last one finds nine.
    "MarkThresholdNeverMarksBelow": ({"threshold": 10 * SIZE}, ect(10), range(0)),
    "MarkThresholdAlwaysMarksAbove": ({"threshold": 2 * SIZE}, ect(60), range(3, 60)),
    # RFC 3168, section 5: only ECT may become CE. In this mode nothing is dropped instead, either.
    "MarkThresholdNeverMarksNotEct": ({"threshold": 2 * SIZE}, ect(40, ecn=Ecn.NOT_ECT), range(0)),
    # RFC 8257, 3.1: "greater than". The frame that finds exactly K bytes is the last unmarked one.
    "MarkThresholdDoesNotMarkAtExactlyTheThreshold": ({"threshold": 4 * SIZE}, ect(8), range(5, 8)),
    # The same burst, threshold one byte lower: the frame that found exactly four frames is now marked.
    "MarkThresholdMarksOneByteAbove": ({"threshold": 4 * SIZE - 1}, ect(8), range(4, 8)),
    "MarkThresholdZeroMarksWhateverFindsAQueue": ({"threshold": 0}, ect(3), range(1, 3)),
    "MarkThresholdMarksIpv6": ({"threshold": 2 * SIZE}, ect(6, ipv6=True), range(3, 6)),
    "MarkThresholdMarksBehindAVlanTag": ({"threshold": 2 * SIZE}, ect(6, vlan=5), range(3, 6)),
    "Ect1CanHaveTheDeeperThreshold": (
        {"threshold": 1 * SIZE, "l4s": 3 * SIZE},
        ect(6, ecn=Ecn.ECT1),
        range(4, 6),
    ),
    # At departure the queue left behind decides. Of eight equal frames the Nth leaves 7 - N behind it: more
    # than three for the first four.
    "MarkAtDequeueIsCounted": ({"threshold": 3 * SIZE, "dequeue": True}, ect(8), range(4)),
    "MarkAtDequeueNeverMarksNotEct": ({"threshold": 0, "dequeue": True}, ect(20, ecn=Ecn.NOT_ECT), range(0)),
    "MarkAtDequeueUsesTheEct1Threshold": (
        {"threshold": 100 * SIZE, "l4s": 1 * SIZE, "dequeue": True},
        ect(5, ecn=Ecn.ECT1),
        range(3),
    ),
    "MarkAtDequeueKeepsIpv6Right": ({"threshold": 2 * SIZE, "dequeue": True}, ect(5, ipv6=True), range(2)),
}
globals().update(cases(__name__, MarkingTest, MarkingTest.threshold_marks, _MARKED))


class DropTailNeverMarks(MarkingTest):
    """As the default mode and by name: a deep queue of ECT packets leaves unchanged."""

    def runTest(self) -> None:
        self.assertEqual(self.marks(ect(60)), [])
        self.set_aqm(2, "drop_tail")
        self.assertEqual(self.marks(ect(60)), [])
