"""`eeon config list`."""

from __future__ import annotations

import click

from eeon_control import data


@click.command("list")
def list_() -> None:
    """Name the configurations and topologies that ship."""
    for kind in ("examples", "topologies"):
        click.echo(f"{kind}:")
        for name in data.names(kind):
            click.echo(f"  {name}")
