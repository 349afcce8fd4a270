"""`eeon config confirm`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from eeon_control import operations
from eeon_control.cli import options
from eeon_control.cli.config.common import changing, open_store


@click.command()
@options.topology_option(required=False)
@options.state_option
@options.output_option
def confirm(topology_name: str | None, state_folder: Path | None, output: str) -> None:
    """Confirm the revision of `eeon config apply --confirm`, so that it stays in force."""
    store = open_store(state_folder, topology_name)
    with changing(store, None, None) as work:
        number = operations.confirm(work)
    click.echo(
        json.dumps({"confirmed": number}) if output == "json" else f"confirmed: revision {number} stays"
    )
