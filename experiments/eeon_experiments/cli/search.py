"""`eeon tune search`: searches a fabric's settings, and reports the confidence of the answer."""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from eeon_control.cli.options import FILE, QuantityType, json_option, output_file
from eeon_control.cli.output import console, counted, print_json
from eeon_control.errors import Stopped
from eeon_control.outputs import write_text
from eeon_control.units import Duration
from eeon_tools.cli.support import counted_progress, needs_plots, reports_errors
from eeon_tools.tables import Rows

from eeon_experiments.cli.numbers import dask_option, results_option, workers_option

if TYPE_CHECKING:
    from eeon_experiments.tune.bench import Bench
    from eeon_experiments.tune.files import Tune
    from eeon_experiments.tune.tuning import Answer, Tuning

_MOST_OBJECTIVES = 2
"""Maximum number of objectives in a terminal; the page and the JSON have all of them."""
CONFIGURATION, ANSWER = "recommended.yaml", "answer.json"


@click.command()
@click.argument("file", type=FILE)
@results_option("out/tune/NAME")
@workers_option
@dask_option
@click.option("--html", type=FILE, help="Also write the answer as a page.")
@click.option(
    "--pages",
    is_flag=True,
    help="With --html: also write a page about one run of the baseline and of the best setting.",
)
@click.option(
    "--from-targets",
    "targets_file",
    metavar="TARGETS",
    type=FILE,
    help="Begin with the settings that this targets file's switches run, and with the load that they count.",
)
@click.option(
    "--over",
    metavar="TIME",
    default="10s",
    type=QuantityType(Duration),
    help="With --from-targets: time between two readings of the counters.",
)
@click.option(
    "--range",
    "kept",
    metavar="JSON",
    type=FILE,
    help="With --from-targets: take the load from Prometheus' response to query_range instead.",
)
@click.option(
    "--dry-run", is_flag=True, help="Check everything and show what would be searched; run nothing."
)
@json_option
@reports_errors
def search(
    file: Path,
    output: Path | None,
    workers: int | None,
    dask: str | None,
    html: Path | None,
    pages: bool,
    targets_file: Path | None,
    over: Duration,
    kept: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Search for the best setting of a fabric, and report its confidence.

    FILE names a fabric, workloads, knobs with their ranges, objectives, limits and a budget. The command
    checks everything before the first run. It compares the best setting found with the baseline and with
    rules of thumb, on seeds that the search did not use. It writes recommended.yaml, which `eeon config apply
    -c` takes, and answer.json into OUTPUT. After an interruption, the same command continues.

    \b
    eeon tune examples/tune/shuffle.yaml
    eeon tune my-fabric.yaml --html out/tune.html --workers 4
    eeon tune my-fabric.yaml --from-targets targets.yaml
    """
    from eeon_experiments import dask_workers
    from eeon_experiments import workers as processes
    from eeon_experiments.run import run_one
    from eeon_experiments.store import Store
    from eeon_experiments.tune import answer as words
    from eeon_experiments.tune import files
    from eeon_experiments.tune.bench import Bench
    from eeon_experiments.tune.tuning import Tuning
    from eeon_experiments.versions import versions

    if html is not None:
        needs_plots(str(html))
        output_file(html)
    if kept is not None and targets_file is None:
        raise click.UsageError("--range needs --from-targets")
    found = files.load(file)
    folder = output or Path("out/tune") / found.file.name
    with ExitStack() as ending:
        pool = ending.enter_context(closing(processes.pool(run_one, workers or os.cpu_count() or 1)))
        work = pool.run if dask is None else partial(dask_workers.run_all, work=run_one, address=dask)
        store = Store(folder, found.file.name, quick=False)
        bench = Bench(found, store, versions(), work)
        if targets_file is not None:
            bench.tune = found = _begun(bench, targets_file, over, kept)
        tuning = Tuning(found, bench)
        tuning.check()
        if dry_run:
            if found.today is not None:
                click.echo(found.today.sentence())
            click.echo(_plan(found, tuning.compared))
            return
        started = time.monotonic()
        answer = _run(tuning, ending)
        took = time.monotonic() - started
    _write(answer, folder)
    if html is not None:
        from eeon_experiments.tune import page

        write_text(html, page.render(answer, _write_run_pages(answer, bench, html) if pages else []))
    for one in answer.warnings:
        click.echo(f"warning: {one}", err=True)
    if as_json:
        print_json(words.as_values(answer))
        return
    _show(answer)
    click.echo(f"{words.cost(answer)}, {took:.0f} s")
    click.echo(f"configuration: {folder / CONFIGURATION}")
    if html is not None:
        click.echo(f"page: {html}")


def _begun(bench: Bench, targets_file: Path, over: Duration, kept: Path | None) -> Tune:
    """Returns the search with the running fabric's settings and load as its baseline."""
    from eeon_control.fabric.sync import run
    from eeon_control.targets import load_targets

    from eeon_experiments.tune import today
    from eeon_experiments.tune.files import BASELINE

    bench.add(BASELINE)
    _, topology, _ = bench.points(BASELINE, bench.tune.file.seeds[0])[0].run.parts()
    bench.forget(BASELINE)
    read = today.read(topology, load_targets(targets_file), over, kept)
    return today.begun(bench.tune, run(read))


def _run(tuning: Tuning, ending: ExitStack) -> Answer:
    """Runs the search with a progress bar on stderr."""
    tuning.bench.store.claim()
    update = ending.enter_context(counted_progress("search", tuning.expected(), "runs"))

    def says(text: str) -> None:
        update(description=text, total=max(tuning.expected(), tuning.bench.runs))

    tuning.says, tuning.bench.ended = says, lambda: update(completed=tuning.bench.runs)
    try:
        return tuning.run()
    except KeyboardInterrupt as error:
        raise Stopped(
            f"stopped: {counted(tuning.bench.runs, 'run')} kept; the same command continues"
        ) from error
    finally:
        tuning.bench.collect()


def _plan(found: Tune, compared: list[str]) -> str:
    file = found.file
    each = len(file.workloads) * len(file.seeds)
    runs, minutes = file.budget.runs, file.budget.minutes
    budget = f"{runs} runs" if runs is not None else f"{minutes:g} minutes of processor time"
    against = ", ".join(["the baseline", *compared])
    settings, varied = counted(found.space.size(), "setting"), counted(len(found.space.knobs), "knob")
    return (
        f"{file.name}: valid; {settings} of {varied}; {budget}, {each} per setting; the best is compared "
        f"with {against} on {len(file.held_back)} seeds"
    )


def _write(answer: Answer, folder: Path) -> None:
    from eeon_experiments.store import write_atomically
    from eeon_experiments.tune import answer as words

    write_atomically(folder / CONFIGURATION, words.configuration(answer).encode())
    write_atomically(folder / ANSWER, (json.dumps(words.as_values(answer), indent=1) + "\n").encode())


def _show(answer: Answer) -> None:
    from eeon_experiments.tune import answer as words

    head, rows = words.table(answer, _MOST_OBJECTIVES)
    Rows(head, rows).show(console())
    click.echo("held-back seeds: mean (lowest to highest); better than baseline: mean (95 % interval)")
    click.echo("")
    for sentence in words.sentences(answer):
        click.echo(sentence)


def _write_run_pages(answer: Answer, bench: Bench, html: Path) -> list[tuple[str, str]]:
    """Writes pages of the baseline and of the best setting, each about one run of the first workload with the
    first held-back seed. Returns (setting, file) for each page."""
    from eeon_tools.hops.recording import recording_filter

    from eeon_experiments.run import record_one
    from eeon_experiments.run_page import run_page
    from eeon_experiments.tune import answer as words

    written = []
    for one in answer.judged[:2]:
        called = words.label(answer, one)
        run = bench.points(one.name, answer.tune.file.held_back[0])[0].run
        recording, totals = record_one(run, recording_filter())
        path = html.with_name(f"{html.stem}-{called}.html")
        write_text(path, run_page(answer.tune.file.name, called, recording, totals))
        written.append((called, path.name))
    return written
