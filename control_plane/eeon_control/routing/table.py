"""The routes of one switch as it holds them, in the order in which its selector numbers the members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address

from eeon_control.entries import Action, Lpm

ROUTE_TABLES = {4: "ipv4_route", 6: "ipv6_route"}


@dataclass(frozen=True)
class Route:
    """A prefix and its group: a member of weight n stands in `members` n times, and a packet whose hash is k
    takes the member number k modulo their count.

    `fault`: what the entry refers to and the switch does not have. `watching`: members that the switch passes
    over while their link is down.
    """

    table: str
    prefix: Lpm
    members: tuple[Action, ...]
    fault: str | None = None
    watching: frozenset[Action] = frozenset()

    @property
    def prefix_text(self) -> str:
        """`10.0.2.0/24`."""
        address = ip_address(self.prefix.value.to_bytes(self.prefix.width // 8, "big"))
        return f"{address}/{self.prefix.prefix_length}"

    def covers(self, address: IPv4Address | IPv6Address) -> bool:
        """Returns whether the prefix matches an address of its IP version."""
        shift = self.prefix.width - self.prefix.prefix_length
        return int(address) >> shift == self.prefix.value >> shift


@dataclass(frozen=True)
class SwitchRoutes:
    """What a switch forwards by: its routes, its ECMP seed, and whether it chooses by packet, not by flow."""

    routes: tuple[Route, ...]
    seed: int
    per_packet: bool = False

    def lookup(self, address: IPv4Address | IPv6Address) -> Route | None:
        """Returns the longest prefix that matches."""
        table = ROUTE_TABLES[address.version]
        fits = [route for route in self.routes if route.table == table and route.covers(address)]
        return max(fits, key=lambda route: route.prefix.prefix_length, default=None)


def in_order_of_use(routes: Sequence[Route]) -> tuple[Route, ...]:
    """Returns the same routes with each group's members in the order in which the tables use them first.

    Selectors number a group's members by rising handle, which P4Runtime does not tell. A switch gives a
    handle to an action when an entry first uses it (the n-th copy of a weighted one has one of its own), so
    this is the order after a first apply. Entries that were changed later may have left another.
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
    """Returns each member with its number among its equals."""
    seen: dict[Action, int] = {}
    numbered = []
    for action in members:
        seen[action] = seen.get(action, 0) + 1
        numbered.append((action, seen[action]))
    return numbered
