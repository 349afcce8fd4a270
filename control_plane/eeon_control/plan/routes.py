"""Shortest-path routing with ECMP over all equal-cost next hops, for any connected topology.

A leaf routes each of its hosts by /32 and /128; every other switch routes the leaf's prefix towards it over
all links that lead one hop closer. Each hop brings a packet strictly closer to its leaf, so there are no
loops.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from eeon_control.errors import PlanError
from eeon_control.plan.entries import Action, Entry, Lpm
from eeon_control.topology import Port, PortRole, Switch, Topology

GROUP_SIZE_LIMIT = 64  # max_group_size of the program's ecmp_selector

_TABLE = {4: ("ipv4_route", 32), 6: ("ipv6_route", 128)}


Distances = Mapping[str, Mapping[str, int]]
"""For every leaf, the hops to it from every switch."""


def distances(topology: Topology) -> Distances:
    """Computed once for a whole topology, because every switch needs them all."""
    return {leaf.name: _distances_to(topology, leaf.name) for leaf in topology.leaves}


def route_entries(topology: Topology, switch: Switch, distances: Distances, *, ecmp: bool) -> Iterator[Entry]:
    """Entries of `ipv4_route` and `ipv6_route` of one switch. Raises PlanError for too large a group."""
    for port in switch.ports:
        if port.role is PortRole.HOST_FACING:
            host = topology.hosts[port.peer.node]
            forward = _forward(port, switch.mac, host.mac)
            yield _route(host.ipv4, 32, (forward,))
            yield _route(host.ipv6, 128, (forward,))
    for leaf in topology.leaves:
        if leaf.name == switch.name:
            continue
        distance = distances[leaf.name]
        hops = [
            port
            for port in switch.ports
            if port.peer.node in distance and distance[port.peer.node] == distance[switch.name] - 1
        ]
        if len(hops) > GROUP_SIZE_LIMIT:
            raise PlanError(
                f"{switch.name} has {len(hops)} equal-cost paths to {leaf.name}; the program's "
                f"ecmp_selector holds {GROUP_SIZE_LIMIT} in a group. Use fewer, faster links"
            )
        chosen = hops if ecmp else hops[:1]
        actions = tuple(
            sorted(_forward(port, switch.mac, topology.switches[port.peer.node].mac) for port in chosen)
        )
        assert leaf.ipv4_prefix is not None and leaf.ipv6_prefix is not None
        yield _route(leaf.ipv4_prefix, leaf.ipv4_prefix.prefixlen, actions)
        yield _route(leaf.ipv6_prefix, leaf.ipv6_prefix.prefixlen, actions)


def ecmp_seed(seed: int, topology: Topology) -> dict[str, int]:
    """Each switch's hash seed: odd, 32 bits, different per switch, derived from the configuration's seed.

    Different seeds keep a spine from repeating its leaf's choice; an even one would lose a bit of the hash.
    """
    seeds: dict[str, int] = {}
    taken: set[int] = set()
    for name in topology.switches:
        attempt = 0
        while True:
            digest = hashlib.sha256(f"{seed}/{name}/{attempt}".encode()).digest()
            value = int.from_bytes(digest[:4], "big") | 1
            if value not in taken:
                break
            attempt += 1
        taken.add(value)
        seeds[name] = value
    return seeds


def _distances_to(topology: Topology, leaf: str) -> dict[str, int]:
    """Hops from every switch to one leaf."""
    distance = {leaf: 0}
    queue = deque([leaf])
    while queue:
        here = queue.popleft()
        for port in topology.switches[here].ports:
            there = port.peer.node
            if port.role is not PortRole.HOST_FACING and there not in distance:
                distance[there] = distance[here] + 1
                queue.append(there)
    return distance


def _forward(port: Port, source_mac: str, next_hop_mac: str) -> Action:
    return Action(
        "forward", (("port", port.number), ("src_mac", _mac(source_mac)), ("dst_mac", _mac(next_hop_mac)))
    )


def _route(
    destination: IPv4Address | IPv6Address | IPv4Network | IPv6Network,
    length: int,
    actions: tuple[Action, ...],
) -> Entry:
    table, width = _TABLE[destination.version]
    network = (
        destination if isinstance(destination, (IPv4Address, IPv6Address)) else destination.network_address
    )
    return Entry(table, (Lpm("dst", int(network), length, width),), actions, selector=True)


def _mac(text: str) -> int:
    return int(text.replace(":", ""), 16)
