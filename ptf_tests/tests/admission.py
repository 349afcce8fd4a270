"""The frames that the router forwards: those for its own address at the port, between routable addresses
(control/admit.p4). The others are counted by their verdict at the ingress port, and dropped."""

from itertools import product

from finsy.p4entity import P4Entity
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest
from ptf_tests.lib.packets import Network, PacketClass, Verdict

IN, OUT = 1, 2
FORMS: list[Network] = [{"ipv6": ipv6, "vlan": vlan} for ipv6, vlan in product((False, True), (None, 7))]
"""IPv4 and IPv6, without a VLAN tag and with one."""
STATIONS = {
    "another unicast address": "02:01:00:00:00:7f",
    "the router's address at another port": packets.switch_mac(OUT),
    "broadcast": "ff:ff:ff:ff:ff:ff",
    "a multicast group": "01:00:5e:00:00:05",
}
MARTIANS_IPV4 = {
    "this network": "0.0.0.0",
    "loopback": "127.0.0.1",
    "the end of loopback": "127.255.255.255",
    "link-local": "169.254.1.1",
    "multicast": "224.0.0.5",
    "the end of multicast": "239.255.255.255",
    "class E": "240.0.0.1",
    "broadcast": "255.255.255.255",
}
MARTIANS_IPV6 = {
    "unspecified": "::",
    "loopback": "::1",
    "link-local": "fe80::1",
    "the end of link-local": "febf:ffff::1",
    "multicast": "ff02::5",
}
NO_MARTIANS_IPV4 = (
    "1.0.0.1",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "223.255.255.255",
)
NO_MARTIANS_IPV6 = ("::2", "fe7f:ffff::1", "fec0::1", "fdff:ffff::1", "2001:db8::1")


def addressed(frame: bytes, mac: str) -> bytes:
    """Returns the frame with another destination MAC."""
    found = Ether(frame)
    found.dst = mac
    return bytes(found)


def between(frame: bytes, **address: str) -> bytes:
    """Returns the frame with another address, `src` or `dst`, and a correct header checksum."""
    found = Ether(frame)
    network = found[IPv6] if IPv6 in found else found[IP]
    for name, value in address.items():
        setattr(network, name, value)
    if IP in found:
        del network.chksum
    return bytes(found)


class _Refused(FabricTest):
    def expect(self, frames: list[bytes], verdict: Verdict) -> None:
        """Checks that nothing leaves, and that each frame is counted once."""
        self.forget_counts()
        self.send(IN, *frames)
        self.drain()
        self.assert_silent()
        self.assertEqual(self.verdicts(IN), {(PacketClass.OTHER, verdict): len(frames)})


class FramesForOtherStationsAreNotForwarded(_Refused):
    def runTest(self) -> None:
        for mac in STATIONS.values():
            self.expect([addressed(packets.udp(OUT, **form), mac) for form in FORMS], Verdict.NOT_ADMITTED)


class FramesForOtherStationsAreNotForwardedWhateverTheyCarry(_Refused):
    """An ARP request has no route either; but first of all, it is not addressed to the router."""

    def runTest(self) -> None:
        self.expect([addressed(packets.udp(OUT, ttl=1), STATIONS["broadcast"])], Verdict.NOT_ADMITTED)
        self.expect([bytes.fromhex("ff" * 6 + "020000000001" + "0806") + bytes(46)], Verdict.NOT_ADMITTED)


class MartianSourcesAndDestinationsAreNotForwarded(_Refused):
    def runTest(self) -> None:
        for form in FORMS:
            frame = packets.udp(OUT, **form)
            for address in (MARTIANS_IPV6 if form["ipv6"] else MARTIANS_IPV4).values():
                self.expect([between(frame, src=address), between(frame, dst=address)], Verdict.MARTIAN)


class MartianDestinationsAreNotForwardedThoughARouteLeadsThere(_Refused):
    def runTest(self) -> None:
        for table in ("ipv4_route", "ipv6_route"):
            self.table_add(table, {}, "forward", self.next_hop(OUT))
        self.expect(
            [between(packets.udp(OUT), dst=address) for address in MARTIANS_IPV4.values()], Verdict.MARTIAN
        )
        frame = packets.udp(OUT, ipv6=True)
        self.expect([between(frame, dst=address) for address in MARTIANS_IPV6.values()], Verdict.MARTIAN)


class AddressesBesideTheMartianRangesAreForwarded(FabricTest):
    def runTest(self) -> None:
        sources = [between(packets.udp(OUT), src=address) for address in NO_MARTIANS_IPV4]
        sources += [between(packets.udp(OUT, ipv6=True), src=address) for address in NO_MARTIANS_IPV6]
        self.send(IN, *sources)
        self.assert_frames(self.drained(OUT), [packets.forwarded(frame, OUT) for frame in sources])


class WithoutEntriesNothingIsForwarded(_Refused):
    def addresses(self) -> list[P4Entity]:
        return []

    def runTest(self) -> None:
        self.expect([packets.udp(OUT, **form) for form in FORMS], Verdict.NOT_ADMITTED)


class PortThatAdmitsAllForwardsFramesForAnyStation(FabricTest):
    def runTest(self) -> None:
        self.set_default("l3_admit", "admit_to_l3", {})
        frames = [addressed(packets.udp(OUT, sport=n), mac) for n, mac in enumerate(STATIONS.values(), 1)]
        self.send(IN, *frames)
        self.assert_frames(self.drained(OUT), [packets.forwarded(frame, OUT) for frame in frames])
