"""`eeon show routes`: every route of every switch, its next hops, and how both differ from the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from eeon_control.entries import Action, Entry, Lpm
from eeon_control.fabric.read import FabricObservation
from eeon_control.routing import ROUTE_TABLES, Route
from eeon_control.topology import Switch, Topology
from eeon_control.views.table import Cell, Column, Row, View, good_if, none

_SHOWN = 4  # next hops of a group in the table; JSON has all
_NOT_COMPARED = (
    "not compared with a plan: give -c, or apply a configuration so that the fabric has a current revision"
)

_Planned = dict[tuple[str, Lpm], tuple[Action, ...]]


def routes(
    topology: Topology, observed: FabricObservation, planned: Mapping[str, Iterable[Entry]] | None
) -> View:
    """Needs routes. `planned`: what a configuration means, by switch; None where none is known."""
    rows: list[Row] = []
    groups: dict[str, list[object]] = {}
    for name, found in observed.switches.items():
        assert found.routes is not None, "routes were asked for"
        switch = topology.switches[name]
        meant = None if planned is None else _planned(planned[name])
        numbers: dict[tuple[Action, ...], int] = {}
        for route in found.routes.routes:
            number = numbers.setdefault(route.members, len(numbers) + 1)
            rows.append(_row(topology, switch, route, number, meant))
        groups[name] = [
            {"group": number, "members": [_member(topology, name, action) for action in members]}
            for members, number in numbers.items()
        ]
        held = {(route.table, route.prefix) for route in found.routes.routes}
        rows += [
            _absent(topology, name, Route(*key, actions))
            for key, actions in (meant or {}).items()
            if key not in held
        ]
    columns = [
        Column("switch", "switch", right=False),
        Column("prefix", "prefix", right=False),
        Column("group", "group", none, worth=1),
        Column("members", "members", worth=2),
        Column("next_hops", "next hops", right=False),
        Column("state", "state", right=False, worth=9, style=good_if("ok")),
    ]
    wrong = sum(row["state"] != "ok" for row in rows)
    notes = [_NOT_COMPARED] if planned is None else []
    if wrong:
        notes.append(f"{wrong} route{'s are' if wrong > 1 else ' is'} not as {_expected(planned)}")
    return View(
        "routes", "routes", columns, rows, key=("switch", "prefix"), notes=notes, more={"groups": groups}
    )


def _expected(planned: object) -> str:
    return "planned" if planned is not None else "the topology has it"


def _planned(entries: Iterable[Entry]) -> _Planned:
    return {
        (entry.table, entry.match[0]): entry.actions
        for entry in entries
        if entry.table in ROUTE_TABLES.values() and isinstance(entry.match[0], Lpm)
    }


def _row(topology: Topology, switch: Switch, route: Route, number: int, meant: _Planned | None) -> Row:
    problems = [route.fault] if route.fault else []
    if not route.members and not problems:
        problems.append("its group has no members")
    problems += [_broken_hop(topology, switch.name, action) for action in dict.fromkeys(route.members)]
    if meant is not None:
        problems.append(_difference(topology, switch.name, route, meant.get((route.table, route.prefix))))
    return {
        "switch": switch.name,
        "prefix": route.prefix_text,
        "group": number,
        "members": len(route.members),
        "next_hops": _hops_text(topology, switch.name, route.members),
        "state": "; ".join(filter(None, problems)) or "ok",
    }


def _absent(topology: Topology, name: str, route: Route) -> Row:
    return {
        "switch": name,
        "prefix": route.prefix_text,
        "group": None,
        "members": 0,
        "next_hops": "",
        "state": f"missing; planned: {_hops_text(topology, name, route.members)}",
    }


def _difference(topology: Topology, name: str, route: Route, meant: tuple[Action, ...] | None) -> str:
    """How a route's members differ from the planned ones; empty where they do not."""
    if meant is None:
        return "not planned"
    held, wanted = Counter(route.members), Counter(meant)
    texts = []
    for text, actions in (("missing", wanted - held), ("not planned", held - wanted)):
        if actions:
            texts.append(f"{text}: {_hops_text(topology, name, tuple(actions.elements()))}")
    return "; ".join(texts)


def _broken_hop(topology: Topology, name: str, action: Action) -> str:
    """What is wrong with a next hop whatever the plan: no link, or a MAC that the neighbour does not have."""
    params = dict(action.params)
    if "port" not in params:
        return ""
    port = topology.port(f"{name}:{params['port']}")
    if port is None:
        return f"port {params['port']} has no link"
    peer = port.peer.node
    mac = (topology.switches[peer] if peer in topology.switches else topology.hosts[peer]).mac
    given = _mac(params["dst_mac"])
    return "" if given == mac else f"port {port.number}: next-hop MAC {given} is not {peer}'s, {mac}"


def _hops_text(topology: Topology, name: str, members: tuple[Action, ...]) -> str:
    """`3 spine1, 4 spine2`: ports with their neighbours."""
    counts = Counter(members)
    texts = [
        _hop_text(topology, name, action) + (f" x{copies}" if copies > 1 else "")
        for action, copies in counts.items()
    ]
    rest = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _hop_text(topology: Topology, name: str, action: Action) -> str:
    member = _member(topology, name, action)
    if member["port"] is None:
        return str(member["action"])
    return " ".join(str(part) for part in (member["port"], member["neighbour"]) if part is not None)


def _member(topology: Topology, name: str, action: Action) -> dict[str, Cell]:
    params = dict(action.params)
    number = params.get("port")
    port = topology.port(f"{name}:{number}")
    return {
        "action": action.name,
        "port": number,
        "neighbour": port.peer.node if port is not None else None,
        "next_hop_mac": _mac(params["dst_mac"]) if "dst_mac" in params else None,
    }


def _mac(value: int) -> str:
    return ":".join(f"{byte:02x}" for byte in value.to_bytes(6, "big"))
