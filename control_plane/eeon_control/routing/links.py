"""Reasons why a next hop is unusable: links that are down, its own or further ones."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from eeon_control.entries import Action, Lpm
from eeon_control.topology import Port, Topology

RouteKey = tuple[str, Lpm]
"""A routing table and a prefix."""
NextHops = Mapping[str, Mapping[RouteKey, tuple[Action, ...]]]
"""By switch and route."""


@dataclass
class LinksDown:
    """`down`: switch -> numbers of the ports that it reports as down. `next_hops`: routes of all switches,
    for the further path of a packet."""

    topology: Topology
    down: Mapping[str, Collection[int]]
    next_hops: NextHops = field(default_factory=dict)
    _known: dict[tuple[str, RouteKey, Action], tuple[str, ...]] = field(default_factory=dict, init=False)

    def at(self, port: Port) -> str | None:
        """Returns `spine1:2 to leaf2 is down`, from the end that reports it; None if neither does."""
        if port.number in self.down.get(port.node, ()):
            return f"{port.name} to {port.peer.node} is down"
        if port.peer.port in self.down.get(port.peer.node, ()):
            return f"{port.peer} to {port.node} is down"
        return None

    def why(self, switch: str, key: RouteKey, action: Action) -> tuple[str, ...]:
        """Returns the links that keep a next hop from reaching the route's destination; empty if it does."""
        place = switch, key, action
        if place not in self._known:
            self._known[place] = ()  # ends the recursion if routes form a loop
            self._known[place] = self._why(switch, key, action)
        return self._known[place]

    def _why(self, switch: str, key: RouteKey, action: Action) -> tuple[str, ...]:
        port = self.topology.port(f"{switch}:{dict(action.params).get('port')}")
        if port is None:
            return ()
        here = self.at(port)
        if here is not None:
            return (here,)
        onward = [
            self.why(port.peer.node, key, one) for one in self.next_hops.get(port.peer.node, {}).get(key, ())
        ]
        return tuple(dict.fromkeys(reason for one in onward for reason in one)) if all(onward) else ()
