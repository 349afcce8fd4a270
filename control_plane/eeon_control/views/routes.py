"""`eeon show routes`: every route of every switch, its next hops, and their differences from the plan.

Links that are down explain differences: their next hops are withdrawn if the switch no longer has them, else
dead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from eeon_control.config import Routing
from eeon_control.entries import Action, Entry, Lpm
from eeon_control.fabric.read import FabricObservation
from eeon_control.plan import around, dead_ends
from eeon_control.printable import some
from eeon_control.routing import ROUTE_TABLES, LinksDown, Route, RouteKey
from eeon_control.topology import Topology, mac_text
from eeon_control.views.table import Cell, Column, Row, View, good_if

_SHOWN = 4  # maximum number of next hops per group in the table; JSON has all
_NOT_COMPARED = (
    "not compared with a plan: give -c, or apply a configuration so that the fabric has a current revision"
)

_EXPLAINED = ("dead: ", "withdrawn: ", "instead: ")  # texts about links that are down

_Planned = Mapping[RouteKey, tuple[Action, ...]]


@dataclass(frozen=True)
class PlannedRoutes:
    """The planned entries of a configuration, by switch, and its routing."""

    entries: Mapping[str, tuple[Entry, ...]]
    routing: Routing


def routes(
    topology: Topology,
    observed: FabricObservation,
    planned: PlannedRoutes | None,
    down: Mapping[str, Collection[int]],
) -> View:
    """Shows routes. Needs routes. `planned`: None without a plan. `down`: switch -> ports that are down."""
    all_meant = {} if planned is None else {name: _planned(of) for name, of in planned.entries.items()}
    others: dict[str, tuple[Entry, ...]] = {}
    if planned is not None:
        others = around(topology, planned.routing, planned.entries, dead_ends(topology, down))
    held_by = {
        name: {(route.table, route.prefix): route.members for route in one.routes.routes}
        for name, one in observed.switches.items()
        if one.routes is not None
    }
    links = LinksDown(topology, down, all_meant or held_by)
    rows: list[Row] = []
    groups: dict[str, list[object]] = {}
    for name, found in observed.switches.items():
        assert found.routes is not None, "routes were asked for"
        place = _Place(topology, name, links)
        meant = all_meant.get(name)
        instead = _planned(others.get(name, ()))
        numbers: dict[tuple[Action, ...], int] = {}
        for route in found.routes.routes:
            number = numbers.setdefault(route.members, len(numbers) + 1)
            rows.append(_row(place, route, number, meant, instead))
        groups[name] = [
            {"group": number, "members": [place.member(action) for action in members]}
            for members, number in numbers.items()
        ]
        held = {(route.table, route.prefix) for route in found.routes.routes}
        rows += [_absent(place, key, actions) for key, actions in (meant or {}).items() if key not in held]
    columns = [
        Column("switch", "switch", right=False),
        Column("prefix", "prefix", right=False),
        Column("group", "group", worth=1),
        Column("members", "members", worth=2),
        Column("next_hops", "next hops", right=False),
        Column("state", "state", right=False, worth=9, style=good_if("ok")),
        Column("because", "because", shown=False),
    ]
    wrong = sum(row["state"] != "ok" and row["because"] is None for row in rows)
    without = sum(row["because"] is not None for row in rows)
    notes = [_NOT_COMPARED] if planned is None else []
    if wrong:
        expected = "planned" if planned is not None else "the topology has it"
        notes.append(f"{wrong} route{'s are' if wrong > 1 else ' is'} not as {expected}")
    if without:
        which = ", ".join(dict.fromkeys(str(row["because"]) for row in rows if row["because"] is not None))
        notes.append(f"{without} route{'s do' if without > 1 else ' does'} without links: {which}")
    return View(
        "routes", "routes", columns, rows, key=("switch", "prefix"), notes=notes, more={"groups": groups}
    )


def _planned(entries: Iterable[Entry]) -> dict[RouteKey, tuple[Action, ...]]:
    return {
        (entry.table, entry.match[0]): entry.actions
        for entry in entries
        if entry.table in ROUTE_TABLES.values() and isinstance(entry.match[0], Lpm)
    }


def _row(place: _Place, route: Route, number: int, meant: _Planned | None, instead: _Planned) -> Row:
    problems = [route.fault] if route.fault else []
    if not route.members and not problems:
        problems.append("its group has no members")
    problems += [place.broken_hop(action) for action in dict.fromkeys(route.members)]
    key = route.table, route.prefix
    lost = _Lost(place, key)
    problems += lost.texts("dead", dict.fromkeys(route.members))
    if meant is not None:
        problems += _difference(place, route, meant.get(key), instead.get(key, ()), lost)
    told = [text for text in problems if text]
    is_explained = all(text.startswith(_EXPLAINED) for text in told)
    return _cells(place, route.prefix, told, lost.because if is_explained else None, number, route.members)


def _absent(place: _Place, key: RouteKey, actions: tuple[Action, ...]) -> Row:
    lost = _Lost(place, key)
    texts = lost.texts("withdrawn", actions)
    rest = [action for action in actions if not lost.why(action)]
    if rest:
        texts.append(f"missing; planned: {place.hops_text(rest)}")
    return _cells(place, key[1], texts, None if rest else lost.because, None, ())


def _cells(
    place: _Place,
    prefix: Lpm,
    told: list[str],
    because: str | None,
    group: int | None,
    members: tuple[Action, ...],
) -> Row:
    return {
        "switch": place.switch,
        "prefix": prefix.text,
        "group": group,
        "members": len(members),
        "next_hops": place.hops_text(members),
        "state": "; ".join(told) or "ok",
        "because": because,
    }


@dataclass(frozen=True)
class _Place:
    """A switch, and the links of its fabric that are down."""

    topology: Topology
    switch: str
    links: LinksDown

    def broken_hop(self, action: Action) -> str:
        """Returns the fault of a next hop by itself: no link, or a MAC other than the neighbour's."""
        params = dict(action.params)
        if "port" not in params:
            return ""
        port = self.topology.port(f"{self.switch}:{params['port']}")
        if port is None:
            return f"port {params['port']} has no link"
        peer = port.peer.node
        mac = (self.topology.switches.get(peer) or self.topology.hosts[peer]).mac
        given = mac_text(params["dst_mac"])
        return "" if given == mac else f"port {port.number}: next-hop MAC {given} is not {peer}'s, {mac}"

    def hops_text(self, members: Iterable[Action]) -> str:
        """Returns `3 spine1, 4 spine2`: ports with their neighbours."""
        texts = [
            self._hop_text(action) + (f" x{copies}" if copies > 1 else "")
            for action, copies in Counter(members).items()
        ]
        return some(texts, _SHOWN)

    def _hop_text(self, action: Action) -> str:
        member = self.member(action)
        if member["port"] is None:
            return str(member["action"])
        return " ".join(str(part) for part in (member["port"], member["neighbour"]) if part is not None)

    def member(self, action: Action) -> dict[str, Cell]:
        """Returns a next hop, for programs."""
        params = dict(action.params)
        number = params.get("port")
        port = self.topology.port(f"{self.switch}:{number}")
        return {
            "action": action.name,
            "port": number,
            "neighbour": port.peer.node if port is not None else None,
            "next_hop_mac": mac_text(params["dst_mac"]) if "dst_mac" in params else None,
        }


@dataclass
class _Lost:
    """Next hops of one route that lead to links that are down. `because`: these links, reported so far."""

    place: _Place
    key: RouteKey
    because: str | None = None

    def why(self, action: Action) -> tuple[str, ...]:
        """Returns the links that keep a next hop from the route's destination; empty if it reaches it."""
        return self.place.links.why(self.place.switch, self.key, action)

    def texts(self, what: str, actions: Iterable[Action]) -> list[str]:
        """Returns a text for each set of links: `withdrawn: 3 spine1, because spine1:2 to leaf2 is down`."""
        by_reason: dict[str, list[Action]] = {}
        for action in actions:
            reasons = self.why(action)
            if reasons:
                by_reason.setdefault(" and ".join(reasons), []).append(action)
        told = [*([self.because] if self.because else []), *by_reason]
        self.because = " and ".join(dict.fromkeys(told)) or None
        return [f"{what}: {self.place.hops_text(of)}, because {reason}" for reason, of in by_reason.items()]


def _difference(
    place: _Place, route: Route, meant: tuple[Action, ...] | None, instead: tuple[Action, ...], lost: _Lost
) -> list[str]:
    """Returns the differences of a route's members from the planned ones; empty without any.

    `instead`: the members of the route while links are down, which may include next hops outside the plan.
    """
    if meant is None:
        return ["not planned"]
    held, wanted = Counter(route.members), Counter(meant)
    missing = tuple((wanted - held).elements())
    texts = lost.texts("withdrawn", dict.fromkeys(missing))
    unexplained = [action for action in missing if not lost.why(action)]
    extra = held - wanted
    serving = extra & Counter(instead)
    for text, actions in (
        ("missing", unexplained),
        ("instead", list(serving.elements())),
        ("not planned", list((extra - serving).elements())),
    ):
        if actions:
            texts.append(f"{text}: {place.hops_text(actions)}")
    return texts
