"""`eeon experiment list`, `show`, `status`: what there is, what would be run, what has been."""

from __future__ import annotations

import click
from eeon_tools.cli.support import console, reports_errors
from rich.table import Table


@click.command()
@reports_errors
def list_() -> None:
    """List the experiments that ship."""
    from eeon_experiments import files, shipped
    from eeon_experiments.expand import count

    table = Table(box=None, pad_edge=False)
    for title in ("name", "runs", "quick", "claims", "what"):
        table.add_column(title, justify="right" if title in ("runs", "quick") else "left")
    for name in shipped.names():
        found = files.load(name)
        quick = str(count(found, quick=True)) if found.file.quick else "-"
        claims = " ".join(found.file.claims) or "-"
        table.add_row(name, str(count(found)), quick, claims, found.file.title)
    console().print(table)


@click.command()
@click.argument("name", metavar="NAME|FILE")
@click.option("--quick", is_flag=True, help="The scaled-down form.")
@reports_errors
def show(name: str, quick: bool) -> None:
    """Show the runs of an experiment, and check all of them.

    NAME is one that ships, a file, or a folder with an experiment.yaml. Nothing is run.
    """
    from eeon_experiments import files
    from eeon_experiments.expand import expand
    from eeon_experiments.settings import RunSettings
    from eeon_experiments.versions import versions

    found = files.load(name)
    points = expand(found, versions(), quick=quick)
    click.echo(f"{found.file.name}: {found.file.title}")
    if found.file.description:
        click.echo(found.file.description)
    table = Table(box=None, pad_edge=False)
    for title in (*found.file.axes, "seed", "run"):
        table.add_column(title)
    for point in points:
        table.add_row(*(value or "-" for value in point.axes.values()), str(point.run.seed), point.run.id)
    console().print(table)
    click.echo(f"{len(points)} points, {len({point.run.id for point in points})} runs")
    advice = {one for point in points for one in RunSettings.model_validate(point.run.settings).tcp.advice()}
    for one in sorted(advice):
        click.echo(f"warning: tcp: {one}", err=True)
