"""ECMP: how flows spread over the members of a group, and that a flow keeps to one path.

A distribution is compared with the binomial law: with n flows and m equal members each member's count has
mean n/m and variance n (1/m)(1 - 1/m). We allow 5 standard deviations: for a fair hash a false alarm has
probability below 1e-6, and the flows are fixed, so a case that passes once always passes.
"""

from math import sqrt

from finsy import (
    P4ActionProfileGroup,
    P4ActionProfileMember,
    P4IndirectAction,
    P4Member,
    P4TableAction,
    P4TableEntry,
    P4TableMatch,
)
from finsy.p4entity import P4Entity

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, cases

_SIGMAS = 5.0
_FLOWS = 512
_NETWORK = 200
"""Destinations behind no port: 10.0.200.0/24 and fd00:0:0:c8::/64, reached through a group."""
_SEEDS = (1, 3, 5, 7, 9, 15, 0x9E3779B1, 0xC2B2AE35)


def flow(number: int, ipv6: bool = False) -> bytes:
    """Returns a TCP packet of flow `number`: shuffle traffic, with different client ports and hosts."""
    return packets.tcp(
        _NETWORK, host=1 + number % 4, sport=32768 + number // 4, dport=13562, payload=10, ipv6=ipv6
    )


class _Ecmp(FabricTest):
    """Routes 10.0.200.0/24 and fd00:0:0:c8::/64 over a group, and determines the path of each flow."""

    members: tuple[int, ...] = (3, 4, 5, 6)

    def route_to_group(self, members: dict[int, int] | None = None) -> None:
        """Routes over one-shot groups: member port -> weight."""
        chosen = members or dict.fromkeys(self.members, 1)
        actions = [
            (weight, P4TableAction("forward", **self.next_hop(port))) for port, weight in chosen.items()
        ]
        for table, dst in packets.networks(_NETWORK).items():
            match = P4TableMatch(dst=dst)
            self.client.write("INSERT", P4TableEntry(table, match=match, action=P4IndirectAction(actions)))

    def paths(self, frames: list[bytes]) -> list[int]:
        """Returns the egress port of each frame. Frames must differ, and each must leave once, rewritten."""
        self.send(1, *frames)
        self.drain()
        left = {(port, departure.frame) for port in self.members for departure in self.departures(port)}
        self.assertEqual(len(left), len(frames), "packets out for packets in")
        chosen = []
        for frame in frames:
            ways = [port for port in self.members if (port, packets.forwarded(frame, port)) in left]
            self.assertEqual(len(ways), 1, f"ways of {frame.hex()}")
            chosen += ways
        return chosen

    def assert_fair(self, chosen: list[int], members: tuple[int, ...]) -> None:
        """Checks that every member's share is equal within the tolerance of this module."""
        share = 1 / len(members)
        allowed = _SIGMAS * sqrt(len(chosen) * share * (1 - share))
        for port in members:
            self.assertAlmostEqual(chosen.count(port), len(chosen) * share, delta=allowed, msg=f"port {port}")


class _Spread(_Ecmp):
    def fairly(self, members: tuple[int, ...], ipv6: bool) -> None:
        self.members = members
        self.route_to_group()
        self.assert_fair(self.paths([flow(n, ipv6=ipv6) for n in range(_FLOWS)]), members)

    def over_all(self, frames: list[bytes]) -> None:
        self.route_to_group()
        self.assertEqual(set(self.paths(frames)), set(self.members))


_FAIR = {
    "EcmpSpreadsIpv4FlowsFairlyOverAllMembers": ((3, 4, 5, 6), False),
    "EcmpSpreadsIpv6FlowsFairlyOverAllMembers": ((3, 4, 5, 6), True),
    # A group whose size is not a power of two.
    "EcmpSpreadsFairlyOverThreeMembers": ((3, 4, 5), False),
}
globals().update(cases(__name__, _Spread, _Spread.fairly, _FAIR))

_OVER_ALL = {
    # Flows between the same two hosts.
    "EcmpUsesTheTransportPorts": ([packets.tcp(_NETWORK, sport=10000 + n, payload=1) for n in range(64)],),
    "EcmpSpreadsUdpFlows": ([packets.udp(_NETWORK, sport=10000 + n) for n in range(64)],),
}
globals().update(cases(__name__, _Spread, _Spread.over_all, _OVER_ALL))


class EcmpKeepsAFlowOnOnePath(_Ecmp):
    """Packets of one flow with different lengths, flags, sequence numbers, ECN and TTL take the same path."""

    def runTest(self) -> None:
        self.route_to_group()
        for sport in range(40000, 40016):
            variants = [
                packets.tcp(_NETWORK, sport=sport, flags="S"),
                packets.tcp(_NETWORK, sport=sport, payload=1400, seq=77),
                packets.tcp(_NETWORK, sport=sport, payload=10, ecn=packets.Ecn.CE, dscp=10),
                packets.tcp(_NETWORK, sport=sport, flags="FA", ttl=9),
                packets.tcp(_NETWORK, sport=sport, flags="A", pad_to=60),
                packets.tcp(_NETWORK, sport=sport, flags="A", vlan=7),
            ]
            self.assertEqual(len(set(self.paths(variants))), 1, f"paths of the flow from port {sport}")


class EcmpKeepsFragmentsOfADatagramTogether(_Ecmp):
    """Later fragments have no ports, so the first fragment's ports must not count either."""

    def runTest(self) -> None:
        self.route_to_group()
        fragments = [packets.tcp_fragment(_NETWORK, first=True), packets.tcp_fragment(_NETWORK, first=False)]
        self.assertEqual(len(set(self.paths(fragments))), 1)


class EcmpSameSeedGivesTheSameChoices(_Ecmp):
    """The negative control of the next case: two switches with the same seed choose alike (they polarise)."""

    def runTest(self) -> None:
        self.route_to_group()
        frames = [flow(n) for n in range(128)]
        self.set_default("switch_config", "set_ecmp_seed", {"seed": 5})
        first = self.paths(frames)
        self.assertEqual(self.paths(frames), first)


class EcmpDifferentSeedsDoNotPolarise(_Ecmp):
    """A spine gets only the flows that the leaf's hash sent to it. With another seed it distributes each such
    part fairly, for every pair of eight seeds. The small odd numbers are the hard case: if a hash only
    multiplies by its seed, two seeds of which one is a small multiple of the other choose alike."""

    members = (3, 4)

    def runTest(self) -> None:
        self.route_to_group()
        frames = [flow(n) for n in range(_FLOWS)]
        choices = {}
        for seed in _SEEDS:
            self.set_default("switch_config", "set_ecmp_seed", {"seed": seed})
            choices[seed] = self.paths(frames)
        for leaf, leaf_choice in choices.items():
            for spine, spine_choice in choices.items():
                if spine == leaf:
                    continue
                for member in self.members:
                    part = [way for at, way in zip(leaf_choice, spine_choice, strict=True) if at == member]
                    with self.subTest(leaf_seed=leaf, spine_seed=spine, leaf_member=member):
                        self.assert_fair(part, self.members)


class EcmpSpreadsThePacketsOfAFlowWhereItIsToldTo(_Ecmp):
    """Packets of one flow use all members fairly, even if packets of another flow come between them, with and
    without queues by class. Afterwards a flow keeps its path again."""

    def runTest(self) -> None:
        self.route_to_group()
        for action in ("spray_packets", "spray_packets_and_priorities"):
            self.set_default("switch_config", action, {"seed": 0x9E3779B1})
            frames = [
                packets.tcp(_NETWORK, sport=40000 + number % 2, seq=number, payload=10)
                for number in range(2 * _FLOWS)
            ]
            ways = self.paths(frames)
            for first in (0, 1):
                with self.subTest(action=action, flow=first):
                    self.assert_fair(ways[first::2], self.members)
        self.set_default("switch_config", "set_ecmp_seed", {"seed": 1})
        self.assertEqual(len(set(self.paths(frames[::2]))), 1)


class EcmpMembersOfAGroupAreAllUsedUntilTheyLeaveIt(_Ecmp):
    """The same with explicit members and a group. P4Runtime does not allow one-shot groups in the same
    profile (P4RT 9.2.3), so there are no other routes."""

    def routes(self) -> list[P4Entity]:
        return []

    def runTest(self) -> None:
        for number, port in enumerate(self.members, start=1):
            action = P4TableAction("forward", **self.next_hop(port))
            member = P4ActionProfileMember("ecmp_selector", member_id=number, action=action)
            self.client.write("INSERT", member)
        self.client.write("INSERT", self.group_of(1, 2, 3, 4))
        match = P4TableMatch(dst=packets.networks(_NETWORK)["ipv4_route"])
        route = P4TableEntry("ipv4_route", match=match, action=P4IndirectAction(group_id=1))
        self.client.write("INSERT", route)
        flows = [flow(n) for n in range(_FLOWS)]
        self.assert_fair(self.paths(flows), self.members)
        self.client.write("MODIFY", self.group_of(1, 2, 3))
        self.assert_fair(self.paths(flows), self.members[:3])

    def group_of(self, *members: int) -> P4Entity:
        """Returns the group with these members."""
        equal = [P4Member(member, weight=1) for member in members]
        return P4ActionProfileGroup("ecmp_selector", group_id=1, max_size=16, members=equal)


class EcmpWeightsAreKept(_Ecmp):
    """Weights 3 and 1: three quarters of the flows on the first member, within the tolerance."""

    members = (3, 4)

    def runTest(self) -> None:
        self.route_to_group({3: 3, 4: 1})
        chosen = self.paths([flow(n) for n in range(_FLOWS)])
        allowed = _SIGMAS * sqrt(_FLOWS * 0.75 * 0.25)
        self.assertAlmostEqual(chosen.count(3), _FLOWS * 0.75, delta=allowed)
