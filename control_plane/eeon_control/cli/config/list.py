"""`eeon config list`."""

from __future__ import annotations

import click

from eeon_control import data


@click.command("list")
def list_() -> None:
    """List the configurations and topologies of the package."""
    for kind in ("examples", "topologies"):
        click.echo(f"{kind}:")
        for name in data.names(kind):
            click.echo(f"  {name}")
