"""`eeon tune attack`: finds the smallest traffic that breaks a promise of a configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from eeon_control.cli.options import FILE, json_option
from eeon_control.cli.output import counted, print_json
from eeon_control.errors import Stopped
from eeon_control.outputs import write_text
from eeon_control.units import Bytes, Duration
from eeon_tools.cli.support import counted_progress, needs_plots, reports_errors
from eeon_tools.hops.recording import recording_filter

from eeon_experiments.cli.numbers import results_option, workers_option

if TYPE_CHECKING:
    from eeon_experiments.tune.attack import AttackFile, Found

SCENARIO, PACKETS, PAGE = "experiment.yaml", "attack.pcapng", "attack.html"


@click.command()
@click.argument("file", type=FILE)
@results_option("out/attack/NAME")
@workers_option
@json_option
@reports_errors
def attack(file: Path, output: Path | None, workers: int | None, as_json: bool) -> None:
    """Search for the smallest traffic that breaks a promise of a configuration.

    FILE names a fabric with its configuration, and the promises that must hold, for example no drop. The
    command draws flows until a promise is broken, then leaves flows out and makes them smaller as long as it
    stays broken. It writes experiment.yaml, which `eeon experiment run` repeats, attack.pcapng and the page
    attack.html into OUTPUT.

    \b
    eeon tune attack examples/tune/headroom.yaml
    """
    from eeon_experiments import workers as processes
    from eeon_experiments.run import run_one
    from eeon_experiments.store import Store
    from eeon_experiments.tune import attack as attacks
    from eeon_experiments.versions import versions

    wanted, document = attacks.load(file)
    folder = output or Path("out/attack") / wanted.name
    needs_plots(PAGE)
    pool = processes.pool(run_one, workers or os.cpu_count() or 1)
    one = attacks.Attack(
        wanted, document, file, Store(folder, wanted.name, quick=False), versions(), pool.run
    )
    hosts, warnings = one.checked()
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    one.store.claim()
    with counted_progress("attack", wanted.runs, "runs") as update:
        one.ended = lambda: update(completed=one.runs)
        try:
            found = one.run(hosts)
        except KeyboardInterrupt as error:
            raise Stopped(f"stopped: {counted(one.runs, 'run')} kept; the same command continues") from error
        finally:
            pool.close()
    if found is not None:
        _write(wanted, found, folder)
    if as_json:
        print_json({**_values(found, one.runs), "warnings": warnings})
    else:
        _show(found, one.runs, folder)
    if found is not None:
        raise click.exceptions.Exit(2)


def _write(wanted: AttackFile, found: Found, folder: Path) -> None:
    from eeon_control.sources import yaml_text
    from eeon_tools.hops import pcapng

    from eeon_experiments.run import record_one
    from eeon_experiments.run_page import run_page
    from eeon_experiments.store import write_atomically
    from eeon_experiments.tune.attack import scenario

    write_atomically(folder / SCENARIO, yaml_text(scenario(wanted, found)).encode())
    recording, totals = record_one(found.run, recording_filter(snap_bytes=pcapng.SNAP_BYTES))
    pcapng.write(recording, folder / PACKETS)
    page = run_page(wanted.name, "; ".join(found.broken), recording, totals)
    write_text(folder / PAGE, page)


def _values(found: Found | None, runs: int) -> dict[str, object]:
    if found is None:
        return {"found": False, "runs": runs}
    flows = [flow.model_dump() for flow in found.lot]
    told = {"found": True, "broken": list(found.broken), "flows": flows}
    return {**told, "least": found.is_least, "runs": runs}


def _show(found: Found | None, runs: int, folder: Path) -> None:
    if found is None:
        click.echo(
            f"no promise was broken in {counted(runs, 'run')}; that does not prove that none can be broken"
        )
        return
    click.echo(f"broken: {'; '.join(found.broken)}")
    for flow in found.lot:
        size, start = Bytes(flow.bytes), Duration(flow.at_ps)
        click.echo(f"  {flow.source} sends {size} to {flow.destination} at {start}")
    least = "no flow can be left out" if found.is_least else "fewer may be enough, but no runs are left"
    click.echo(f"{counted(len(found.lot), 'flow')}, {least}; {counted(runs, 'run')}")
    click.echo(f"scenario, packets, page: {folder / SCENARIO}, {PACKETS}, {PAGE}")
