"""Priorities: the choice of a port's queue for a packet, by DSCP and PCP, and what the queues share.

The handling of several queues depends on the target: the order between queues is checked only in virtual
time.
"""

import random

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, cases, virtual_time_only
from ptf_tests.lib.eee import Eee
from ptf_tests.lib.packets import PacketClass, Verdict
from ptf_tests.lib.ports import PRIORITIES
from ptf_tests.lib.targets.base import SwitchOptions

PORT = 2
AF31, EF = 26, 46


class _Priorities(FabricTest):
    """DSCP 26 is priority 3, DSCP 46 priority 5, PCP 6 priority 6."""

    def setUp(self) -> None:
        super().setUp()
        self.priorities({AF31: 3, EF: 5})
        self.table_add("pcp_priority", {"pcp": 6}, "set_priority", {"priority": 6})

    def tearDown(self) -> None:
        self.drain()
        self.assertEqual(self.queued(PORT), {}, "accounts of queues, all empty")
        super().tearDown()

    def queued(self, port: int) -> dict[int, int]:
        """Returns the bytes in each of a port's queues with an account, all but the lowest, without zeros."""
        found = {p: self.queue_register("queue_bytes", port, p) for p in range(PRIORITIES)}
        return {priority: count for priority, count in found.items() if count}

    def expect_queue(self, frame: bytes, priority: int) -> None:
        """Checks that the frame waits behind a plug, in the account of only this priority."""
        self.plug(PORT)
        self.send(1, frame)
        self.assertEqual(self.queued(PORT), {priority: len(frame)} if priority else {})
        self.assertEqual(self.register("occupancy_bytes", PORT), len(frame), "of the port")
        self.assert_frames(self.drained(PORT), [packets.forwarded(frame, PORT)])


def _tagged(pcp: int, dscp: int = 0) -> bytes:
    """Returns an IPv4 packet in a frame with this PCP."""
    frame = bytearray(packets.udp(PORT, vlan=7, dscp=dscp))
    frame[14] = pcp << 5
    return bytes(frame)


@virtual_time_only
class _Exact(_Priorities):
    """A queue that is known while a frame is on the wire."""

    def expect_queue_of_ef(self, priority: int, *actions: str) -> None:
        """Checks the queue of DSCP 46 under each of these actions of `switch_config`."""
        for action in actions:
            self.set_default("switch_config", action, {"seed": 1})
            self.expect_queue(packets.udp(PORT, dscp=EF), priority)


_QUEUES = {
    "DscpChoosesTheQueueOfAnIpv4Packet": (packets.udp(PORT, dscp=AF31), 3),
    "DscpChoosesTheQueueOfAnIpv6Packet": (packets.udp(PORT, dscp=EF, ipv6=True), 5),
    "DscpWithoutEntryIsOfTheLowestQueue": (packets.udp(PORT, dscp=EF + 1), 0),
    "PcpChoosesTheQueueWhereTheDscpSaysNothing": (_tagged(6), 6),
    "PcpWithoutEntryIsOfTheLowestQueue": (_tagged(5), 0),
    # A router uses the IP header.
    "DscpGoesBeforePcp": (_tagged(6, dscp=AF31), 3),
}
globals().update(cases(__name__, _Exact, _Exact.expect_queue, _QUEUES))

_CONFIGURED = {
    "WithoutPrioritiesNoTableIsAsked": (0, "set_ecmp_seed", "spray_packets"),
    # A switch that sprays packets over equal paths classifies them like any other.
    "SpreadPacketsGoToTheirQueue": (5, "spray_packets_and_priorities"),
}
globals().update(cases(__name__, _Exact, _Exact.expect_queue_of_ef, _CONFIGURED))


@virtual_time_only
class DscpWithoutEntryIsOfTheQueueOfTheDefault(_Priorities):
    """So that a scavenger class can be below it."""

    def runTest(self) -> None:
        self.set_default("dscp_priority", "set_priority", {"priority": 1})
        self.table_add("dscp_priority", {"dscp": 1}, "set_priority", {"priority": 0})
        self.expect_queue(packets.udp(PORT, dscp=EF + 1), 1)
        self.expect_queue(packets.udp(PORT, dscp=1), 0)


@virtual_time_only
class HighestQueueLeavesFirst(_Priorities):
    """Strict priority, first come first served within each."""

    def runTest(self) -> None:
        low, middle, high = (
            [packets.data(PORT, dscp=dscp, sport=1000 + number) for number in range(3)]
            for dscp in (0, AF31, EF)
        )
        mixed = [frame for frames in zip(low, middle, high, strict=True) for frame in frames]
        left = self.burst(PORT, mixed)
        self.assert_frames(left, [packets.forwarded(frame, PORT) for frame in (*high, *middle, *low)])


class OrderIsKeptWithinEachQueue(_Priorities):
    """On every target, whatever its order between queues: frames of random sizes, which arrive alternately at
    four ports if the target takes them in order."""

    def runTest(self) -> None:
        source, dscps = random.Random(1), (0, AF31, EF)
        ports = (1, 3, 4, 5) if self.switch.keeps_order_between_ports else (1,)
        frames = [
            packets.data(PORT, dscp=dscps[n % 3], size=source.randrange(80, 1515), sport=1000 + n)
            for n in range(200)
        ]
        for n, frame in enumerate(frames):
            port = ports[n % len(ports)]
            self.send(port, packets.arriving(frame, port))
        left = [departure.frame for departure in self.drained(PORT)]
        for which in range(len(dscps)):
            wanted = [packets.forwarded(frame, PORT) for frame in frames[which :: len(dscps)]]
            self.assertEqual([frame for frame in left if frame in wanted], wanted)
        self.assertEqual(len(left), len(frames))
        self.assertEqual(self.verdicts(PORT), {(PacketClass.DATA, Verdict.FORWARDED): len(frames)})


@virtual_time_only
class QueuesShareThePortsBuffer(_Priorities):
    def runTest(self) -> None:
        frames = [packets.data(PORT, dscp=dscp) for dscp in (0, 0, EF)]
        self.buffer_limit(PORT, len(frames[0]) * 2)
        left = self.burst(PORT, frames)
        self.assertEqual(len(left), 2)
        self.assertEqual(self.verdicts(PORT)[PacketClass.DATA, Verdict.TAIL_DROPPED], 1)


class TicketsAreGivenByQueue(_Priorities):
    """A packet that waits in one queue delays no other queue."""

    options = SwitchOptions(gate=False)

    def runTest(self) -> None:
        # A short wake, so that all take tickets and recirculate.
        tick = self.switch.tick_ns
        self.table_add("port_eee", {"port": PORT}, "eee", Eee(sleep=0, wake=2 * tick).params(tick))
        frames = [packets.data(PORT, dscp=dscp, sport=1000 + n) for n, dscp in enumerate((0, 0, EF))]
        self.send(1, *frames)
        left = [departure.frame for departure in self.drained(PORT)]
        self.assertEqual(sorted(left), sorted(packets.forwarded(frame, PORT) for frame in frames))
        for priority, tickets in ((0, 2), (5, 1), (3, 0)):
            for register in ("ticket_next", "ticket_serving"):
                self.assertEqual(self.queue_register(register, PORT, priority), tickets, register)
