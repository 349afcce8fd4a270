"""Packet-out and packet-in: frames between the controller and the ports.

A packet-out leaves its egress port unchanged, through the same queue as all other packets. A packet-in has
its ingress port as metadata; the route action `to_cpu` sends it.
"""

from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, cases, virtual_time_only
from ptf_tests.lib.packets import Ecn, PacketClass, Verdict
from ptf_tests.lib.ports import COPY_PORT, CPU_PORT, DROP_PORT

_TIMEOUT_SECS = 5.0
_ROUTER = 77
"""10.0.77.0/24 and its IPv6 counterpart go to the controller in these cases."""


class _PacketIo(FabricTest):
    def route_to_cpu(self) -> None:
        """Routes 10.0.77.0/24 and its IPv6 counterpart to the controller."""
        for table, dst in packets.networks(_ROUTER).items():
            self.table_add(table, {"dst": dst}, "to_cpu")

    def is_sent(self, frame: bytes, packet_class: PacketClass) -> None:
        """Checks that a packet-out leaves as it is, and is counted in its class."""
        self.packet_out(3, frame)
        self.assert_frames(self.drained(3), [frame])
        self.assertEqual(self.received(CPU_PORT), {packet_class: 1})
        self.assertEqual(self.verdicts(3), {(packet_class, Verdict.FORWARDED): 1})

    def is_received(self, *arrivals: tuple[bytes, int]) -> None:
        self.route_to_cpu()
        for frame, port in arrivals:
            self.expect_packet_in(frame, port)

    def expect_packet_in(self, frame: bytes, port: int) -> None:
        """Sends a frame in at `port` and checks that the controller gets it, unchanged, with the port."""
        self.send(port, frame)
        self.drain()
        packet = self.client.packet_in(_TIMEOUT_SECS)
        assert packet is not None, "no packet-in"
        self.assertEqual(packet.payload.hex(), frame.hex())
        self.assertEqual(packet["ingress_port"], port)
        self.assert_silent()


class PacketOutLeavesItsPortUnchanged(_PacketIo):
    """No route, no TTL, no MAC rewriting: the controller's bytes, on every port."""

    def runTest(self) -> None:
        for port in (1, 2, 8):
            frame = packets.udp(200, ttl=1, ecn=Ecn.ECT0)
            self.packet_out(port, frame)
            self.assert_frames(self.drained(port), [frame])
            self.assert_silent()


def _to_everybody() -> bytes:
    frame = Ether(packets.udp(2))
    frame.dst, frame[IP].dst = "ff:ff:ff:ff:ff:ff", "255.255.255.255"
    return bytes(frame)


_SENT = {
    "PacketOutIsSentForWhateverStationAndAddress": (_to_everybody(), PacketClass.OTHER),
    # LLDP, ARP and any other protocol of a controller.
    "PacketOutNeedNotBeIp": (bytes.fromhex("0180c200000e02010000000188cc") + bytes(46), PacketClass.OTHER),
    # A packet-out is never addressed to this switch.
    "MacControlFrameOfTheControllerIsSent": (packets.mac_control(2), PacketClass.CONTROL),
    "PacketOutIsCounted": (packets.tcp(2, flags="S"), PacketClass.SYN),
}
globals().update(cases(__name__, _PacketIo, _PacketIo.is_sent, _SENT))


@virtual_time_only
class PacketOutWaitsItsTurnInTheQueue(_PacketIo):
    """It waits in the queue of its port, is counted there, and leaves after the packets before it."""

    def runTest(self) -> None:
        self.plug(2)
        first = packets.data(2, size=1000)
        self.send(1, first)
        frame = packets.udp(2, payload=58)
        before = self.register("occupancy_bytes", 2)
        self.client.packet_out(frame, 2)
        self.wait_for(lambda: self.register("occupancy_packets", 2) == 2)
        self.assertEqual(
            self.register("occupancy_bytes", 2), before + len(frame), "without the packet_out header"
        )
        self.assert_frames(self.drained(2), [packets.forwarded(first, 2), frame])


class PacketOutStandsInTheQueueOfItsDscp(_PacketIo):
    def runTest(self) -> None:
        self.table_add("dscp_priority", {"dscp": 46}, "set_priority", {"priority": 5})
        frame = packets.udp(2, dscp=46)
        if self.switch.virtual_time:
            self.plug(2)
            self.client.packet_out(frame, 2)
            self.wait_for(lambda: self.queue_register("queue_bytes", 2, 5) == len(frame))
        else:
            self.packet_out(2, frame)
        self.assert_frames(self.drained(2), [frame])
        self.assertEqual(self.queue_register("queue_bytes", 2, 5), 0)


class PacketOutToNoDataPortIsDroppedAndCounted(_PacketIo):
    """The ports of copies, of the controller and of drops have no queue that would be drained."""

    def runTest(self) -> None:
        for number, port in enumerate((COPY_PORT, CPU_PORT, DROP_PORT), start=1):
            self.packet_out(port, packets.udp(2))
            self.drain()
            self.assert_silent()
            self.assertEqual(self.verdicts(CPU_PORT), {(PacketClass.OTHER, Verdict.NO_ROUTE): number})
        self.assertIsNone(self.client.packet_in(0.2), "must not come back")


_RECEIVED = {
    "PacketInCarriesItsIngressPort": tuple((packets.udp(_ROUTER, frm=port), port) for port in (1, 3, 8)),
    "PacketInOfIpv6CarriesItsIngressPort": ((packets.udp(_ROUTER, ipv6=True), 1),),
    # It is not forwarded, so its TTL of 1 does not expire (traceroute to the switch).
    "PacketInKeepsAnExpiringTtl": ((packets.udp(_ROUTER, ttl=1), 1),),
}
globals().update(cases(__name__, _PacketIo, _PacketIo.is_received, _RECEIVED))


class PacketInIsCountedAtTheIngressPort(_PacketIo):
    def runTest(self) -> None:
        self.route_to_cpu()
        self.expect_packet_in(packets.tcp(_ROUTER, flags="A", frm=3), 3)
        self.assertEqual(self.received(3), {PacketClass.ACK: 1})
        self.assertEqual(self.verdicts(3), {(PacketClass.ACK, Verdict.TO_CPU): 1})


class PacketsInKeepTheirOrder(_PacketIo):
    def runTest(self) -> None:
        self.route_to_cpu()
        sent = [packets.udp(_ROUTER, sport=1000 + n) for n in range(50)]
        self.send(1, *sent)
        self.drain()
        received = [self.client.packet_in(_TIMEOUT_SECS) for _ in sent]
        self.assertEqual([p.payload.hex() if p else None for p in received], [f.hex() for f in sent])
