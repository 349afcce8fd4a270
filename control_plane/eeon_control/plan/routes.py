"""Shortest-path routing with ECMP over equal-cost next hops, for any connected topology.

A leaf has /32 and /128 routes to its hosts; every other switch routes the leaf's prefix over links that lead
one hop closer to it. Each hop brings a packet strictly closer to its leaf, so that routes cannot loop.

Links that are down remove next hops and add none: a next hop is usable for a leaf if its link is up and the
neighbour is the leaf or itself has a usable next hop. The remaining hops still lead closer, and a switch
without any has no route to the leaf.

Leaves with the same neighbours are equally far from every other switch, and a switch that is not their
neighbour reaches them all over the same next hops. So distances and next hops are computed once for such a
group of leaves (a pod, or all leaves of a leaf-spine fabric), and entries share their actions.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from itertools import count
from operator import attrgetter

from eeon_control.config import Routing
from eeon_control.config.model import ECMP_PATHS_LIMIT
from eeon_control.entries import Action, Entry, Exact, Lpm
from eeon_control.errors import PlanError
from eeon_control.routing import ROUTE_TABLES
from eeon_control.topology import Port, PortRole, Switch, Topology, mac_number

ADMIT = "l3_admit"
ADMITTED = "admit_to_l3"

_Match = tuple[str, tuple[Lpm, ...]]  # a table and its match


@dataclass
class _Group:
    """Leaves with the same neighbours, and every other switch's number of hops to any of them."""

    neighbours: frozenset[str]
    leaves: list[Switch] = field(default_factory=list)
    distance: dict[str, int] = field(default_factory=dict)


class Router:
    """Routes of all switches of one topology."""

    def __init__(self, topology: Topology, routing: Routing, dead: Collection[str] = ()) -> None:
        """Creates a router. `dead`: names of the ports at both ends of links that are down (`dead_ends`)."""
        self._topology = topology
        self._dead = dead
        self._reach: dict[str, frozenset[str]] = {}  # leaf -> switches with a usable next hop
        self._paths_limit = routing.max_paths if routing.ecmp else 1  # None: all
        self._rotate = bool(routing.ecmp)
        self._versions = [4] * routing.ipv4 + [6] * routing.ipv6
        self._mac = {name: mac_number(switch.mac) for name, switch in topology.switches.items()}
        # Ports to other switches, by the switch at the other end; both in the order of port numbers.
        self._towards: dict[str, dict[str, list[Port]]] = {}
        for name, switch in topology.switches.items():
            towards: dict[str, list[Port]] = {}
            for port in switch.ports:
                if port.role is not PortRole.HOST_FACING:
                    towards.setdefault(port.peer.node, []).append(port)
            self._towards[name] = towards
        self._matches = {leaf.name: self._prefixes(leaf) for leaf in topology.leaves}
        groups: dict[frozenset[str], _Group] = {}
        for leaf in topology.leaves:
            neighbours = frozenset(self._towards[leaf.name])
            groups.setdefault(neighbours, _Group(neighbours)).leaves.append(leaf)
        for group in groups.values():
            group.distance = self._distances_to(group)
        self._groups = list(groups.values())

    def entries(self, switch: Switch) -> list[Entry]:
        """Returns a switch's entries of both route tables. Raises PlanError for too large a group."""
        hops = _NextHops(switch, self._mac, self._paths_limit, self._rotate)
        entries = []
        for port in switch.ports:
            if port.role is PortRole.HOST_FACING:
                host = self._topology.hosts[port.peer.node]
                to_host = (_forward(port, self._mac[switch.name], mac_number(host.mac)),)
                addresses = {4: _match(host.ipv4, 32), 6: _match(host.ipv6, 128)}
                for version in self._versions:
                    table, match = addresses[version]
                    entries.append(Entry(table, match, to_host, selector=True))
        to_leaf: dict[str, tuple[Action, ...]] = {}
        for group in self._groups:
            self._add_next_hops(hops, group, to_leaf)
        for leaf in self._topology.leaves:
            if leaf.name != switch.name and leaf.name in to_leaf:
                actions = to_leaf[leaf.name]
                entries += [
                    Entry(table, match, actions, False, True) for table, match in self._matches[leaf.name]
                ]
        return entries

    def admitted(self, switch: Switch) -> list[Entry]:
        """Returns a switch's entries of `l3_admit`: the MAC to which each port's neighbours send."""
        mac = Exact("dst_mac", self._mac[switch.name])
        admit = (Action(ADMITTED),)
        return [Entry(ADMIT, (Exact("port", port.number), mac), admit) for port in switch.ports]

    def _add_next_hops(self, hops: _NextHops, group: _Group, to_leaf: dict[str, tuple[Action, ...]]) -> None:
        """Adds the set of next hops from a switch to each leaf of a group."""
        name = hops.switch.name
        ports = self._closer(name, group)
        for leaf in group.leaves:
            if leaf.name == name:
                continue
            over = self._towards[name][leaf.name] if ports is None else ports
            if self._dead:
                over = self._that_serve(over, group, leaf)
            if over:
                to_leaf[leaf.name] = hops.to(leaf, over)

    def _closer(self, name: str, group: _Group) -> list[Port] | None:
        """Returns the ports to switches closer to a group's leaves; None if the leaves are its neighbours."""
        if name in group.neighbours:
            return None
        closer = group.distance.get(name, 0) - 1
        towards = self._towards[name]
        ports = [port for peer, ports in towards.items() if group.distance[peer] == closer for port in ports]
        ports.sort(key=attrgetter("number"))
        return ports

    def _that_serve(self, ports: Iterable[Port], group: _Group, leaf: Switch) -> list[Port]:
        """Returns the ports over which packets still reach the leaf."""
        if leaf.name not in self._reach:
            self._reach[leaf.name] = self._reaching(group, leaf)
        reach = self._reach[leaf.name]
        return [port for port in ports if port.name not in self._dead and port.peer.node in reach]

    def _reaching(self, group: _Group, leaf: Switch) -> frozenset[str]:
        found = {leaf.name}
        # Next hops are closer than the switch itself, so that they are decided before it.
        for name in sorted(group.distance, key=group.distance.__getitem__):
            if name == leaf.name:
                continue
            ports = self._closer(name, group)
            over = self._towards[name][leaf.name] if ports is None else ports
            if any(port.name not in self._dead and port.peer.node in found for port in over):
                found.add(name)
        return frozenset(found)

    def _prefixes(self, leaf: Switch) -> list[_Match]:
        v4, v6 = leaf.ipv4_prefix, leaf.ipv6_prefix
        assert v4 is not None and v6 is not None
        matches = {4: _match(v4.network_address, v4.prefixlen), 6: _match(v6.network_address, v6.prefixlen)}
        return [matches[version] for version in self._versions]

    def _distances_to(self, group: _Group) -> dict[str, int]:
        """Returns every switch's number of hops to a leaf of the group; for a leaf in it, to another one."""
        distance = dict.fromkeys(sorted(group.neighbours), 1)
        queue = deque(distance)
        while queue:
            here = queue.popleft()
            for there in self._towards[here]:
                if there not in distance:
                    distance[there] = distance[here] + 1
                    queue.append(there)
        return distance


@dataclass
class _NextHops:
    """The sets of next hops of one switch; equal sets are one object. `limit`: None for all paths."""

    switch: Switch
    macs: dict[str, int]
    limit: int | None
    rotate: bool
    _actions: dict[int, Action] = field(default_factory=dict)
    _sets: dict[tuple[int, ...], dict[int, tuple[Action, ...]]] = field(default_factory=dict)
    _last: tuple[list[Port], dict[int, tuple[Action, ...]]] | None = None

    def to(self, leaf: Switch, ports: list[Port]) -> tuple[Action, ...]:
        """Returns the next hops to a leaf over `ports`, or over as many of them as the limit permits."""
        if self._last is None or self._last[0] is not ports:
            self._last = (ports, self._sets.setdefault(tuple(port.number for port in ports), {}))
        start = self._start(leaf, len(ports))
        known = self._last[1]
        if start not in known:
            known[start] = self._made(leaf, ports, start)
        return known[start]

    def _start(self, leaf: Switch, paths: int) -> int:
        """Returns the index of the first path. Where not all are used, it varies by switch and leaf, so that
        each path serves somewhere."""
        if not self.rotate or self.limit is None or paths <= self.limit:
            return 0
        return (self.switch.device_id + (leaf.leaf_number or 0)) * self.limit % paths

    def _made(self, leaf: Switch, ports: list[Port], start: int) -> tuple[Action, ...]:
        if self.limit is not None and len(ports) > self.limit:
            ports = [ports[(start + index) % len(ports)] for index in range(self.limit)]
        if len(ports) > ECMP_PATHS_LIMIT:
            raise PlanError(
                f"{self.switch.name} has {len(ports)} equal-cost paths to {leaf.name}; the program's "
                f"ecmp_selector holds at most {ECMP_PATHS_LIMIT} per group. Set routing.max_paths, or use "
                "fewer, faster links"
            )
        return tuple(sorted(map(self._action, ports)))

    def _action(self, port: Port) -> Action:
        action = self._actions.get(port.number)
        if action is None:
            macs = self.macs
            action = self._actions[port.number] = _forward(port, macs[self.switch.name], macs[port.peer.node])
        return action


def dead_ends(topology: Topology, down: Mapping[str, Collection[int]]) -> frozenset[str]:
    """Returns the names of the ports at both ends of every link between switches with an end that is down.

    `down`: switch -> numbers of the ports that it reports as down.
    """
    found = set()
    for name, switch in topology.switches.items():
        numbers = down.get(name, ())
        for port in switch.ports:
            if port.number in numbers and port.role is not PortRole.HOST_FACING:
                found |= {port.name, str(port.peer)}
    return frozenset(found)


def around(
    topology: Topology, routing: Routing, entries: Mapping[str, tuple[Entry, ...]], dead: frozenset[str]
) -> dict[str, tuple[Entry, ...]]:
    """Returns the intended entries, with only the routes that remain without the links of `dead`.

    The entries of a switch with unchanged routes are the same object.
    """
    if not dead:
        return dict(entries)
    router = Router(topology, routing, dead)
    tables = ROUTE_TABLES.values()
    found = {}
    for name, of in entries.items():
        left = router.entries(topology.switches[name])
        if set(left) == {entry for entry in of if entry.table in tables and not entry.is_default}:
            found[name] = of
        else:
            found[name] = (*(one for one in of if one.table not in tables or one.is_default), *left)
    return found


def _forward(port: Port, source_mac: int, next_hop_mac: int) -> Action:
    return Action("forward", (("port", port.number), ("src_mac", source_mac), ("dst_mac", next_hop_mac)))


def ecmp_seed(seed: int, topology: Topology) -> dict[str, int]:
    """Returns each switch's hash seed: odd, 32 bits, different for each switch, derived from the
    configuration's seed.

    Different seeds prevent a spine from repeating its leaf's choice; an even seed would lose a bit of the
    hash.
    """
    seeds: dict[str, int] = {}
    taken: set[int] = set()
    for name in topology.switches:
        for attempt in count():
            digest = hashlib.sha256(f"{seed}/{name}/{attempt}".encode()).digest()
            value = int.from_bytes(digest[:4], "big") | 1
            if value not in taken:
                break
        taken.add(value)
        seeds[name] = value
    return seeds


def _match(address: IPv4Address | IPv6Address, length: int) -> _Match:
    return ROUTE_TABLES[address.version], (Lpm("dst", int(address), length, address.max_prefixlen),)
