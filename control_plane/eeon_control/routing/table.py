"""The routes of one switch, with members in the order of its selector."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address

from eeon_control.entries import Action, Lpm

ROUTE_TABLES = {4: "ipv4_route", 6: "ipv6_route"}


@dataclass(frozen=True)
class Route:
    """A prefix and its group: a member of weight n is in `members` n times, and a packet with hash k takes
    member number k modulo their count.

    `fault`: the missing object to which the entry refers. `watching`: members that the switch skips while
    their link is down.
    """

    table: str
    prefix: Lpm
    members: tuple[Action, ...]
    fault: str | None = None
    watching: frozenset[Action] = frozenset()

    def covers(self, address: IPv4Address | IPv6Address) -> bool:
        """Returns whether the prefix matches an address of its IP version."""
        shift = self.prefix.width - self.prefix.prefix_length
        return int(address) >> shift == self.prefix.value >> shift


@dataclass(frozen=True)
class SwitchRoutes:
    """The routes of a switch, its ECMP seed, and whether it chooses a path per packet instead of per flow.

    `admission`: whether the router takes frames of an ingress port to a destination MAC; `admits_others`:
    whether it takes all that are not listed.
    """

    routes: tuple[Route, ...]
    seed: int
    admission: Mapping[tuple[int, int], bool]
    admits_others: bool = False
    per_packet: bool = False

    def admits(self, port: int, dst_mac: int) -> bool:
        """Returns whether the router takes a frame that arrives at a port."""
        return self.admission.get((port, dst_mac), self.admits_others)

    def lookup(self, address: IPv4Address | IPv6Address) -> Route | None:
        """Returns the route with the longest matching prefix."""
        table = ROUTE_TABLES[address.version]
        fits = [route for route in self.routes if route.table == table and route.covers(address)]
        return max(fits, key=lambda route: route.prefix.prefix_length, default=None)


def in_order_of_use(routes: Sequence[Route]) -> tuple[Route, ...]:
    """Returns the routes with each group's members in the order of their first use in the tables.

    Selectors number a group's members by ascending handle, which P4Runtime does not report. A switch assigns
    a handle to an action when an entry first uses it (the n-th copy of a weighted action has its own), so
    that this is the order after a first apply. Later changes of entries may lead to another order.
    """
    rank: dict[tuple[Action, int], int] = {}
    for route in routes:
        for copy in _copies(route.members):
            rank.setdefault(copy, len(rank))
    return tuple(
        replace(
            route, members=tuple(action for action, _ in sorted(_copies(route.members), key=rank.__getitem__))
        )
        for route in routes
    )


def _copies(members: Iterable[Action]) -> list[tuple[Action, int]]:
    """Returns each member with its index among equal ones."""
    seen: dict[Action, int] = {}
    numbered = []
    for action in members:
        seen[action] = seen.get(action, 0) + 1
        numbered.append((action, seen[action]))
    return numbered
