"""AQM by queue: a queue's AQM compares only its queue and has its own state; a port's AQM sees all queues.

DSCP 46 is priority 6, everything else priority 0. BMv2 limits the rate of each queue separately, so there a
plug delays only the lowest queue; cases with frames waiting in both queues need virtual time.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import Departure, FabricTest, cases, virtual_time_only
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
_FOUR_OF_EIGHT = [False] * 4 + [True] * 4
_AVERAGE_ONE = 1 << NUMBERS["constants"]["RED_DEPTH_BITS"]


# ECT frames of the lowest queue, and of that of priority 6.
low = partial(packets.numbered, to=PORT, size=SIZE, ecn=Ecn.ECT0)
high = partial(low, dscp=EF)


class _TwoQueues(FabricTest):
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

    def marked(self, frames: list[bytes]) -> list[bool]:
        """Returns whether each frame of a burst left with CE, in order of arrival; each must leave once."""
        left = [departure.frame for departure in self.burst(PORT, frames)]
        with_ce = [packets.forwarded(frame, PORT, ecn=Ecn.CE) for frame in frames]
        found = [frame in left for frame in with_ce]
        wanted = [
            marked if is_marked else packets.forwarded(frame, PORT)
            for frame, marked, is_marked in zip(frames, with_ce, found, strict=True)
        ]
        self.assertEqual(sorted(left), sorted(wanted))
        return found


class _Marks(_TwoQueues):
    def threshold_marks(
        self, thresholds: Mapping[int | None, int], frames: list[bytes], marked: list[bool]
    ) -> None:
        """Sets the thresholds of queues, or of the port (None), and checks which of a burst are marked."""
        self.set_aqm(PORT, "drop_tail" if None in thresholds else "by_queue")
        for queue, threshold in thresholds.items():
            self.mark_threshold(PORT, threshold, queue=queue)
        self.assertEqual(self.marked(frames), marked)

    def red_marks(
        self, settings: Mapping[str, Any], queues: tuple[int, ...], frames: list[bytes], marked: list[bool]
    ) -> None:
        """Checks the same for RED in queues."""
        self.set_aqm(PORT, "by_queue")
        for queue in queues:
            self.red(PORT, **settings, queue=queue)
        self.assertEqual(self.marked(frames), marked)


@virtual_time_only
class _MarksExactly(_Marks):
    """Frames wait in both queues."""


_BOTH = {LOW: 4 * SIZE, HIGH: 4 * SIZE}
_MARKED = {
    # Twenty frames wait in the lowest queue; the one of priority 6 finds its own queue empty.
    "FrameInAnEmptyQueueIsNotMarkedForWhatWaitsInAnother": (
        *(_BOTH, [*low(20), *high(1)]),
        [False] * 5 + [True] * 15 + [False],
    ),
    "FrameInAnEmptyQueueIsMarkedWhereThePortIsCompared": (
        *({None: 4 * SIZE}, [*low(20), *high(1)]),
        [False] * 5 + [True] * 16,
    ),
    "QueuesEntriesMeanNothingWhereThePortIsCompared": (*({None: 100 * SIZE, LOW: 0}, low(4)), [False] * 4),
}
globals().update(cases(__name__, _Marks, _Marks.threshold_marks, _MARKED))

_MARKED_EXACTLY = {
    # The lowest queue has no account of its own: its bytes are the rest of the port's.
    "LowestQueueIsNotMarkedForWhatWaitsAboveIt": (
        *(_BOTH, [*high(8), *low(8)]),
        ([False] * 5 + [True] * 3) * 2,
    ),
    # A queue without an entry marks nothing.
    "EachQueueHasAThresholdOfItsOwn": (*({HIGH: 0}, [*low(8), *high(3)]), [False] * 9 + [True] * 2),
}
globals().update(cases(__name__, _MarksExactly, _MarksExactly.threshold_marks, _MARKED_EXACTLY))

_BYTES = {"low": 4 * SIZE, "high": 4 * SIZE}
_PACKETS = {"low": 4, "high": 4, "in_packets": True}
_RED = {
    # A frame that finds four in its queue is marked, independent of the other queue.
    "RedComparesTheQueueAlone": (
        *(_BYTES, (LOW, HIGH), [*low(8), *high(6)]),
        [*_FOUR_OF_EIGHT, *_FOUR_OF_EIGHT[:6]],
    ),
    "RedInPacketsComparesTheQueueAlone": (
        *(_PACKETS, (LOW, HIGH), [*low(8), *high(6)]),
        [*_FOUR_OF_EIGHT, *_FOUR_OF_EIGHT[:6]],
    ),
    "RedInPacketsOfTheLowestQueueSeesNoneAboveIt": (
        *(_PACKETS, (LOW,), [*high(6), *low(8)]),
        [False] * 6 + _FOUR_OF_EIGHT,
    ),
}
globals().update(cases(__name__, _MarksExactly, _MarksExactly.red_marks, _RED))


@virtual_time_only
class MarkAtDequeueIsForWhatStaysInTheQueue(_TwoQueues):
    """Of twenty frames of the lowest queue and two of priority 6, those that leave more than one behind are
    marked."""

    def runTest(self) -> None:
        self.set_aqm(PORT, "by_queue")
        for queue in (LOW, HIGH):
            self.mark_threshold(PORT, SIZE, dequeue=True, queue=queue)
        self.assertEqual(self.marked([*low(20), *high(2)]), [True] * 18 + [False] * 4)


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
        found = self.marked([*low(8), *high(2)])
        self.assertEqual(found[-2:], [False] * 2)
        self.assertIn(True, found[:8])
