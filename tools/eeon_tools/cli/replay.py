"""`eeon replay`: a trace through the twin of a fabric, with a report at the end."""

from __future__ import annotations

import json
from pathlib import Path

import click

from eeon_tools.cli.support import (
    NumberRange,
    console,
    output_file,
    packet_progress,
    reports_errors,
    twin_only,
)
from eeon_tools.errors import TraceError
from eeon_tools.replay.result import RunResult
from eeon_tools.trace import manifest as manifests

_OUTPUT = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("trace", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-t",
    "--topology",
    default=None,
    help="Fabric: a name that ships, or a file.  [default: the one that the trace's manifest names]",
)
@click.option(
    "-c",
    "--config",
    "config",
    multiple=True,
    required=True,
    help="Configuration: a file or the name of an example; may be repeated, later ones win.",
)
@click.option(
    "--speed",
    type=NumberRange(1e-6, 1e9),
    default=1.0,
    show_default=True,
    help="How many times faster than its own times the trace is sent.",
)
@click.option(
    "--target",
    type=click.Choice(["twin", "engine", "bmv2"]),
    default="twin",
    show_default=True,
    help="What runs the switches.",
)
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="IP=HOST",
    help="Let HOST stand for an address of the trace; may be repeated.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=1,
    show_default=True,
    help="Seed of the switches' random draws.",
)
@click.option("--name", default=None, help="Name of the run in reports.  [default: the configuration's]")
@click.option("--json", "json_path", type=_OUTPUT, help="Write the result as JSON.")
@click.option("--html", "html_path", type=_OUTPUT, help="Write a page with plots.")
@reports_errors
def replay(
    trace: Path,
    topology: str | None,
    config: tuple[str, ...],
    speed: float,
    target: str,
    mapping: tuple[str, ...],
    seed: int,
    name: str | None,
    json_path: Path | None,
    html_path: Path | None,
) -> None:
    """Send TRACE through a fabric and report what happened to it.

    The switches run the P4 program and are configured over P4Runtime; counters and registers are read back
    the same way. Hosts do not react: what is dropped is not sent again.
    """
    twin_only(target)
    from eeon_tools.replay.session import ReplaySettings
    from eeon_tools.replay.session import replay as run_replay

    if topology is None:
        manifest = manifests.read(trace)
        if manifest is None:
            raise TraceError(trace, "", "has no manifest that names its fabric; say --topology")
        topology = manifest.topology
    shown = name or " + ".join(Path(part).stem for part in config)
    settings = ReplaySettings(shown, trace, topology, config, speed, seed, mapping)
    for path in (json_path, html_path):
        if path is not None:
            output_file(path)  # a folder that cannot be made is known before the run, not after it
    with packet_progress(f"replaying {trace.name}") as progress:
        result = run_replay(settings, progress)
    _print(result)
    if json_path is not None:
        json_path.write_text(json.dumps(result.as_dict(), indent=2) + "\n", encoding="utf-8")
        click.echo(f"JSON: {json_path}")
    if html_path is not None:
        from eeon_tools.replay.page import run_page

        html_path.write_text(run_page(result), encoding="utf-8")
        click.echo(f"page: {html_path}")


def _print(run: RunResult) -> None:
    from eeon_tools.replay import table

    out = console()
    click.echo(
        f"{run.name}: {run.trace} through {run.topology}, {1000 * run.virtual_seconds:,.3f} ms of virtual "
        "time"
    )
    if run.skipped_not_ip:
        click.echo(f"  packets left out because they are not IP: {run.skipped_not_ip:,}")
    out.print(table.by_class(run))
    if run.layers:
        out.print()
        out.print(table.by_layer(run))
        warning = table.overtime(run)
        if warning:
            click.echo(warning)
    deepest = run.deepest_queue()
    click.echo()
    if deepest is not None and deepest.highest:
        click.echo(
            f"deepest queue {deepest.highest:,} bytes at {deepest.name}; {run.wakes:,} wakes of switch ports"
        )
    click.echo(f"{run.reordered} reordered; {run.phy_violations} sent before their PHY was awake; "
               f"{run.p4_passes:,} P4 passes in {run.wall_seconds:.1f} s")  # fmt: skip
