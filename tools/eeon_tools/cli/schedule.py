"""`eeon schedule`: completion times of a trace's coflows under flow chasing and other schedulers."""

from pathlib import Path

import click
from eeon_control.cli.options import QuantityType, json_option
from eeon_control.cli.output import console, counted, print_json
from eeon_control.cli.terminal import Terminal
from eeon_control.units import DataRate
from rich.progress import Progress

from eeon_tools.cli.support import NumberRange, counted_columns, reports_errors, seed_option
from eeon_tools.cli.trace import coflows_argument, parse_range, range_option
from eeon_tools.coflow_schedule import (
    COFLOWSIM,
    VARIANTS,
    Completions,
    Variant,
    World,
    complete_all,
    read_trace,
)
from eeon_tools.quantiles import by_rank
from eeon_tools.tables import Rows
from eeon_tools.trace.coflow import SAMPLE

_FORMATS = {
    "scheduler": "", "mean": ",.3f", "against_fair": "+.1%", "median": ",.3f", "p95": ",.3f",
    "longest": ",.3f", "without_rate": ",",
}  # fmt: skip
"""The columns of the table."""


@click.command()
@coflows_argument
@range_option
@click.option(
    "--rate",
    type=QuantityType(DataRate, minimum=1),
    default="1Gbps",
    help="Rate of each rack's link, in each direction.",
)
@click.option(
    "--gap-ms",
    type=NumberRange(0, 1e6),
    default=0.0,
    help="Mean of the exponential gaps between a reducer's flows; 0: all arrive with their coflow.",
)
@seed_option("Seed of the gaps.")
@click.option(
    "--coflowsim",
    is_flag=True,
    help="Use the units, steps and rate of CoflowSim instead of the file's units and --rate.",
)
@json_option
@reports_errors
def schedule(
    coflows: Path | None, span: str, rate: DataRate, gap_ms: float, seed: int, coflowsim: bool, as_json: bool
) -> None:
    """Show the completion times of a trace's coflows under each scheduler.

    COFLOWS is a file in the Facebook 2010 coflow format (default: a sample).

    The model is fluid: one non-blocking switch, one link per rack, no packets.
    """
    first, last = parse_range(span)
    world = COFLOWSIM if coflowsim else World(int(rate))
    trace = read_trace(coflows or SAMPLE, first, last, world, gap_ms, seed)
    columns, err = counted_columns("flows"), Terminal(stderr=True)
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        flows = len(trace.flows)
        tasks = {variant: progress.add_task(variant.name, total=flows, start=False) for variant in VARIANTS}

        def ended(variant: Variant, count: int) -> None:
            progress.start_task(tasks[variant])
            progress.update(tasks[variant], completed=count)

        results = complete_all(trace, ended)
    found = [_row(result, results[0]) for result in results]
    if as_json:
        print_json(found, indent=2)
        return
    rows = [[format(row[key], form) for key, form in _FORMATS.items()] for row in found]
    head = ("scheduler", "mean", "against fair", "median", "p95", "longest", "no rate at arrival")
    what = f"{counted(len(trace.arrivals), 'coflow')}, {counted(len(trace.flows), 'flow')}"
    Rows(head, rows, title=f"{what}: completion times in seconds").show(console())


def _row(result: Completions, fair: Completions) -> dict[str, str | float]:
    seconds = sorted(result.seconds)
    return {
        "scheduler": result.variant.name,
        "sum": result.total,
        "mean": result.total / len(seconds),
        "against_fair": result.total / fair.total - 1,
        "median": by_rank(seconds, 0.5),
        "p95": by_rank(seconds, 0.95),
        "longest": seconds[-1],
        "without_rate": result.without_rate,
    }
