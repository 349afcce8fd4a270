"""`eeon demo`: the comparison that shows the purpose of this project."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click
from eeon_control.cli.options import FOLDER
from eeon_control.cli.output import console
from eeon_control.outputs import write_text
from rich.padding import Padding
from rich.text import Text

from eeon_tools.cli.support import counted_progress, needs_plots, reports_errors, seed_option

if TYPE_CHECKING:
    from eeon_tools.demo.findings import Finding, Results


@click.command()
@click.option(
    "-o",
    "--output",
    type=FOLDER,
    default=Path("out/demo"),
    help="Folder for the trace, summary.json, picture.svg and report.html.",
)
@seed_option("Seed of the trace.")
@click.option(
    "--workers", type=click.IntRange(1, 64), help="Number of parallel runs.  [default: the number of cores]"
)
@reports_errors
def demo(output: Path, seed: int, workers: int | None) -> None:
    """Replay one shuffle on leaf-spine-4 under four AQM modes and three EEE modes, and compare.

    Each of the twelve runs starts a twin of the fabric, configures its switches over P4Runtime, replays the
    same trace and reads the switches' counters. The table and the picture are ready first; the page, which
    shows two of the runs packet by packet, takes as long again.
    """
    needs_plots(str(output / "report.html"))
    from eeon_control import topology as topologies

    from eeon_tools.demo import page, picture, runs
    from eeon_tools.demo.findings import findings
    from eeon_tools.replay.result import RunResult
    from eeon_tools.report.page import explain_command, layers, section

    started = time.monotonic()
    workers = workers or min(len(runs.RUNS), os.cpu_count() or 1)
    output.mkdir(parents=True, exist_ok=True)
    trace, manifest = runs.make_trace(output, seed)
    total = sum(manifest.packets.values())
    click.echo(f"shuffle: {total:,} packets, {manifest.connections:,} connections, "
               f"{manifest.duration_ns / 1e6:,.0f} ms, on {runs.TOPOLOGY}")  # fmt: skip
    done: dict[runs.DemoRun, RunResult] = {}
    models: dict[runs.DemoRun, runs.Model] = {}
    with closing(runs.run_all(trace, workers)) as made:
        with counted_progress(f"{workers} at a time", len(runs.RUNS), "runs", stays=True) as update:
            while len(done) < len(runs.RUNS):
                run, result = next(made)
                if isinstance(result, RunResult):
                    done[run] = result
                    update(advance=1, description=f"done: {run.name}")
                else:
                    models[run] = result
        results = {(run.aqm, run.eee): done[run] for run in runs.RUNS}
        found = findings(results)
        _print(results, found)

        def written(name: str, text: str) -> None:
            write_text(output / name, text)
            click.echo(f"{output / name} after {time.monotonic() - started:.1f} s")

        click.echo()
        text = runs.summarise(seed, [(run, done[run]) for run in runs.RUNS])
        write_text(output / "summary.json", text)
        written("picture.svg", picture.picture(results))
        models.update((run, model) for run, model in made if not isinstance(model, RunResult))
        tool = section(
            [models[run] for run in runs.SHOWN],
            layers(topologies.load(runs.TOPOLOGY)),
            explain_command(trace, runs.TOPOLOGY),
        )
        written("report.html", page.demo_page(results, found, manifest, tool))
    if not all(finding.holds for finding in found):
        raise click.ClickException("some results differ from the papers; see `not seen` above")


def _print(results: Results, found: Sequence[Finding]) -> None:
    from eeon_tools.demo.runs import EEES
    from eeon_tools.replay.table import comparison

    out = console()
    out.print()
    comparison(list(results.values()), results, len(EEES)).show(out)
    out.print()
    for finding in found:
        sign = Text("seen    ", style="green") if finding.holds else Text("not seen", style="bold red")
        out.print(Text.assemble(sign, f" {finding.claim}"))
        out.print(Padding(Text(finding.measured, style="dim"), (0, 0, 0, 9)))
