"""`eeon experiment run`, `status` and `trace`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from eeon_control.cli.options import json_option
from eeon_control.cli.output import counted, print_json
from eeon_control.errors import Stopped
from eeon_control.outputs import write_text
from eeon_control.units import parse_probability
from eeon_tools.cli.recordings import RecordedFiles, recording_options
from eeon_tools.cli.support import counted_progress, reports_errors
from eeon_tools.errors import InputError

from eeon_experiments.cli.numbers import (
    MOST_ROWS,
    column_option,
    dask_option,
    experiment_results_option,
    folder_of,
    quick_option,
    show_advice,
    show_points,
    workers_option,
)
from eeon_experiments.quantities import rough_time

if TYPE_CHECKING:
    from eeon_experiments.results import Results, Row
    from eeon_experiments.store import Outcome
    from eeon_experiments.sweep import State, Sweep

_F = TypeVar("_F", bound=Callable[..., object])
_SHOWN_FAILURES = 5
_ERROR_CHARS = 300
_FAR = 2
"""Factor between a load that was asked for and one that was drawn, from which a user is told."""


def _seeds(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    found = []
    for text in value.split(","):
        if not (text.strip().isascii() and text.strip().isdecimal()) or int(text) >= 2**63:
            raise click.BadParameter(
                f"{text!r} is not a seed; write whole numbers, for example 1,2,3", ctx, param
            )
        found.append(int(text))
    return list(dict.fromkeys(found))


def _selection(function: _F) -> _F:
    for option in (
        experiment_results_option,
        click.option(
            "--only",
            multiple=True,
            metavar="AXIS=VALUE,...",
            help="Only points with these values, for example buffer=shallow,queue=red_1ms,codel_1; "
            "repeatable.",
        ),
        click.option(
            "--seeds", callback=_seeds, metavar="N,N,...", help="Seeds.  [default: those of the file]"
        ),
        quick_option,
        click.argument("name", metavar="NAME|FILE"),
    ):
        function = option(function)
    return function


@click.command()
@_selection
@workers_option
@column_option
@dask_option
@click.option(
    "--dry-run", is_flag=True, help="Show how many runs there are and how many would start; start none."
)
@reports_errors
def run(
    name: str,
    quick: bool,
    seeds: list[int] | None,
    only: tuple[str, ...],
    output: Path | None,
    workers: int | None,
    wanted: tuple[str, ...],
    dask: str | None,
    dry_run: bool,
) -> None:
    """Run the missing and the failed runs of an experiment.

    NAME is an experiment that ships, a file, or a folder with an experiment.yaml. The command checks all
    files and all runs before the first run starts. It stores every result at once: after an interruption, the
    same command continues. At the end it shows the numbers of the points; `eeon experiment show` shows all of
    them again.
    """
    from eeon_experiments import store
    from eeon_experiments.expand import advice
    from eeon_experiments.report import points
    from eeon_experiments.report.runs import Runs

    points.shown_columns((), wanted)
    sweep, folder = _sweep(name, quick, seeds, only, output)
    if dask is not None and workers is not None:
        raise InputError(
            "--workers", str(workers), "cannot be used with --dask, whose cluster has its own workers"
        )
    state = sweep.state()
    runs = counted(len(state.finished), "run")
    click.echo(f"{folder}: {runs} finished, {len(state.to_run)} to run")
    _tell_estimate(sweep, state)
    show_advice(advice(sweep.points), name, quick=quick)
    if dry_run:
        return
    failures: list[str] = []
    shown_name = name if len(name) < 30 else Path(name).name
    with counted_progress(shown_name, len(state.to_run), "runs", stays=True) as update:

        def ended(outcome: Outcome) -> None:
            if not outcome.finished:
                error = str(outcome.measured.get("error"))[:_ERROR_CHARS]
                failures.append(f"  {_where(sweep, outcome.run_id)}: {error}")
            update(advance=1)

        try:
            results = sweep.run(count=workers or os.cpu_count() or 1, dask=dask, ended=ended)
        except KeyboardInterrupt as error:
            state = sweep.state()
            for line in sweep.not_used():
                click.echo(line, err=True)
            raise Stopped(
                f"stopped: {counted(len(state.finished), 'run')} kept, {len(state.to_run)} missing; the same "
                "command continues"
            ) from error
    for line in results.refused:
        click.echo(f"not used: {line}")
    found = points.points(Runs(results.finished))
    show_points(found, wanted, MOST_ROWS)
    click.echo(f"{counted(len(results.finished), 'row')} in {folder / store.ROWS}")
    _tell_given_up(results)
    _tell_drawn(results)
    _tell_alike(results)
    if failures:
        shown = "\n".join(failures[:_SHOWN_FAILURES])
        more = f"\n  and {len(failures) - _SHOWN_FAILURES} more" if len(failures) > _SHOWN_FAILURES else ""
        raise click.ClickException(
            f"{counted(len(failures), 'run')} failed (the same command tries them again):\n{shown}{more}"
        )


@click.command()
@_selection
@json_option
@reports_errors
def status(
    name: str, quick: bool, seeds: list[int] | None, only: tuple[str, ...], output: Path | None, as_json: bool
) -> None:
    """Show which runs of an experiment have finished, and which have failed."""
    sweep, folder = _sweep(name, quick, seeds, only, output)
    state = sweep.state()
    if as_json:
        likely = sweep.estimate() if state.to_run else None
        value = {
            "folder": str(folder),
            "finished": len(state.finished),
            "missing": len(state.missing),
            "not_used": sweep.not_used(),
            "likely_cpu_seconds": None if likely is None else likely.cpu_seconds,
            "likely_peak_rss_bytes": None if likely is None else likely.peak_rss_bytes,
            "failed": [
                {"run": one.id, "point": _where(sweep, one.id), "error": error} for one, error in state.failed
            ],
        }
        print_json(value)
        return
    click.echo(
        f"{folder}: {counted(len(state.finished), 'run')} finished, {len(state.failed)} failed, "
        f"{len(state.missing)} missing"
    )
    for line in sweep.not_used():
        click.echo(line)
    _tell_estimate(sweep, state)
    for run_, error in state.failed:
        click.echo(f"  {_where(sweep, run_.id)}: {error[:_ERROR_CHARS]}")


@click.command()
@_selection
@recording_options
@reports_errors
def trace(
    name: str,
    quick: bool,
    seeds: list[int] | None,
    only: tuple[str, ...],
    output: Path | None,
    files: RecordedFiles,
) -> None:
    """Repeat one point of an experiment, and record what happened to its packets at each hop.

    --only and --seeds choose the point. The result is not stored.
    """
    from eeon_experiments.expand import advice
    from eeon_experiments.run import record_one

    if not files.are_wanted:
        raise InputError("--pcapng", "", "is missing; give it, --perfetto or --html")
    files.check()
    sweep, _ = _sweep(name, quick, seeds, only, output)
    runs = {point.run.id: point.run for point in sweep.points}
    if len(runs) > 1:
        # `--only queue=codel` prefers the point `queue=codel` to `queue=codel, workload=short`.
        named = {part.partition("=")[0].strip() for one in only for part in one.split(",") if "=" in part}
        whole = [p.run for p in sweep.points if all(v is None or a in named for a, v in p.axes.items())]
        runs = {run.id: run for run in whole} if len({run.id for run in whole}) == 1 else runs
    if len(runs) != 1:
        shown = "; ".join(_where(sweep, run_id) for run_id in list(runs)[:_SHOWN_FAILURES])
        raise InputError("--only", f"{len(runs)} runs", f"choose one with --only and --seeds: {shown}")
    [(run_id, chosen)] = runs.items()
    show_advice(advice(point for point in sweep.points if point.run.id == run_id), name, quick=quick)
    recording, totals = record_one(chosen, files.filter())
    click.echo(f"{_where(sweep, run_id)}: {len(recording.hops):,} events")
    for line in files.write(recording):
        click.echo(line)
    if files.html is not None:
        from eeon_experiments.run_page import run_page

        write_text(files.html, run_page(name, _where(sweep, run_id), recording, totals))
        click.echo(f"page: {files.html}")


def _sweep(
    name: str, quick: bool, seeds: list[int] | None, only: tuple[str, ...], output: Path | None
) -> tuple[Sweep, Path]:
    from eeon_experiments import files
    from eeon_experiments.sweep import Sweep
    from eeon_experiments.versions import versions

    found = files.load(name)
    folder = folder_of(found.name, quick, output)
    return Sweep(found, folder, versions(), quick=quick, seeds=seeds, only=_axes(only)), folder


def _axes(only: tuple[str, ...]) -> dict[str, list[str]]:
    """Parses `buffer=shallow,queue=a,b`: a part without `=` is another value of the previous axis."""
    found: dict[str, list[str]] = {}
    for option in only:
        axis = ""
        for part in option.split(","):
            name, equals, value = part.partition("=")
            if equals:
                axis = name.strip()
            elif not axis:
                raise InputError("--only", option, "is written axis=value, for example queue=red_1ms,codel_1")
            found.setdefault(axis, []).append((value if equals else part).strip())
    return found


def _tell_estimate(sweep: Sweep, state: State) -> None:
    if not state.to_run:
        return
    likely = sweep.estimate()
    if likely is None:
        click.echo("no time estimate: no run of this form has finished")
        return
    megabytes = likely.peak_rss_bytes / 1e6
    click.echo(
        f"likely {rough_time(likely.cpu_seconds)} of processor time and {megabytes:.0f} MB per worker, "
        f"from {counted(likely.rows, 'row')} in {likely.folder}"
    )


def _tell_given_up(results: Results) -> None:
    lost = [row for row in results.finished if row.get("flows_given_up")]
    if lost:
        click.echo(
            f"warning: connections were given up in {counted(len(lost), 'row')} (column flows_given_up), for "
            "example because a link was down; their transfers have no completion time",
            err=True,
        )


def _tell_drawn(results: Results) -> None:
    found = [(row, *loads) for row in results.finished if (loads := _loads(row)) is not None]
    far = [one for one in found if not 1 / _FAR <= one[1] / one[2] <= _FAR]
    for row, drawn, asked in far[:1]:
        click.echo(
            f"warning: in {counted(len(far), 'row')} the flows are another load than `load` (column "
            f"offered_load), for example {drawn:.3g}, not {asked:.3g}, with seed {row.seed}: chance decides "
            "between so few; make duration longer",
            err=True,
        )


def _loads(row: Row) -> tuple[float, float] | None:
    """Returns the load that the flows of a row are, and the one that its settings ask for."""
    drawn = row.number("offered_load")
    if drawn is None:
        return None
    applications = json.loads(row.text("settings_json"))["workload"]["applications"].values()
    asked = next((one.get("load") for one in applications if one.get("kind") == "flows"), None)
    return None if asked is None else (drawn, float(parse_probability(asked)))


def _tell_alike(results: Results) -> None:
    alike = results.alike()
    for rows in alike[:_SHOWN_FAILURES]:
        seeds = ", ".join(str(seed) for seed in sorted({row.seed for row in rows}))
        click.echo(
            f"warning: {_at(rows[0].axes)}seeds {seeds}: the same numbers. This workload has no random "
            "draws, so one seed is enough, and a spread over seeds is not a confidence interval",
            err=True,
        )
    more = len(alike) - _SHOWN_FAILURES
    if more > 0:
        click.echo(f"warning: {more} more points whose seeds change nothing", err=True)


def _where(sweep: Sweep, run_id: str) -> str:
    """Returns the first point of a run in words."""
    point = next(point for point in sweep.points if point.run.id == run_id)
    return f"{_at(point.axes)}seed {point.run.seed}"


def _at(axes: Mapping[str, str | None]) -> str:
    return "".join(f"{axis}={value}, " for axis, value in axes.items() if value is not None)
