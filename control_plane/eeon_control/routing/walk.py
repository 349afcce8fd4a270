"""The path of a flow from host to host, and all paths that ECMP may choose, by the switches' routes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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

    def paths(self, flow: Flow | None = None) -> Iterator[Path]:
        """Returns the path of a flow, several if switches choose per packet; without a flow, all paths, in
        the order of the groups' members."""
        return self._from(self.source.port.peer, mac_number(self.source.gateway_mac), Path((), 1.0), flow)

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
        else:
            members, key = self._in_use(name, route), None
            copies = Counter(members)
            chosen: Iterable[Action] = copies
            if flow is not None and not routes.per_packet:
                key = ecmp_key(self._address(self.source), address, flow, routes.seed)
                chosen = [members[key % len(members)]]
            for action in chosen:
                params, part = dict(action.params), copies[action] / len(members)
                onward = replace(way, share=way.share * part)
                port = self.topology.port(f"{name}:{params.get('port')}")
                if port is not None:
                    onward = replace(onward, hops=(*way.hops, Hop(name, port, route, part, key)))
                    yield from self._over(port, params["dst_mac"], onward, flow)
                    continue
                why = f": {action} does not forward it"
                if "port" in params:
                    why = f" leads to port {params['port']}, which has no link"
                yield replace(onward, fault=f"{name}: {route.prefix.text}{why}")

    def _over(self, port: Port, dst_mac: int, way: Path, flow: Flow | None) -> Iterator[Path]:
        """Returns the paths that begin with `way`, whose last hop's egress port is `port`."""
        dead = self.down.at(port) if self.down is not None else None
        peer = port.peer.node
        if dead is not None:
            yield replace(way, fault=dead)
        elif peer in self.topology.switches:
            yield from self._from(port.peer, dst_mac, way, flow)
        elif peer == self.destination.name:
            yield way
        else:
            yield replace(way, fault=f"{port.name} leads to {peer}, which is not {self.destination.name}")

    def _in_use(self, name: str, route: Route) -> tuple[Action, ...]:
        """Returns the members that the switch does not skip; all of them if it skips all, and drops."""
        serving = tuple(one for one in route.members if not self._is_passed_over(name, one, route))
        return serving or route.members

    def _is_passed_over(self, name: str, action: Action, route: Route) -> bool:
        if self.down is None or action not in route.watching:
            return False
        port = self.topology.port(f"{name}:{dict(action.params)['port']}")
        return port is not None and self.down.at(port) is not None

    def _address(self, host: Host) -> IPv4Address | IPv6Address:
        return host.ipv4 if self.version == 4 else host.ipv6
