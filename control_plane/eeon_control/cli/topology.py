"""`eeon topology`: topology files from the data of other systems."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from eeon_control import topology as topologies
from eeon_control.cli import options
from eeon_control.topology import netbox as inventory
from eeon_control.units import Duration

_F = TypeVar("_F", bound=Callable[..., object])


@click.group()
def topology() -> None:
    """Make topology files from the data of other systems."""


@topology.group("import")
def import_() -> None:
    """Print an inventory as a topology file."""


def _roles(name: str, what: str) -> Callable[[_F], _F]:
    return click.option(
        f"--{name}",
        multiple=True,
        metavar="SLUG",
        default=inventory.ROLES.get(name, ()),
        help=f"NetBox role of {what}; repeatable",
    )


@import_.command()
@click.argument("file", metavar="FILE", type=options.INPUT)
@click.option("--name", default="netbox", help="name of the fabric")
@click.option(
    "--delay",
    type=options.QuantityType(Duration, minimum=1),
    default="500ns",
    metavar="TIME",
    help="propagation delay of cables without a length; other cables have 5 ns per metre",
)
@_roles("leaf", "leaves")
@_roles("spine", "spines")
@_roles("host", "hosts")
@_roles("ignore", "devices to leave out, with their cables")
def netbox(
    file: Path,
    name: str,
    delay: Duration,
    leaf: tuple[str, ...],
    spine: tuple[str, ...],
    host: tuple[str, ...],
    ignore: tuple[str, ...],
) -> None:
    """Print NetBox's devices, interfaces and cables as a topology.

    FILE, or - for standard input, is a JSON object with three responses of NetBox's REST API: devices,
    interfaces and cables, from /api/dcim/ with limit=0. Ports are numbered in the order of a device's
    interfaces. Of a host with several links, the one at its first interface is kept. The command reports
    everything that it cannot place as an error, all at once: half a cable, a breakout, a patch panel, ends of
    different speeds, a device of an unknown role.
    """
    text, source = options.content_of(file, inventory.MAX_BYTES)
    roles = {"leaf": leaf, "spine": spine, "host": host, "ignored": ignore}
    found, notes = inventory.import_(text, source, roles, name=name, delay=delay)
    topologies.from_text(found, f"the topology of {source}")  # checks the result against our own rules
    for note in notes:
        click.echo(f"note: {note}", err=True)
    click.echo(found, nl=False)
