"""`eeon experiment`: runs that are swept over settings, in several processes or on a Dask cluster."""

from __future__ import annotations

import click
from eeon_control.cli.lazy import LazyGroup

_PLACES = {
    "list": "eeon_tools.cli.experiment_look:list_",
    "run": "eeon_tools.cli.experiment_run:run",
    "show": "eeon_tools.cli.experiment_look:show",
    "status": "eeon_tools.cli.experiment_run:status",
    "report": "eeon_tools.cli.experiment_report:report",
}
"""Each command by name, imported when it is used."""


@click.group(cls=LazyGroup, places=_PLACES)
def experiment() -> None:
    """Run experiments in virtual time, and see what came out."""
