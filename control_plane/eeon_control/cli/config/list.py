"""`eeon config list`."""

import click

from eeon_control import data
from eeon_control.cli import options
from eeon_control.cli.output import print_json


@click.command("list")
@options.output_option
def list_(output: str) -> None:
    """List the configurations and topologies of the package."""
    if output == "json":
        print_json({kind: data.names(kind) for kind in ("examples", "topologies")})
        return
    for kind in ("examples", "topologies"):
        click.echo(f"{kind}:")
        for name in data.names(kind):
            click.echo(f"  {name}")
