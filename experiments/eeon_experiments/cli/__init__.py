"""`eeon experiment` (runs over settings, in several processes or on a Dask cluster) and `eeon tune`."""

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
"""The module and the function of each command; a command is imported when it is used."""


@click.group(cls=LazyGroup, places=_PLACES)
def experiment() -> None:
    """Run experiments in virtual time and show their results."""


class _SearchByDefault(LazyGroup):
    """A group that runs `eeon tune FILE` as `eeon tune search FILE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_named = not args or args[0] in (*self.places, "-h", "--help")
        return super().parse_args(ctx, args if is_named else ["search", *args])


_TUNE = {"search": "eeon_experiments.cli.search:search", "attack": "eeon_experiments.cli.attack:attack"}


@click.group(cls=_SearchByDefault, places=_TUNE)
def tune() -> None:
    """Search for the best setting of a fabric, or for the traffic that breaks it.

    `eeon tune FILE` is `eeon tune search FILE`.
    """
