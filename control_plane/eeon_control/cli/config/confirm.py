"""`eeon config confirm`."""

import json

import click

from eeon_control import operations
from eeon_control.cli import options
from eeon_control.cli.config.common import changing


@click.command()
@options.store_options
@options.output_option
def confirm(fabric: options.Fabric, output: str) -> None:
    """Confirm the revision of `eeon config apply --confirm`, so that it stays in force."""
    with changing(fabric.store(), None, None) as work:
        number = operations.confirm(work)
    click.echo(
        json.dumps({"confirmed": number}) if output == "json" else f"confirmed: revision {number} stays"
    )
