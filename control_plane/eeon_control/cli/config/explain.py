"""`eeon config explain`."""

import click
from rich.table import Table
from rich.text import Text

from eeon_control import config as configs
from eeon_control.cli import options
from eeon_control.cli import output as printing
from eeon_control.config import Explanation, FabricConfig
from eeon_control.errors import EeonError, Place, StateError
from eeon_control.topology import Port, Topology
from eeon_control.validation import did_you_mean


@click.command()
@click.argument("port_name", metavar="PORT")
@options.config_options(required=False)
@options.store_options
@options.output_option
def explain(port_name: str, config_names: tuple[str, ...], fabric: options.Fabric, output: str) -> None:
    """Show where each setting of PORT (leaf1:3, or a host's name) comes from. Contacts no switch.

    The most specific level that names a profile wins: port, then switch, then role. Without -c, the settings
    are those in force: those of the fabric's current revision.

    \b
    EXAMPLES
      eeon config explain leaf1:3 -c mark_threshold -c eee_120us100 -t leaf-spine-4
      eeon config explain leaf1:3                                      # the settings in force
    """
    loaded, topology = _meant(config_names, fabric)
    found = configs.explain(loaded, _port(topology, port_name))
    if output == "json":
        printing.print_json(_row(found))
    else:
        _print(found)


def _meant(config_names: tuple[str, ...], fabric: options.Fabric) -> tuple[FabricConfig, Topology]:
    if config_names:
        return configs.load(*config_names), fabric.topology
    store = fabric.store()
    held = store.intended()
    if held is None:
        raise StateError(f"{store.folder}: no revision is in force yet; give a configuration (-c)")
    return held.config, held.topology


def _port(topology: Topology, name: str) -> Port:
    host = topology.hosts.get(name)
    port = topology.port(name) if host is None else host.port
    if port is None:
        known = [*(one.name for one in topology.ports()), *topology.hosts]
        near = did_you_mean(name, known)
        raise EeonError(f"{name}: {topology.name} has no such port or host{near}; write for example leaf1:3")
    return port


def _print(found: Explanation) -> None:
    out = printing.console()
    port = found.port
    out.print(f"{port.name}  {port.role.value}, {port.rate}, to {port.peer}", style="bold", highlight=False)
    levels = Table("level", "profile", "", "where", box=None, pad_edge=False, header_style="bold")
    for level in (*found.queue, *found.eee):
        style = "" if level.wins else "dim"
        mark = "wins" if level.wins else "overruled" if level.profile else ""
        levels.add_row(level.key, Text(level.profile or "-"), mark, _where(level.place), style=style)
    out.print(levels)
    settings = Table("setting", "value", "from", "where", box=None, pad_edge=False, header_style="bold")
    for one in found.settings:
        settings.add_row(one.key, Text(one.value), Text(one.source), _where(one.place))
    out.print(settings)


def _where(place: Place | None) -> Text:
    return Text("" if place is None else str(place))


def _row(found: Explanation) -> dict[str, object]:
    port = found.port
    return {
        "port": port.name,
        "role": port.role.value,
        "rate_bps": int(port.rate),
        "peer": str(port.peer),
        **{
            kind: [
                {"level": one.key, "profile": one.profile, "wins": one.wins, **_place_row(one.place)}
                for one in levels
            ]
            for kind, levels in (("queue", found.queue), ("eee", found.eee))
        },
        "settings": [
            {"key": one.key, "value": one.value, "from": one.source, **_place_row(one.place)}
            for one in found.settings
        ],
    }


def _place_row(place: Place | None) -> dict[str, object]:
    return {"file": None if place is None else place.file, "line": None if place is None else place.line}
