"""`eeon experiment list`, `show`, `status`: what there is, what would be run, what has been."""

from __future__ import annotations

import json

import click
from eeon_control.cli.options import json_option
from eeon_control.cli.output import counted
from eeon_tools.cli.support import console, reports_errors
from rich.table import Table


@click.command()
@json_option
@reports_errors
def list_(as_json: bool) -> None:
    """List the experiments that ship."""
    from eeon_experiments import files, shipped
    from eeon_experiments.expand import count

    if as_json:
        rows = []
        for name in shipped.names():
            found = files.load(name)
            rows.append(
                {
                    "name": name,
                    "runs": count(found),
                    "quick_runs": count(found, quick=True) if found.file.quick else None,
                    "claims": list(found.file.claims),
                    "title": found.file.title,
                }
            )
        click.echo(json.dumps({"experiments": rows}, indent=1))
        return
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
@json_option
@reports_errors
def show(name: str, quick: bool, as_json: bool) -> None:
    """Show the runs of an experiment, and check all of them.

    NAME is one that ships, a file, or a folder with an experiment.yaml. Nothing is run.
    """
    from eeon_experiments import files
    from eeon_experiments.expand import expand
    from eeon_experiments.settings import RunSettings
    from eeon_experiments.versions import versions

    found = files.load(name)
    points = expand(found, versions(), quick=quick)
    advice = {one for point in points for one in RunSettings.model_validate(point.run.settings).tcp.advice()}
    if as_json:
        value = {
            "name": found.file.name,
            "title": found.file.title,
            "description": found.file.description,
            "points": [{"axes": one.axes, "seed": one.run.seed, "run": one.run.id} for one in points],
            "warnings": sorted(advice),
        }
        click.echo(json.dumps(value, indent=1))
        return
    click.echo(f"{found.file.name}: {found.file.title}")
    if found.file.description:
        click.echo(found.file.description)
    table = Table(box=None, pad_edge=False)
    for title in (*found.file.axes, "seed", "run"):
        table.add_column(title)
    for point in points:
        table.add_row(*(value or "-" for value in point.axes.values()), str(point.run.seed), point.run.id)
    console().print(table)
    runs = len({point.run.id for point in points})
    click.echo(f"{counted(len(points), 'point')}, {counted(runs, 'run')}")
    for one in sorted(advice):
        click.echo(f"warning: tcp: {one}", err=True)
