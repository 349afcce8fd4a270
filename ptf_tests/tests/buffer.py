"""The buffer limit of a port, in bytes of waiting frames: enforced in ingress, exact to the byte, counted,
and valid for every class. A frame on the wire is not in the queue.
"""

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import PLUG_BYTES, FabricTest, cases, virtual_time_only
from ptf_tests.lib.packets import Ecn, PacketClass, Verdict

SIZE = 500


def frames(count: int, size: int = SIZE) -> list[bytes]:
    """Returns distinguishable data frames."""
    return [packets.data(2, size=size, seq=n) for n in range(count)]


class _Buffer(FabricTest):
    def expect_kept(self, offered: list[bytes], kept: list[bytes]) -> None:
        """Checks that exactly `kept` of a burst to port 2 leave, and the others are counted as tail drops."""
        self.assert_frames(self.burst(2, offered), [packets.forwarded(frame, 2) for frame in kept])
        dropped = sum(
            count for (_, verdict), count in self.verdicts(2).items() if verdict == Verdict.TAIL_DROPPED
        )
        self.assertEqual(dropped, len(offered) - len(kept))

    def limit_keeps(self, kind: str, limit: int, kept: int) -> None:
        """Checks that a limit of that kind keeps exactly the first `kept` of eight frames."""
        getattr(self, kind)(2, limit)
        self.expect_kept(offered := frames(8), offered[:kept])

    def limit_drops(self, kind: str) -> None:
        """Checks that a limit of that kind of zero drops everything, even at an idle port."""
        getattr(self, kind)(2, 0)
        self.send(1, *frames(3))
        self.drain()
        self.assert_silent()
        self.assertEqual(self.verdicts(2), {(PacketClass.DATA, Verdict.TAIL_DROPPED): 3})


_KEPT = {
    # 5 x 500 bytes fit into 2500; the sixth frame does not.
    "BufferHoldsExactlyItsLimit": ("buffer_limit", 5 * SIZE, 5),
    "BufferOneByteShortDropsOneMore": ("buffer_limit", 5 * SIZE - 1, 4),
    "BufferOneByteMoreHoldsNoMore": ("buffer_limit", 5 * SIZE + 1, 5),
    # Nothing is held, so nothing waits outside the buffer: the limit in bytes applies.
    "BufferBesideHeldIsTheWholeBufferWhereEeeIsOff": ("buffer_limit_beside_held", 5 * SIZE, 5),
}
globals().update(cases(__name__, _Buffer, _Buffer.limit_keeps, _KEPT))

_DROPPED = {
    "BufferZeroDropsEverything": ("buffer_limit",),
    "BufferOfNoPacketsDropsEverything": ("buffer_limit_in_packets",),
}
globals().update(cases(__name__, _Buffer, _Buffer.limit_drops, _DROPPED))


class BufferTakesASmallFrameWhereALargeOneDidNotFit(_Buffer):
    """1200 bytes: two frames of 500 fit, a third does not, one of exactly 200 still does, and then
    nothing."""

    def runTest(self) -> None:
        self.buffer_limit(2, 2 * SIZE + 200)
        large, small = frames(4), packets.data(2, size=200)
        self.expect_kept([*large, small, packets.tcp(2, flags="A")], [*large[:2], small])


class BufferTailDropsAreCountedByClass(_Buffer):
    """No class is protected from a full buffer. Verdict `tail_dropped` under the egress port."""

    def runTest(self) -> None:
        self.buffer_limit(2, SIZE)
        self.burst(
            2, frames(1) + [packets.of_class(packet_class, 2) for packet_class in packets.BUILDERS] * 3
        )
        counted = {(packet_class, Verdict.TAIL_DROPPED): 3 for packet_class in packets.BUILDERS}
        counted[PacketClass.DATA, Verdict.FORWARDED] = 1
        self.assertEqual(self.verdicts(2), counted)


class BufferDropsEctAndNotEctAlike(_Buffer):
    def runTest(self) -> None:
        self.buffer_limit(2, 2 * SIZE)
        self.mark_threshold(2, 0)
        left = self.burst(2, [packets.data(2, size=SIZE, ecn=Ecn.ECT0, seq=n) for n in range(6)])
        self.assertEqual([departure.ecn for departure in left], [Ecn.ECT0, Ecn.CE])


class BufferInPacketsHoldsExactlyItsLimit(_Buffer):
    """Three packets of any length: a small frame takes as much space as a full one."""

    def runTest(self) -> None:
        self.buffer_limit_in_packets(2, 3)
        for size in (packets.FULL_FRAME, 100):
            offered = frames(5, size)
            self.forget_counts()
            self.expect_kept(offered, offered[:3])


class BufferInPacketsAdmitsNoSmallFrameWhereNoLargeOneFits(_Buffer):
    def runTest(self) -> None:
        self.buffer_limit_in_packets(2, 2)
        offered = [*frames(2), packets.tcp(2, flags="A")]
        self.expect_kept(offered, offered[:2])


class BufferAdmitsAgainWhenTheQueueHasDrained(_Buffer):
    def runTest(self) -> None:
        self.buffer_limit(2, 3 * SIZE)
        for _ in range(3):
            offered = frames(7)
            self.expect_kept(offered, offered[:3])


@virtual_time_only
class BufferAdmitsAsSoonAsAFrameHasLeft(_Buffer):
    """The queue is full; when one frame goes onto the wire, exactly one more fits."""

    def runTest(self) -> None:
        self.buffer_limit(2, 3 * SIZE)
        offered = frames(6)
        self.plug(2)
        self.send(1, *offered[:4])
        self.switch.advance(ns=self.wire_ns(PLUG_BYTES))
        self.send(1, *offered[4:])
        self.drain()
        kept = [*offered[:3], offered[4]]
        self.assert_frames(self.departures(2), [packets.forwarded(frame, 2) for frame in kept])


class BufferLimitOfAnotherPortDoesNothingHere(_Buffer):
    def runTest(self) -> None:
        self.buffer_limit(3, 0)
        offered = frames(20)
        self.expect_kept(offered, offered)


@virtual_time_only
class BufferWithoutLimitKeepsADeepQueue(_Buffer):
    """By default the program sets no limit: a thousand full frames wait and all leave."""

    def runTest(self) -> None:
        offered = frames(1000, size=packets.FULL_FRAME)
        self.expect_kept(offered, offered)


@virtual_time_only
class BufferLimitCanBeChangedWhileFramesWait(_Buffer):
    """Lowered below the queued bytes: nothing queued is lost, and nothing more is admitted. Removed: no limit
    again."""

    def runTest(self) -> None:
        offered = frames(12)
        self.plug(2)
        self.send(1, *offered[:6])
        self.buffer_limit(2, 2 * SIZE)
        self.send(1, *offered[6:8])
        self.table_remove("port_buffer", {"port": 2})
        self.send(1, *offered[8:])
        self.drain()
        kept = offered[:6] + offered[8:]
        self.assert_frames(self.departures(2), [packets.forwarded(frame, 2) for frame in kept])
