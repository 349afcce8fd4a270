"""`eeon experiment`: runs that are swept over settings, in several processes or on a Dask cluster."""

from __future__ import annotations

import click
from eeon_control.cli.lazy import LazyGroup

_PLACES = {
    "list": "eeon_experiments.cli.look:list_",
    "run": "eeon_experiments.cli.run:run",
    "show": "eeon_experiments.cli.look:show",
    "status": "eeon_experiments.cli.run:status",
    "trace": "eeon_experiments.cli.run:trace",
    "report": "eeon_experiments.cli.report:report",
}
"""Each command by name, imported when it is used."""


@click.group(cls=LazyGroup, places=_PLACES)
def experiment() -> None:
    """Run experiments in virtual time, and see what came out."""
