"""`eeon experiment list` and `show`: the experiments that ship, and an experiment's runs and numbers."""

from dataclasses import asdict
from pathlib import Path

import click
from eeon_control.cli.options import FILE, json_option, output_file
from eeon_control.cli.output import console, counted, print_json
from eeon_tools.cli.support import reports_errors
from eeon_tools.errors import InputError
from eeon_tools.tables import Rows
from rich.table import Table

from eeon_experiments.cli.numbers import (
    column_option,
    experiment_results_option,
    folder_of,
    quick_option,
    show_advice,
    show_comparison,
    show_points,
    write_csv,
)


@click.command()
@json_option
@reports_errors
def list_(as_json: bool) -> None:
    """List the experiments that ship."""
    from eeon_experiments import files, shipped
    from eeon_experiments.expand import count

    rows = [
        {
            "name": found.name,
            "points": count(found),
            "quick_points": count(found, quick=True) if found.file.quick else None,
            "claims": list(found.file.claims),
            "title": found.file.title,
        }
        for found in map(files.load, shipped.names())
    ]
    if as_json:
        print_json({"experiments": rows})
        return
    table = Table(box=None, pad_edge=False)
    for title in ("name", "points", "quick", "claims", "what"):
        is_number = title in ("points", "quick")
        table.add_column(
            title,
            justify="right" if is_number else "left",
            no_wrap=is_number or title == "name",
            overflow="fold",
        )
    for row in rows:
        cells = (" ".join(one) if isinstance(one, list) else str(one or "") for one in row.values())
        table.add_row(*(cell or "-" for cell in cells))
    console().print(table)


@click.command()
@click.argument("name", metavar="NAME|FILE")
@quick_option
@experiment_results_option
@column_option
@click.option(
    "--csv",
    "csv_path",
    type=FILE,
    help="Write the points' numbers, or those of --column, with lowest and highest over the seeds, as CSV.",
)
@click.option(
    "--compare",
    "compared",
    metavar="AXIS=FIRST,SECOND",
    help="Show how much the second value changes each column, with an interval over pairs of runs.",
)
@json_option
@reports_errors
def show(
    name: str,
    quick: bool,
    output: Path | None,
    wanted: tuple[str, ...],
    csv_path: Path | None,
    compared: str | None,
    as_json: bool,
) -> None:
    """Check the runs of an experiment, and show them with the numbers of those that have finished.

    NAME is an experiment that ships, a file, or a folder with an experiment.yaml. The command starts no run.
    """
    from eeon_experiments import files, store
    from eeon_experiments.expand import advice, expand
    from eeon_experiments.report import comparison
    from eeon_experiments.report import points as numbers
    from eeon_experiments.report.runs import Runs
    from eeon_experiments.results import Results
    from eeon_experiments.sweep import of_file, older
    from eeon_experiments.versions import versions

    if csv_path is not None:
        output_file(csv_path)
    found = files.load(name)
    points = expand(found, versions(), quick=quick)
    folder = folder_of(found.name, quick, output)
    results_folder = store.Store(folder, found.name, quick)
    results_folder.check()
    there = (folder / store.MANIFEST).is_file()
    results = Results([])
    if there:
        results = of_file(store.load(folder), found, points, versions(), quick=quick)
    runs = Runs(results.finished)
    measured = numbers.points(runs)
    shown = numbers.shown_columns(measured, wanted)
    warnings = older(folder, results.rows, versions())
    refused = [*results.refused, *([] if warnings else results_folder.of_other_versions(versions()))]
    warnings += [f"not used: {line}" for line in refused]
    for line in warnings:
        click.echo(line, err=True)
    for option, given in (("--csv", csv_path), ("--compare", compared)):
        if given is not None and not measured:
            raise InputError(option, str(given), f"no results in {folder}; run the experiment")
    if csv_path is not None:
        write_csv(measured, wanted, csv_path)
    pair = comparison.Compared.parse(compared) if compared is not None else None
    changes = [one for column in shown for one in comparison.compare(runs, pair, column)] if pair else []
    if pair is not None and not as_json:
        click.echo(f"from {folder}:")
        show_comparison(pair, changes)
        return
    unusual = advice(points)
    if as_json:
        value = {
            "name": found.file.name,
            "title": found.file.title,
            "description": found.file.description,
            "points": [{"axes": one.axes, "seed": one.run.seed, "run": one.run.id} for one in points],
            "numbers": numbers.as_values(measured),
            "compared": [asdict(one) for one in changes],
            "warnings": [*unusual, *warnings],
        }
        print_json(value)
        return
    click.echo(f"{found.file.name}: {found.file.title}")
    if found.file.description:
        click.echo(found.file.description)
    head = (*found.file.axes, "seed", "run")
    rows = [(*(value or "-" for value in one.axes.values()), str(one.run.seed), one.run.id) for one in points]
    Rows(head, rows, named=len(head)).show(console())
    to_run = len({point.run.id for point in points})
    click.echo(f"{counted(len(points), 'point')}, {counted(to_run, 'run')}")
    if measured:
        click.echo(f"\nfrom {folder}:")
        show_points(measured, wanted)
    show_advice(unusual, name, quick=quick)
