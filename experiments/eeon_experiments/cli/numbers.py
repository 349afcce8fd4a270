"""Options that several commands share, and output of the numbers of an experiment's points in a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from eeon_control.cli.options import FOLDER
from eeon_control.cli.output import console, counted
from eeon_control.outputs import write_text
from eeon_tools.tables import Rows

if TYPE_CHECKING:
    from eeon_experiments.report.comparison import Compared, Comparison
    from eeon_experiments.report.points import Point

_F = TypeVar("_F", bound=Callable[..., object])
MOST_ROWS = 24
"""Maximum number of points that a command shows whose main output is not these numbers."""
_MOST_ADVICE = 10

quick_option = click.option("--quick", is_flag=True, help="Use the scaled-down form.")
workers_option = click.option(
    "--workers",
    type=click.IntRange(1, 1024),
    default=None,
    help="Number of parallel runs.  [default: the number of cores]",
)
dask_option = click.option(
    "--dask", metavar="ADDRESS", help="Run on the Dask cluster with the scheduler at this address."
)
column_option = click.option(
    "--column",
    "wanted",
    multiple=True,
    metavar="NAME",
    help="Show this column of docs/experiments.md; repeatable.  [default: some in which points differ]",
)


def results_option(default: str) -> Callable[[_F], _F]:
    """Returns the option for a command's folder of results, with its default in words."""
    return click.option("-o", "--output", type=FOLDER, help=f"Folder of results.  [default: {default}]")


experiment_results_option = results_option("out/experiments/NAME, with -quick for the quick form")


def folder_of(experiment: str, quick: bool, given: Path | None) -> Path:
    """Returns the `given` folder of results, or the default one of the experiment's form."""
    return given or Path("out/experiments") / f"{experiment}{'-quick' if quick else ''}"


def show_points(found: Sequence[Point], wanted: Sequence[str] = (), most: int | None = None) -> None:
    """Prints a table of points, with the `wanted` columns or some in which points differ."""
    from eeon_experiments.report import points

    if not found:
        return
    head, rows = points.table(found[:most], points.shown_columns(found, wanted))
    Rows(head, rows, named=len(points.axes_of(found))).show(console())
    left = len(found) - len(rows)
    if left:
        click.echo(f"and {counted(left, 'more point', 'more points')}")
    if any(len(point.seeds) > 1 for point in found):
        click.echo("means over seeds (lowest to highest)")


def show_comparison(compared: Compared, found: Sequence[Comparison]) -> None:
    """Prints a table for each column: at each point, the change with its interval, and both means over the
    pairs."""
    from eeon_experiments.report.points import short, words

    axes = list(dict.fromkeys(axis for one in found for axis in one.axes or ()))
    differing = [axis for axis in axes if len({one.axes.get(axis) for one in found if one.axes}) > 1]
    head = (*differing, "change (95 %)", "pairs", compared.first, compared.second)
    for column in dict.fromkeys(one.column for one in found):
        rows = [
            (
                *("all" if one.axes is None else one.axes.get(axis, "-") for axis in differing),
                *(_change(one), str(one.pairs), short(one.first), short(one.second)),
            )
            for one in found
            if one.column == column
        ]
        click.echo(f"{words(column)}:")
        Rows(head, rows, named=len(differing)).show(console())
    click.echo("a pair: two runs of the same seed that differ in this axis only")


def _change(one: Comparison) -> str:
    change = one.change
    if change is None:
        return "-"
    if change.low is None or change.high is None:
        return f"{change.mean:+.1%}"
    return f"{change.mean:+.1%} ({change.low:+.1%} to {change.high:+.1%})"


def show_advice(found: Sequence[str], name: str, *, quick: bool) -> None:
    """Prints advice about settings as warnings on stderr, and where the rest is if there is much of it."""
    for one in found[:_MOST_ADVICE]:
        click.echo(f"warning: {one}", err=True)
    if len(found) > _MOST_ADVICE:
        more = len(found) - _MOST_ADVICE
        command = shlex.join(["eeon", "experiment", "show", name, *(["--quick"] if quick else []), "--json"])
        click.echo(f"warning: and {more} more: {command}", err=True)


def write_csv(found: Sequence[Point], wanted: Sequence[str], path: Path) -> None:
    """Writes the `wanted` numbers of the points, or all, and reports the file on stderr."""
    from eeon_experiments.report import points

    write_text(path, points.as_csv(found, wanted))
    click.echo(f"CSV: {path}", err=True)
