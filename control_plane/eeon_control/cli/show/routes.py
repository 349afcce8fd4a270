"""`eeon show routes` and `eeon show path`: where the switches send packets."""

from ipaddress import IPv6Address, ip_address
from itertools import islice
from typing import Any

import click

from eeon_control import config as configs
from eeon_control.cli import completions, options
from eeon_control.cli.show import common
from eeon_control.cli.show.watch import ViewOptions, view_loop
from eeon_control.errors import EeonError
from eeon_control.fabric.read import Wanted, observe
from eeon_control.fabric.sync import run
from eeon_control.nearest import hint
from eeon_control.plan import intended
from eeon_control.routing import Flow, LinksDown, Walk
from eeon_control.topology import Host, Topology
from eeon_control.views.filters import Selection, other_than, select
from eeon_control.views.kind import Kind, ViewData
from eeon_control.views.path import path as path_view
from eeon_control.views.routes import PlannedRoutes
from eeon_control.views.routes import routes as routes_view
from eeon_control.views.table import View

_ROUTES = Wanted(routes=True, ports=True)
_PATHS = 64
_FILTERS = {"faults": other_than("state", "ok")}


@click.command(epilog=common.EXIT_CODES)
@click.argument("switches", metavar="[SWITCH]...", nargs=-1, shell_complete=completions.switch_names)
@common.switch_option("more_switches")
@options.fabric_options
@options.config_options(required=False)
@common.only_option(_FILTERS)
@common.SORT
@common.REVERSE
@options.output_option
def routes(
    switches: tuple[str, ...],
    more_switches: tuple[str, ...],
    fabric: options.Fabric,
    config_names: tuple[str, ...],
    **asked: Any,  # checked by click # noqa: ANN401
) -> int:
    """Show routes, ECMP groups, and why next hops are out of use.

    Shows every route of each SWITCH (default: all), with its ECMP group, ports, neighbours and state. The
    state is `ok`, or how the route differs from the plan of -c or of the fabric's current revision. A next
    hop over a link that is down is withdrawn (`eeon controller run` removed it) or dead. Routes that share a
    group have the same number in the column group.

    \b
    EXAMPLES
      eeon show routes -t leaf-spine-4 -T targets.yaml
      eeon show routes leaf1 -t leaf-spine-4 -T targets.yaml -c drop_tail
    """
    whole, selection = fabric.topology, Selection((*switches, *more_switches))
    part = select(whole, selection)
    planned = _planned(fabric, config_names)

    def view(data: ViewData) -> View:
        down = data.observed.down
        if len(part.switches) < len(whole.switches):  # a link between other switches may be down
            rest = run(observe(whole, fabric.targets.switches, Wanted(ports=True)))
            down = rest.down | down
        return routes_view(whole, data.observed, planned, down)

    return view_loop(
        Kind("routes", "", _ROUTES, view, filters=_FILTERS), fabric, selection, ViewOptions(**asked)
    )


@click.command(epilog=common.EXIT_CODES)
@click.argument("source", metavar="SRC", shell_complete=completions.host_names)
@click.argument("destination", metavar="DST", shell_complete=completions.host_names)
@options.fabric_options
@click.option(
    "--flow",
    "flow_text",
    metavar="PROTO,SPORT,DPORT",
    help="show the path of this flow (tcp,40000,5000), computed with the program's hash; all its "
    "paths if switches spray packets  [default: all paths]",
)
@click.option("--ipv6", is_flag=True, help="use the hosts' IPv6 addresses")
@click.option("--limit", type=click.IntRange(1), default=_PATHS, help="show at most this many paths")
@options.output_option
def path(
    source: str,
    destination: str,
    fabric: options.Fabric,
    flow_text: str | None,
    ipv6: bool,
    limit: int,
    output: str,
) -> int:
    """Show the path from host SRC to host DST, and why it ends.

    Shows each hop: switch, egress port, next node, route. The command computes the path from the entries that
    the switches hold and from the ports that they report as down. SRC and DST are names or addresses of
    hosts. Exit code 1 also means that a path does not reach DST: no route, a loop, a wrong port, a link that
    is down.

    \b
    EXAMPLES
      eeon show path h1 h3 -t leaf-spine-4 -T targets.yaml
      eeon show path h1 h3 -t leaf-spine-4 -T targets.yaml --flow tcp,40000,5000
      eeon show path 10.0.1.1 10.0.2.1 -t leaf-spine-4 -T targets.yaml -o json
    """
    flow = None if flow_text is None else Flow.parse(flow_text)
    topology = fabric.topology
    start, end = _host(topology, source), _host(topology, destination)
    if start is end:
        raise EeonError(f"{source} and {destination} are one host; give two")
    observed = run(observe(topology, fabric.targets.switches, _ROUTES))
    tables = {name: one.routes for name, one in observed.switches.items() if one.routes is not None}
    version = 6 if ipv6 or ":" in source + destination else 4
    walk = Walk(topology, tables, start, end, version, LinksDown(topology, observed.down))
    found = list(islice(walk.paths(flow), limit + 1))
    view = path_view(walk, found[:limit], flow, limit if len(found) > limit else None)
    common.print_view(view, observed, topology.name, output)
    return 1 if observed.failures or any(one.fault for one in found[:limit]) else 0


def _host(topology: Topology, text: str) -> Host:
    """Returns a host by name or address. Raises EeonError with the nearest names."""
    if text in topology.hosts:
        return topology.hosts[text]
    try:
        address = ip_address(text)
    except ValueError:
        raise EeonError(f"{text} is not a host of {topology.name}; {hint(text, topology.hosts)}") from None
    for host in topology.hosts.values():
        if address == (host.ipv6 if isinstance(address, IPv6Address) else host.ipv4):
            return host
    raise EeonError(f"{text} is not the address of a host in {topology.name}; give the name of a host")


def _planned(fabric: options.Fabric, config_names: tuple[str, ...]) -> PlannedRoutes | None:
    """Returns the routes planned by the command line's configuration, else by the current revision."""
    if config_names:
        config = configs.load(*config_names)
    elif (revision := fabric.revision) is not None:
        config = revision.intended().config
    else:
        return None
    return PlannedRoutes(intended(fabric.topology, config, fabric.targets.tick), config.routing)
