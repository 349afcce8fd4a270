"""The program's own account of each queue, in bytes and packets: correct at all times, and zero when the port
is empty.

Every other case of the suite ends with the same check (FabricTest.tearDown); these check the times between,
and histories that could make the account drift.
"""

import random

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import PLUG_BYTES, FabricTest, virtual_time_only
from ptf_tests.lib.packets import Ecn


class _Occupancy(FabricTest):
    def assert_waiting(self, port: int, *sizes: int) -> None:
        """Checks that the queue of `port` has exactly frames of these lengths."""
        found = (self.register("occupancy_packets", port), self.register("occupancy_bytes", port))
        self.assertEqual(found, (len(sizes), sum(sizes)), "packets and bytes waiting")


class OccupancyIsZeroBeforeAnyPacket(_Occupancy):
    def runTest(self) -> None:
        self.assert_empty()


@virtual_time_only
class OccupancyDoesNotCountTheFrameOnTheWire(_Occupancy):
    def runTest(self) -> None:
        self.send(1, packets.data(2, size=1500))
        self.switch.advance(ns=1)
        self.assert_waiting(2)


@virtual_time_only
class OccupancyIsTheSumOfWhatWaits(_Occupancy):
    def runTest(self) -> None:
        sizes = (60, 1514, 333, 54)
        self.plug(2)
        for position, size in enumerate(sizes, start=1):
            frame = packets.tcp(2, flags="A") if size == 54 else packets.data(2, size=size)
            self.send(1, frame)
            self.assert_waiting(2, *sizes[:position])


@virtual_time_only
class OccupancyCountsPaddingAndVlanTags(_Occupancy):
    """Bytes are those of the frame, not of the IP packet."""

    def runTest(self) -> None:
        self.plug(2)
        self.send(1, packets.tcp(2, flags="A", pad_to=60), packets.tcp(2, flags="A", vlan=3))
        self.assert_waiting(2, 60, 58)


@virtual_time_only
class OccupancyFallsByOneFrameAtEachDeparture(_Occupancy):
    """The plug is sent within its transmit time; then each frame leaves the queue when its sending starts."""

    def runTest(self) -> None:
        sizes = [1000, 200, 600]
        self.plug(2)
        self.send(1, *(packets.data(2, size=size) for size in sizes))
        self.switch.advance(ns=self.wire_ns(PLUG_BYTES) - 1)
        while sizes:
            leaving = sizes.pop(0)
            self.assert_waiting(2, *sizes)
            self.switch.advance(ns=self.wire_ns(leaving))


@virtual_time_only
class OccupancyOfPortsIsTheirOwn(_Occupancy):
    def runTest(self) -> None:
        self.plug(2, 3)
        self.send(1, packets.data(2, size=100), packets.data(3, size=700), packets.data(3, size=800))
        self.assert_waiting(2, 100)
        self.assert_waiting(3, 700, 800)
        self.assert_waiting(4)


@virtual_time_only
class OccupancyDoesNotCountWhatIsDropped(_Occupancy):
    """Neither early drops, nor tail drops, nor packets that were never queued."""

    def runTest(self) -> None:
        self.red(2, low=1000, high=1000)
        self.buffer_limit(2, 1500)
        self.plug(2)
        self.send(1, packets.data(2, size=1000), packets.data(2, size=300))
        self.send(1, packets.data(2, size=900, ecn=Ecn.ECT0), packets.data(2, size=500, ecn=Ecn.ECT0))
        self.send(1, packets.udp(2, ttl=1), packets.udp(200), packets.udp(2)[:20])
        self.assert_waiting(2, 1000, 500)


@virtual_time_only
class OccupancyReturnsToZeroAfterADeepBurst(_Occupancy):
    def runTest(self) -> None:
        self.plug(2)
        self.send(1, *(packets.data(2, size=1514) for _ in range(1500)))
        self.assert_waiting(2, *[1514] * 1500)
        self.drain()
        self.assertEqual(len(self.departures(2)), 1500)
        self.assert_empty()


@virtual_time_only
class OccupancyReturnsToZeroAfterOverload(_Occupancy):
    """Ten times the buffer limit, three times, in every mode that drops or marks."""

    def runTest(self) -> None:
        self.buffer_limit(2, 30_000)
        self.red(2, low=10_000, high=20_000, probability=0.5, average_shift=3)
        for _ in range(3):
            offered = [packets.data(2, size=1000, ecn=n % 4, seq=n) for n in range(300)]
            self.send(1, *offered)
            self.drain()
            self.assertTrue(0 < len(self.departures(2)) < 300)
            self.assert_empty()


@virtual_time_only
class OccupancyReturnsToZeroAfterRandomTraffic(_Occupancy):
    """Five hundred packets of all kinds over four ports with four modes, on average faster than the links:
    the registers are never negative (huge), and zero in the end."""

    def runTest(self) -> None:
        source = random.Random(7)
        self.mark_threshold(2, 3_000)
        self.red(3, low=1_000, high=9_000, probability=0.3, protect=2)
        self.red(4, low=2, high=20, in_packets=True, average_shift=2, ecn=False)
        for port in (2, 3, 4, 5):
            self.buffer_limit(port, 15_000)
        for number in range(500):
            port = source.choice((2, 3, 4, 5))
            kind = source.randrange(10)
            ipv6 = bool(source.randrange(2))
            if kind < 6:
                frame = packets.data(
                    port, size=source.randrange(80, 1515), ecn=source.randrange(4), ipv6=ipv6
                )
            elif kind < 9:
                packet_class = source.choice(list(packets.BUILDERS))
                frame = packets.of_class(packet_class, port, ipv6=ipv6, ecn=source.randrange(4))
            else:
                frame = packets.udp(port, ttl=1, ipv6=ipv6)
            self.send(1, frame)
            if number % 5 == 0:
                self.switch.advance(ns=source.randrange(12_000))
                for watched in (2, 3, 4, 5):
                    self.assertLessEqual(self.register("occupancy_bytes", watched), 15_000)
        self.drain()
        self.assert_empty()
