"""The program's own account of each queue, in bytes and packets: correct at all times, and zero when the port
is empty.

Every other case of the suite ends with the same check (FabricTest.tearDown); these check the times between.
"""

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import PLUG_BYTES, FabricTest, virtual_time_only
from ptf_tests.lib.packets import Ecn


class _Occupancy(FabricTest):
    def assert_waiting(self, port: int, *sizes: int) -> None:
        """Checks that the queue of `port` has exactly frames of these lengths."""
        found = (self.register("occupancy_packets", port), self.register("occupancy_bytes", port))
        self.assertEqual(found, (len(sizes), sum(sizes)), "packets and bytes waiting")


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
