"""The path of a flow from host to host, and all paths that ECMP may choose, by the switches' routes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address

from eeon_control.entries import Action
from eeon_control.routing.flow_hash import Flow, ecmp_key
from eeon_control.routing.links import LinksDown
from eeon_control.routing.table import Route, SwitchRoutes
from eeon_control.topology import Endpoint, Host, Port, Topology, mac_number, mac_text


@dataclass(frozen=True)
class Hop:
    """One switch on the path: the matching route and the egress port.

    `share`: the share of the flows arriving here that take this port. `key`: the hash of a known flow.
    """

    switch: str
    port: Port
    route: Route
    share: float
    key: int | None = None


@dataclass(frozen=True)
class Path:
    """A path through the fabric. `share`: the share of flows on it with a fair hash; `fault`: why it ends
    before the destination."""

    hops: tuple[Hop, ...]
    share: float
    fault: str | None = None

    @property
    def switches(self) -> tuple[str, ...]:
        """The names of the switches with a matching route, in order."""
        return tuple(hop.switch for hop in self.hops)


@dataclass(frozen=True)
class Walk:
    """The search for paths between two hosts, for IPv4 or IPv6. `tables`: routes of the switches that could
    be read. `down`: links that are down."""

    topology: Topology
    tables: Mapping[str, SwitchRoutes]
    source: Host
    destination: Host
    version: int = 4
    down: LinksDown | None = None

    def of_flow(self, flow: Flow) -> Iterator[Path]:
        """Returns the path of a flow; several if switches choose per packet."""
        return self._from(*self._start(), Path((), 1.0), flow)

    def all(self) -> Iterator[Path]:
        """Returns all paths, in the order of the groups' members."""
        return self._from(*self._start(), Path((), 1.0), None)

    def _start(self) -> tuple[Endpoint, int]:
        """Returns the leaf's port at which the source's packets arrive, and their destination MAC."""
        return self.source.port.peer, mac_number(self.source.gateway_mac)

    def _from(self, ingress: Endpoint, dst_mac: int, way: Path, flow: Flow | None) -> Iterator[Path]:
        """Returns the paths that begin with `way`."""
        name = ingress.node
        if name in way.switches:
            ring = way.switches[way.switches.index(name) :]
            yield replace(way, fault=f"loop: {' -> '.join([*ring, name])}")
            return
        routes = self.tables.get(name)
        if routes is None:
            yield replace(way, fault=f"{name} could not be read")
            return
        address = self._address(self.destination)
        route = routes.lookup(address)
        if not routes.admits(ingress.port, dst_mac):
            yield replace(way, fault=f"{ingress} does not admit frames to {mac_text(dst_mac)}")
        elif route is None:
            yield replace(way, fault=f"no route to {address} at {name}")
        elif not route.members:
            why = route.fault or "its group has no members"
            yield replace(way, fault=f"{name}: {route.prefix.text}: {why}")
        elif flow is None or routes.per_packet:
            members = self._in_use(name, route)
            for action, copies in Counter(members).items():
                yield from self._over(action, name, route, way, copies / len(members), None, flow)
        else:
            key = ecmp_key(self._address(self.source), address, flow, routes.seed)
            members = self._in_use(name, route)
            action = members[key % len(members)]
            part = members.count(action) / len(members)
            yield from self._over(action, name, route, way, part, key, flow)

    def _over(
        self,
        action: Action,
        name: str,
        route: Route,
        way: Path,
        part: float,
        key: int | None,
        flow: Flow | None,
    ) -> Iterator[Path]:
        way = replace(way, share=way.share * part)
        params = dict(action.params)
        number = params.get("port")
        if number is None:
            yield replace(way, fault=f"{name}: {route.prefix.text}: {action} does not forward it")
            return
        port = self.topology.port(f"{name}:{number}")
        if port is None:
            why = f"{name}: {route.prefix.text} leads to port {number}, which has no link"
            yield replace(way, fault=why)
            return
        way = replace(way, hops=(*way.hops, Hop(name, port, route, part, key)))
        dead = self.down.at(port) if self.down is not None else None
        peer = port.peer.node
        if dead is not None:
            yield replace(way, fault=dead)
        elif peer in self.topology.switches:
            yield from self._from(port.peer, params["dst_mac"], way, flow)
        elif peer == self.destination.name:
            yield way
        else:
            yield replace(way, fault=f"{port.name} leads to {peer}, which is not {self.destination.name}")

    def _in_use(self, name: str, route: Route) -> tuple[Action, ...]:
        """Returns the members that the switch does not skip; all of them if it skips all, and drops."""
        return (
            tuple(one for one in route.members if not self._is_passed_over(name, one, route)) or route.members
        )

    def _is_passed_over(self, name: str, action: Action, route: Route) -> bool:
        if self.down is None or action not in route.watching:
            return False
        port = self.topology.port(f"{name}:{dict(action.params)['port']}")
        return port is not None and self.down.at(port) is not None

    def _address(self, host: Host) -> IPv4Address | IPv6Address:
        return host.ipv4 if self.version == 4 else host.ipv6
