"""The buffer limit of a port, in bytes of waiting frames: enforced in ingress, exact to the byte, counted,
and valid for every class. A frame on the wire is not in the queue.
"""

from functools import partial

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, cases
from ptf_tests.lib.packets import Ecn, PacketClass, Verdict

SIZE = 500


frames = partial(packets.numbered, size=SIZE)


class _Buffer(FabricTest):
    def limit_keeps(
        self, limit: int, offered: list[bytes], kept: list[bytes], action: str = "set_buffer_limit"
    ) -> None:
        """Checks which frames of a burst a limit keeps, again when the queue has drained, and that the others
        are counted as tail drops."""
        self.buffer_limit(2, limit, action)
        for _ in range(2):
            self.forget_counts()
            self.assert_frames(self.burst(2, offered), [packets.forwarded(frame, 2) for frame in kept])
            found = self.verdicts(2).items()
            dropped = sum(count for (_, verdict), count in found if verdict == Verdict.TAIL_DROPPED)
            self.assertEqual(dropped, len(offered) - len(kept))

    def limit_drops(self, action: str) -> None:
        """Checks that a limit of zero drops everything, even at an idle port."""
        self.buffer_limit(2, 0, action)
        self.send(1, *frames(3))
        self.drain()
        self.assert_silent()
        self.assertEqual(self.verdicts(2), {(PacketClass.DATA, Verdict.TAIL_DROPPED): 3})


_IN_PACKETS, _BESIDE_HELD = "set_buffer_limit_in_packets", "set_buffer_limit_beside_held"
_FULL, _SMALL = frames(5, size=packets.FULL_FRAME), frames(5, size=100)
_ACK = packets.tcp(2, flags="A")
_SMALLER = packets.data(2, size=200)
_KEPT = {
    # 5 x 500 bytes fit into 2500; the sixth frame does not.
    "BufferHoldsExactlyItsLimit": (5 * SIZE, frames(8), frames(5)),
    "BufferOneByteShortDropsOneMore": (5 * SIZE - 1, frames(8), frames(4)),
    "BufferOneByteMoreHoldsNoMore": (5 * SIZE + 1, frames(8), frames(5)),
    # Nothing is held, so nothing waits outside the buffer: the limit in bytes applies.
    "BufferBesideHeldIsTheWholeBufferWhereEeeIsOff": (5 * SIZE, frames(8), frames(5), _BESIDE_HELD),
    # 1200 bytes: two frames of 500 fit, a third does not, one of exactly 200 still does, and then nothing.
    "BufferTakesASmallFrameWhereALargeOneDidNotFit": (
        *(2 * SIZE + 200, [*frames(4), _SMALLER, _ACK]),
        [*frames(2), _SMALLER],
    ),
    # Three packets of any length: a small frame takes as much space as a full one.
    "BufferInPacketsHoldsFullFrames": (3, _FULL, _FULL[:3], _IN_PACKETS),
    "BufferInPacketsHoldsAsManySmallFrames": (3, _SMALL, _SMALL[:3], _IN_PACKETS),
    "BufferInPacketsAdmitsNoSmallFrameWhereNoLargeOneFits": (2, [*frames(2), _ACK], frames(2), _IN_PACKETS),
}
globals().update(cases(__name__, _Buffer, _Buffer.limit_keeps, _KEPT))

_DROPPED = {
    "BufferZeroDropsEverything": ("set_buffer_limit",),
    "BufferOfNoPacketsDropsEverything": (_IN_PACKETS,),
}
globals().update(cases(__name__, _Buffer, _Buffer.limit_drops, _DROPPED))


class BufferTailDropsAreCountedByClass(_Buffer):
    """No class is protected from a full buffer. Verdict `tail_dropped` under the egress port."""

    def runTest(self) -> None:
        self.buffer_limit(2, SIZE)
        self.burst(2, frames(1) + [build(2) for build in packets.BUILDERS.values()] * 3)
        counted = {(packet_class, Verdict.TAIL_DROPPED): 3 for packet_class in packets.BUILDERS}
        counted[PacketClass.DATA, Verdict.FORWARDED] = 1
        self.assertEqual(self.verdicts(2), counted)


class BufferDropsEctAndNotEctAlike(_Buffer):
    def runTest(self) -> None:
        self.buffer_limit(2, 2 * SIZE)
        self.mark_threshold(2, 0)
        left = self.burst(2, frames(6, ecn=Ecn.ECT0))
        self.assertEqual([departure.ecn for departure in left], [Ecn.ECT0, Ecn.CE])
