"""`eeon demo`: the comparison that shows what this project is about."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click
from eeon_control.cli.terminal import Terminal
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from eeon_tools.cli.support import console, needs_plots, reports_errors


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out/demo"),
    show_default=True,
    help="Folder for the trace, summary.json, picture.svg and report.html.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Seed of the trace."
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=min(2, os.cpu_count() or 1),
    show_default=True,
    help="Number of parallel runs.",
)
@reports_errors
def demo(output: Path, seed: int, workers: int) -> None:
    """Replay one shuffle on leaf-spine-4 under four AQM modes and three EEE modes, and compare.

    Each of the twelve runs starts a twin of the fabric, configures its switches over P4Runtime, replays the
    same trace and reads the switches' counters back.
    """
    needs_plots(str(output / "report.html"))
    from eeon_control import topology as topologies

    from eeon_tools.demo import page, picture, runs, summary
    from eeon_tools.demo.findings import findings
    from eeon_tools.replay.table import comparison
    from eeon_tools.report.page import explain_command, layers, section

    started = time.monotonic()
    output.mkdir(parents=True, exist_ok=True)
    trace, manifest = runs.make_trace(output, seed)
    total = sum(manifest.packets.values())
    click.echo(f"shuffle: {total:,} packets, {manifest.connections:,} connections, "
               f"{manifest.duration_ns / 1e6:,.0f} ms, on {runs.TOPOLOGY}")  # fmt: skip
    columns = (
        TextColumn("{task.description:<34}"), BarColumn(), MofNCompleteColumn(), TextColumn("runs"),
        TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Terminal(stderr=True)) as progress:
        task = progress.add_task(f"{workers} at a time", total=len(runs.RUNS))
        done = runs.run_all(
            trace, workers, lambda run: progress.update(task, advance=1, description=f"done: {run.name}")
        )
    labelled = [(run, one.result) for run, one in zip(runs.RUNS, done, strict=True)]
    results = {(run.aqm, run.eee): result for run, result in labelled}
    found = findings(results)

    out = console()
    labels = [(run.aqm, run.eee) for run in runs.RUNS]
    out.print()
    out.print(comparison([result for _, result in labelled], labels, group_size=len(runs.EEES)))
    out.print()
    for finding in found:
        sign = "[green]seen[/]    " if finding.holds else "[bold red]not seen[/]"
        out.print(Padding(f"{sign} {finding.claim}", 0), highlight=False)
        out.print(Padding(f"[dim]{finding.measured}[/]", (0, 0, 0, 9)), highlight=False)

    summary_path, page_path = output / "summary.json", output / "report.html"
    picture_path = output / "picture.svg"
    shown = dict(zip(runs.RUNS, done, strict=True))
    models = [model for run in runs.SHOWN if (model := shown[run].model) is not None]
    tool = section(models, layers(topologies.load(runs.TOPOLOGY)), explain_command(trace, runs.TOPOLOGY))
    summary.write(summary_path, summary.summarise(seed, labelled))
    page_path.write_text(page.demo_page(results, found, manifest, tool), encoding="utf-8")
    picture_path.write_text(picture.picture(results), encoding="utf-8")
    click.echo(f"\n{summary_path}\n{picture_path}\n{page_path}\n{time.monotonic() - started:.1f} s")
    if not all(finding.holds for finding in found):
        raise click.ClickException("not everything came out as the papers say; see `not seen` above")
