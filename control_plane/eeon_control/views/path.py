"""`eeon show path`: the hops from host to host, by the switches' routes."""

from collections.abc import Sequence

from eeon_control.routing import ROUTE_TABLES, Flow, Path, Walk
from eeon_control.views.scale import rate_exact
from eeon_control.views.table import Column, Row, View, share

ORDER_NOTE = (
    "the member that a hash selects depends on the order in which the tables first used the members. "
    "P4Runtime does not report that order: after a change of routes, the switch may select another member"
)


def path(walk: Walk, found: Sequence[Path], flow: Flow | None, more_than: int | None = None) -> View:
    """Shows the paths of one flow, or all. `more_than`: the limit, if there are more paths than listed."""
    source, destination = walk.source.name, walk.destination.name
    chosen = flow is not None and len(found) == 1 and more_than is None
    rows: list[Row] = []
    for number, one in enumerate(found, 1):
        for index, hop in enumerate(one.hops, 1):
            rows.append(
                {
                    "path": number,
                    "hop": index,
                    "share": None if chosen else one.share,
                    "switch": hop.switch,
                    "port": hop.port.name,
                    "peer": str(hop.port.peer),
                    "rate_bps": int(hop.port.rate),
                    "prefix": hop.route.prefix.text,
                    "members": len(hop.route.members),
                    "hash": hop.key,
                }
            )
    columns = [
        Column("path", "path"),
        Column("hop", "hop"),
        Column("switch", "switch", right=False, worth=4),
        Column("port", "egress port", right=False),
        Column("peer", "to", right=False),
        Column("rate_bps", "rate", rate_exact, worth=1),
        Column("prefix", "route", right=False, worth=3),
        Column("members", "members", worth=2),
        Column("hash", "hash")
        if chosen
        else Column("share", "of flows" if flow is None else "of packets", share),
    ]
    notes = [f"path {number}: {one.fault}" for number, one in enumerate(found, 1) if one.fault]
    other, how = (
        (6, "--ipv6 shows the IPv6 paths") if walk.version == 4 else (4, "omit --ipv6 for the IPv4 paths")
    )
    if _has_routes(walk, other) and not _has_routes(walk, walk.version):
        notes.append(f"the switches have no IPv{walk.version} routes; {how}")
    if more_than is not None:
        notes.append(f"there are more than {more_than} paths; --limit shows more")
    hops = [hop for one in found for hop in one.hops]
    if chosen and any(hop.key is not None and len(hop.route.members) > 1 for hop in hops):
        notes.append(ORDER_NOTE)
    title = f"{source} to {destination}, IPv{walk.version}" + (f", {flow}" if flow is not None else "")
    title += "" if chosen else f", {len(found)} path{'s' if len(found) != 1 else ''}"
    more: dict[str, object] = {
        "source": source,
        "destination": destination,
        "flow": None if flow is None else str(flow),
        "paths": [{"nodes": _nodes(walk, one), "share": one.share, "fault": one.fault} for one in found],
    }
    return View("path", title, columns, rows, key=("path", "hop"), notes=notes, more=more)


def _has_routes(walk: Walk, version: int) -> bool:
    table = ROUTE_TABLES[version]
    return any(route.table == table for one in walk.tables.values() for route in one.routes)


def _nodes(walk: Walk, one: Path) -> list[str]:
    """Returns the names of the nodes on the path, including hosts."""
    return [walk.source.name, *one.switches, *([walk.destination.name] if one.fault is None else [])]
