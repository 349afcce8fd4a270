"""`eeon replay`: a trace through a fabric, in virtual or in real time, with a report at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click

from eeon_tools.cli.support import (
    NumberRange,
    break_teller,
    console,
    keep_good_option,
    needs_plots,
    output_file,
    packet_progress,
    reports_errors,
)
from eeon_tools.errors import InputError, TraceError
from eeon_tools.replay.live_result import LiveResult
from eeon_tools.replay.result import RunResult
from eeon_tools.trace import manifest as manifests
from eeon_tools.trace.capture import OnBreak

_OUTPUT = click.Path(dir_okay=False, path_type=Path)
_STDOUT = Path("-")


@click.command()
@click.argument("trace", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-t",
    "--topology",
    default=None,
    help="Topology: one of the package, or a file.  [default: the one in the trace's manifest]",
)
@click.option(
    "-c",
    "--config",
    "config",
    multiple=True,
    help="Configuration: a file or the name of an example; repeatable, keys of later files win. Without "
    "one a live fabric keeps its configuration.",
)
@click.option(
    "--speed",
    type=NumberRange(1e-6, 1e9),
    default=1.0,
    show_default=True,
    help="Factor on the speed of the trace.",
)
@click.option(
    "--target",
    type=click.Choice(["twin", "engine", "bmv2"]),
    default=None,
    help="Kind of the switches.  [default: that of --fabric, or a twin]",
)
@click.option(
    "--fabric",
    "fabric_name",
    default=None,
    metavar="NAME",
    help="Replay in real time, as root, on the live fabric of this name (`eeon fabric up`).",
)
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="IP=HOST",
    help="Assign an address of the trace, or those of a prefix (10.1.0.0/16=h1), to HOST; repeatable. The "
    "longest prefix counts, and hosts' own addresses count before prefixes.",
)
@keep_good_option
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=None,
    help="Seed of the twin's random draws.  [default: 1]",
)
@click.option("--name", default=None, help="Name of the run in reports.  [default: the configuration's]")
@click.option(
    "--json",
    "json_path",
    is_flag=False,
    flag_value=str(_STDOUT),
    type=_OUTPUT,
    metavar="[FILE]",
    help="JSON, for programs: in place of the table, or into FILE beside it.",
)
@click.option("--html", "html_path", type=_OUTPUT, help="Write a page with plots.")
@reports_errors
def replay(
    trace: Path,
    topology: str | None,
    config: tuple[str, ...],
    speed: float,
    target: str | None,
    fabric_name: str | None,
    mapping: tuple[str, ...],
    keep_good: bool,
    seed: int | None,
    name: str | None,
    json_path: Path | None,
    html_path: Path | None,
) -> None:
    """Send TRACE through a twin, or with --fabric a live fabric, and report deliveries, marks and drops.

    The switches run the P4 program. The command configures them over P4Runtime, and reads their counters and
    registers in the same way. Hosts do not react: they do not send a dropped packet again.
    """
    if html_path is not None:
        needs_plots(str(html_path))
    for path in (json_path, html_path):
        if path is not None:
            output_file(path)  # a folder that cannot be made is known before the run, not after it
    shown = name or " + ".join(Path(part).stem for part in config)
    if fabric_name is None:
        if target not in (None, "twin"):
            raise InputError(
                "--target",
                str(target),
                f"runs in real time: bring a fabric up with `eeon fabric up TOPOLOGY --target {target}` and "
                "name it with --fabric",
            )
        if not config:
            raise InputError("--config", "", "is missing: a twin starts without one")
        run = _on_twin(trace, topology, config, speed, mapping, seed, shown, break_teller(keep_good))
        if json_path != _STDOUT:
            _print(run)

        def page() -> str:
            from eeon_tools.replay.page import run_page

            return run_page(run)

        _write(run.as_dict(), json_path, page, html_path)
    else:
        for option, value in (("--topology", topology), ("--seed", seed)):
            if value is not None:
                raise InputError(option, str(value), "is the live fabric's own; leave it out")
        live = _on_fabric(
            trace, fabric_name, target, config, speed, mapping, shown or "as it was", break_teller(keep_good)
        )
        if json_path != _STDOUT:
            _print_live(live)

        def live_page() -> str:
            from eeon_tools.replay.live_page import run_page

            return run_page(live)

        _write(live.as_dict(), json_path, live_page, html_path)


def _write(
    result: dict[str, object], json_path: Path | None, page: Callable[[], str], html_path: Path | None
) -> None:
    if json_path == _STDOUT:
        click.echo(json.dumps(result, indent=2))
    elif json_path is not None:
        json_path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        click.echo(f"JSON: {json_path}")
    if html_path is not None:
        html_path.write_text(page(), encoding="utf-8")
        click.echo(f"page: {html_path}")


def _on_twin(
    trace: Path,
    topology: str | None,
    config: tuple[str, ...],
    speed: float,
    mapping: tuple[str, ...],
    seed: int | None,
    name: str,
    on_break: OnBreak | None,
) -> RunResult:
    from eeon_tools.replay.twin_run import ReplaySettings
    from eeon_tools.replay.twin_run import replay as run_replay

    if topology is None:
        manifest = manifests.read(trace)
        if manifest is None:
            raise TraceError(trace, "", "has no manifest that names its fabric; say --topology")
        topology = manifest.topology
    seed = 1 if seed is None else seed
    settings = ReplaySettings(name, trace, topology, config, speed, seed, mapping, on_break)
    with packet_progress(f"replaying {trace.name}") as progress:
        return run_replay(settings, progress)


def _on_fabric(
    trace: Path,
    fabric: str,
    target: str | None,
    config: tuple[str, ...],
    speed: float,
    mapping: tuple[str, ...],
    name: str,
    on_break: OnBreak | None,
) -> LiveResult:
    from eeon_tools.live import state
    from eeon_tools.replay.live import LiveSettings
    from eeon_tools.replay.live import replay as run_replay

    record = state.load(fabric)
    if target not in (None, record.target):
        raise InputError("--target", str(target), f"is not what fabric {fabric} runs: {record.target}")
    with packet_progress(f"replaying {trace.name} on {fabric}") as progress:
        return run_replay(LiveSettings(name, trace, fabric, config, speed, mapping, on_break), progress)


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


def _print_live(run: LiveResult) -> None:
    from eeon_tools.replay import live_table

    click.echo(
        f"{run.name}: {run.trace} through {run.topology} on {run.target}, "
        f"{run.real_seconds:,.3f} s of real time"
    )
    console().print(live_table.by_class(run))
    click.echo()
    for remark in live_table.remarks(run):
        click.echo(remark)
    if run.wakes is not None:
        click.echo(f"{run.wakes:,} wakes of switch ports.")
