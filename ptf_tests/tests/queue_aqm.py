"""AQM by queue: a queue's AQM compares only its queue and has its own state; a port's AQM sees all queues.

DSCP 46 is priority 6, everything else priority 0. BMv2 limits the rate of each queue separately, so there a
plug delays only the lowest queue; cases with frames waiting in both queues need virtual time.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import Departure, MarkingTest, cases, virtual_time_only
from ptf_tests.lib.codel import Codel
from ptf_tests.lib.eee import Eee
from ptf_tests.lib.packets import Ecn
from ptf_tests.lib.ports import BYTE_NS, NUMBERS, PRIORITIES
from ptf_tests.lib.targets.base import SwitchOptions

PORT = 2
SIZE = 500
LOW, HIGH = 0, 6
EF = 46
_FRAME_NS = (SIZE + 24) * BYTE_NS
_DROPPING = 2
_AVERAGE_ONE = 1 << NUMBERS["constants"]["RED_DEPTH_BITS"]


# ECT frames of the lowest queue, and of that of priority 6.
low = partial(packets.numbered, to=PORT, size=SIZE, ecn=Ecn.ECT0)
high = partial(low, dscp=EF)


class _TwoQueues(MarkingTest):
    def setUp(self) -> None:
        super().setUp()
        self.priorities({EF: HIGH})

    def tearDown(self) -> None:
        self.drain()
        for account in ("raised_bytes", "raised_packets"):
            self.assertEqual(
                self.register(account, PORT), 0, f"nothing waits above the lowest queue: {account}"
            )
        super().tearDown()

    def marks(self, frames: Sequence[bytes]) -> list[int]:
        """Returns the same of port 2, whatever the order between its queues; each frame must leave once."""
        left = [departure.frame for departure in self.burst(PORT, frames)]
        with_ce = [packets.forwarded(frame, PORT, ecn=Ecn.CE) for frame in frames]
        found = [n for n, frame in enumerate(with_ce) if frame in left]
        wanted = [packets.forwarded(frame, PORT) for frame in frames]
        for n in found:
            wanted[n] = with_ce[n]
        self.assertEqual(sorted(left), sorted(wanted))
        return found

    def queues_mark(
        self, thresholds: Mapping[int | None, int], frames: list[bytes], marked: Sequence[int]
    ) -> None:
        """Sets the thresholds of queues, or of the port (None), and checks which of a burst are marked."""
        self.set_aqm(PORT, "drop_tail" if None in thresholds else "by_queue")
        for queue, threshold in thresholds.items():
            self.mark_threshold(PORT, threshold, queue=queue)
        self.assertEqual(self.marks(frames), [*marked])

    def queues_mark_by_red(
        self, settings: Mapping[str, Any], queues: tuple[int, ...], frames: list[bytes], marked: Sequence[int]
    ) -> None:
        """Checks the same for RED in queues."""
        self.set_aqm(PORT, "by_queue")
        for queue in queues:
            self.red(PORT, **settings, queue=queue)
        self.assertEqual(self.marks(frames), [*marked])


@virtual_time_only
class _Exactly(_TwoQueues):
    """Frames wait in both queues."""


_BOTH, _WHOLE_PORT = {LOW: 4 * SIZE, HIGH: 4 * SIZE}, {None: 4 * SIZE}
_MARKED = {
    # Twenty frames wait in the lowest queue; the one of priority 6 finds its own queue empty.
    "FrameInAnEmptyQueueIsNotMarkedForWhatWaitsInAnother": (_BOTH, [*low(20), *high(1)], range(5, 20)),
    "FrameInAnEmptyQueueIsMarkedWhereThePortIsCompared": (_WHOLE_PORT, [*low(20), *high(1)], range(5, 21)),
    "QueuesEntriesMeanNothingWhereThePortIsCompared": ({None: 100 * SIZE, LOW: 0}, low(4), ()),
}
globals().update(cases(__name__, _TwoQueues, _TwoQueues.queues_mark, _MARKED))

_MARKED_EXACTLY = {
    # The lowest queue has no account of its own: its bytes are the rest of the port's.
    "LowestQueueIsNotMarkedForWhatWaitsAboveIt": (_BOTH, [*high(8), *low(8)], (5, 6, 7, 13, 14, 15)),
    # A queue without an entry marks nothing.
    "EachQueueHasAThresholdOfItsOwn": ({HIGH: 0}, [*low(8), *high(3)], (9, 10)),
}
globals().update(cases(__name__, _Exactly, _Exactly.queues_mark, _MARKED_EXACTLY))

_BYTES = {"low": 4 * SIZE, "high": 4 * SIZE}
_PACKETS = {"low": 4, "high": 4, "in_packets": True}
_FROM_THE_FIFTH = (4, 5, 6, 7, 12, 13)
_RED = {
    # A frame that finds four in its queue is marked, independent of the other queue.
    "RedComparesTheQueueAlone": (_BYTES, (LOW, HIGH), [*low(8), *high(6)], _FROM_THE_FIFTH),
    "RedInPacketsComparesTheQueueAlone": (_PACKETS, (LOW, HIGH), [*low(8), *high(6)], _FROM_THE_FIFTH),
    "RedInPacketsOfTheLowestQueueSeesNoneAboveIt": (_PACKETS, (LOW,), [*high(6), *low(8)], range(10, 14)),
}
globals().update(cases(__name__, _Exactly, _Exactly.queues_mark_by_red, _RED))


@virtual_time_only
class MarkAtDequeueIsForWhatStaysInTheQueue(_TwoQueues):
    """Of twenty frames of the lowest queue and two of priority 6, those that leave more than one behind are
    marked."""

    def runTest(self) -> None:
        self.set_aqm(PORT, "by_queue")
        for queue in (LOW, HIGH):
            self.mark_threshold(PORT, SIZE, dequeue=True, queue=queue)
        self.assertEqual(self.marks([*low(20), *high(2)]), [*range(18)])


class MarkAtDequeueIsForWhatStaysInTheQueueAlsoAfterRounds(MarkAtDequeueIsForWhatStaysInTheQueue):
    """The packets recirculate while their link wakes, and keep the bytes that their AQM compares."""

    options = SwitchOptions(gate=False)

    def burst(self, port: int, frames: Sequence[bytes]) -> list[Departure]:
        self.table_add("port_eee", {"port": port}, "eee", Eee(sleep=0, wake=5_000).params())
        self.send(1, *frames)
        return self.drained(port)


class RedAveragesEachQueueAlone(_TwoQueues):
    """With a weight of 1/2 the average of 0, 1, 2, 3 frames is 2.125 frames; the other queue was empty."""

    def runTest(self) -> None:
        self.set_aqm(PORT, "by_queue")
        for queue in (LOW, HIGH):
            self.red(PORT, low=2**31, high=2**31, average_shift=1, queue=queue)
        self.burst(PORT, [*low(4), *high(1)])
        found = {
            queue: self.queue_register("red_average", PORT, queue) / _AVERAGE_ONE
            for queue in range(PRIORITIES)
        }
        self.assertEqual(found, dict.fromkeys(range(PRIORITIES), 0.0) | {LOW: 2.125 * SIZE})


@virtual_time_only
class CodelKeepsTheStateOfEachQueueAlone(_TwoQueues):
    """A packet that leaves an empty queue of priority 6 does not end the dropping in the lowest queue."""

    def runTest(self) -> None:
        self.set_aqm(PORT, "by_queue")
        settings = Codel(target=2 * _FRAME_NS, interval=3 * _FRAME_NS).params()
        for queue in (LOW, HIGH):
            self.set_aqm(PORT, "codel", settings, queue)
        self.send(1, *low(40))
        self.switch.advance(ns=20 * _FRAME_NS)
        self.assertGreaterEqual(self.queue_register("codel_state", PORT, LOW), _DROPPING)
        self.send(1, *high(1))
        self.switch.advance(ns=3 * _FRAME_NS)
        self.assertGreaterEqual(self.queue_register("codel_state", PORT, LOW), _DROPPING)
        self.assertEqual(self.queue_register("codel_state", PORT, HIGH), 0)
        self.assertEqual(self.queue_register("queue_bytes", PORT, HIGH), 0, "it has left")


@virtual_time_only
class CodelRestsWithAnMtuOrLessLeftInTheQueue(_TwoQueues):
    """Both packets of priority 6 have waited too long, and leave no bytes of their queue behind."""

    def runTest(self) -> None:
        self.set_aqm(PORT, "by_queue")
        settings = Codel(target=1, interval=1, mtu=SIZE).params()
        for queue in (LOW, HIGH):
            self.set_aqm(PORT, "codel", settings, queue)
        found = self.marks([*low(8), *high(2)])
        self.assertTrue(found and found[-1] < 8, found)
