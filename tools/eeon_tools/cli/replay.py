"""`eeon replay`: sends a trace through a fabric, in virtual or in real time, and reports the results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from eeon_control import topology as topologies
from eeon_control.cli.options import FILE, INPUT, config_options, output_file, topology_option
from eeon_control.cli.output import console, print_json, print_problems
from eeon_control.outputs import write_text

from eeon_tools.cli.recordings import RecordedFiles, recording_options
from eeon_tools.cli.support import (
    break_teller,
    keep_good_option,
    packet_progress,
    reads_again,
    reports_errors,
    send_options,
    speed_option,
)
from eeon_tools.errors import InputError, TraceError
from eeon_tools.hops.recording import Recording
from eeon_tools.replay import comparing
from eeon_tools.replay.comparing import Setting
from eeon_tools.replay.faults import FORM, Fault
from eeon_tools.replay.feed import SendRules
from eeon_tools.replay.live_result import LiveResult
from eeon_tools.replay.result import RunResult
from eeon_tools.trace import manifest as manifests

if TYPE_CHECKING:
    from eeon_tools.live.state import State
    from eeon_tools.replay.twin_run import ReplaySettings

_STDOUT = Path("-")
_PAUSED_SHOWN = 5


@click.command()
@click.argument("trace", type=INPUT)
@topology_option(required=False, more="  [default: the one in the trace's manifest]")
@config_options(required=False, more=". Without this option, a live fabric keeps its configuration")
@speed_option
@click.option(
    "--target",
    type=click.Choice(["twin", "engine", "bmv2"]),
    help="Kind of switches.  [default: that of --fabric, or a twin]",
)
@click.option(
    "--fabric",
    "fabric_name",
    metavar="NAME",
    help="Replay in real time, as root, on the live fabric of this name (`eeon fabric up`).",
)
@send_options
@keep_good_option
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of the twin's random draws.  [default: 1]"
)
@click.option(
    "--fail",
    multiple=True,
    metavar=FORM,
    help="Take down the twin's link at this port, or every link of this node, from the first time on, "
    "or until the second one; repeatable. Example: leaf1:3@5ms-20ms",
)
@click.option("--name", help="Name of the run in reports.  [default: the configuration's]")
@click.option(
    "--json",
    "json_path",
    is_flag=False,
    flag_value=str(_STDOUT),
    type=FILE,
    metavar="[FILE]",
    help="Print JSON, for programs, in place of the table; with FILE, write it there and print the "
    "table too.",
)
@click.option(
    "--compare",
    multiple=True,
    metavar="A[+B...]",
    help="Also replay under this setting: configurations joined by +; repeatable. One table and one "
    "page cover all settings.",
)
@recording_options
@reports_errors
@reads_again("trace")
def replay(
    trace: Path,
    topology_name: str | None,
    config_names: tuple[str, ...],
    speed: float,
    target: str | None,
    fabric_name: str | None,
    rules: SendRules,
    keep_good: bool,
    seed: int | None,
    fail: tuple[str, ...],
    name: str | None,
    json_path: Path | None,
    compare: tuple[str, ...],
    files: RecordedFiles,
) -> None:
    """Send TRACE through a twin, and report deliveries, marks and drops.

    With --fabric, the trace goes through a live fabric. The switches run the P4 program. The command
    configures them, and reads their counters and registers, over P4Runtime. Hosts do not react: they do not
    retransmit a dropped packet.
    """
    from eeon_tools.replay.twin_run import ReplaySettings

    files.check()
    if json_path is not None:
        output_file(json_path)
    shown = name or " + ".join(Path(part).stem for part in config_names)
    on_break = break_teller(keep_good)
    if fabric_name is None:
        if target not in (None, "twin"):
            how = f"`eeon fabric up TOPOLOGY --target {target}`"
            raise InputError(
                "--target",
                target,
                f"runs in real time: bring a fabric up with {how} and name it with --fabric",
            )
        if not config_names and not compare:
            why = "is missing: a new twin has no configuration; name a file, or a name in `eeon config list`"
            raise InputError("--config", "", why)
        if files.hops is not None and not files.are_wanted:
            raise InputError(
                "--hops", str(files.hops), "has no effect without --html, --pcapng or --perfetto"
            )
        if name is not None and not config_names:
            raise InputError("--name", name, "is the name of the run under --config, which is missing")
        topology = topology_name or _topology_of(trace)
        faults = _faults(fail, topology)
        settings = [Setting(shown, config_names)] if config_names else []
        settings += [Setting.parse(text) for text in compare]
        if len(settings) > 1 and (files.pcapng or files.perfetto):
            raise InputError(
                "--compare", "", "is for tables and pages; --pcapng and --perfetto record one setting"
            )
        print_problems(comparing.warnings([one.config for one in settings], topology))
        for one in settings:
            for remark in comparing.overridden(one.config, topology):
                click.echo(f"note: {remark}", err=True)

        from eeon_tools.report.model import run_model

        seed = 1 if seed is None else seed
        runs, models, said = [], [], []
        for one in settings:
            twin = ReplaySettings(one.name, trace, topology, one.config, speed, seed, rules, on_break, faults)
            run, recordings = _on_twin(twin, files)
            runs.append(run)
            for recording in recordings:
                said += files.write(recording)
                if files.html is not None:
                    models.append(run_model(recording, run, len(settings)))
        if json_path != _STDOUT:
            if len(runs) == 1:
                _print(runs[0])
            else:
                comparing.table(runs).show(console())
        for run in runs:
            for remark in comparing.remarks(run):
                click.echo(f"note: {remark}", err=json_path == _STDOUT)
        documents = [run.as_dict() for run in runs]
        document: dict[str, object] = documents[0] if len(documents) == 1 else {"runs": documents}
        given = click.get_current_context().params["trace"]
        shown_trace = trace if given == trace else Path("CAPTURE")  # `explain` reads files, not pipes
        _write(document, json_path, lambda: _page(models, runs, shown_trace, topology), files.html)
        for line in said:
            click.echo(line, err=json_path == _STDOUT)
    else:
        if fail:
            raise InputError(
                "--fail", fail[0], "is for a twin; on a live fabric kill a switch's process, then run "
                "`eeon fabric restart`",
            )  # fmt: skip
        for option, given in (
            ("--compare", compare),
            ("--pcapng", files.pcapng),
            ("--perfetto", files.perfetto),
            ("--hops", files.hops),
        ):
            if given:
                rule = "is for a twin; a live fabric runs a trace once, and records no packets: leave it out"
                raise InputError(option, "", rule)
        for option, value in (("--topology", topology_name), ("--seed", seed)):
            if value is not None:
                raise InputError(option, str(value), "is fixed by the live fabric; leave it out")

        from eeon_tools.live import state

        record = state.load(fabric_name)
        if target not in (None, record.target):
            raise InputError(
                "--target", str(target), f"fabric {fabric_name} runs on {record.target} switches"
            )
        of_fabric = str(record.folder / "topology.yaml")
        live = _on_fabric(
            ReplaySettings(
                shown or "as it was", trace, of_fabric, config_names, speed, rules=rules, on_break=on_break
            ),
            record,
        )
        if json_path != _STDOUT:
            _print_live(live)

        def page() -> str:
            from eeon_tools.replay.page import live_page

            return live_page(live)

        _write(live.as_dict(), json_path, page, files.html)


def _write(
    result: dict[str, object], json_path: Path | None, page: Callable[[], str], html_path: Path | None
) -> None:
    if json_path == _STDOUT:
        print_json(result, indent=2)
    elif json_path is not None:
        write_text(json_path, json.dumps(result, indent=2) + "\n")
        click.echo(f"JSON: {json_path}")
    if html_path is not None:
        write_text(html_path, page())
        click.echo(f"page: {html_path}", err=json_path == _STDOUT)


def _faults(texts: tuple[str, ...], topology: str) -> tuple[Fault, ...]:
    found = []
    for text in texts:
        try:
            found.append(Fault.parse(text))
            found[-1].check(topologies.load(topology))
        except ValueError as error:
            raise InputError("--fail", text, str(error)) from None
    return tuple(found)


def _topology_of(trace: Path) -> str:
    found = manifests.topology_of(trace)
    if found is None:
        why = "has no manifest that names its fabric; give --topology, a file or a name in `eeon config list`"
        raise TraceError(trace, "", why)
    return found


def _on_twin(settings: ReplaySettings, files: RecordedFiles) -> tuple[RunResult, list[Recording]]:
    """Returns the result of a replay, and its recording if files are made of it."""
    from eeon_tools.replay.twin_run import replay as run_replay

    found: list[Recording] = []
    recorded = found.append if files.are_wanted else None
    with packet_progress(f"replaying {settings.trace.name} under {settings.name}") as progress:
        return run_replay(settings, progress, recorded, files.filter()), found


def _page(models: list[dict[str, object]], runs: list[RunResult], trace: Path, topology: str) -> str:
    from eeon_tools.replay.page import run_page
    from eeon_tools.report.page import explain_command, layers, section

    tool = section(models, layers(topologies.load(topology)), explain_command(trace, topology))
    return run_page(runs[0], tool) if len(runs) == 1 else comparing.page(runs, tool)


def _on_fabric(settings: ReplaySettings, record: State) -> LiveResult:
    from eeon_tools.replay.live import TICK_PS
    from eeon_tools.replay.live import replay as run_replay

    if settings.config:
        print_problems(comparing.warnings([settings.config], settings.topology, TICK_PS[record.target]))
    with packet_progress(f"replaying {settings.trace.name} on {record.name}") as progress:
        return run_replay(settings, record, progress)


def _print(run: RunResult) -> None:
    from eeon_tools.replay import table

    out = console()
    click.echo(
        f"{run.name}: {run.trace} through {run.topology}, {1000 * run.virtual_seconds:,.3f} ms of virtual "
        "time"
    )
    for remark in run.feed.remarks():
        click.echo(f"  {remark}")
    table.by_class(run).show(out)
    if run.layers:
        out.print()
        table.by_layer(run).show(out)
        warning = table.overtime(run)
        if warning:
            click.echo(warning)
    if run.faults:
        out.print()
        table.faulty_links(run).show(out)
    if queues := run.pauses.by_time():
        out.print()
        table.paused(queues[:_PAUSED_SHOWN]).show(out)
        more = len(queues) - _PAUSED_SHOWN
        click.echo(run.pauses.summary() + (f" ({more:,} more in page and JSON)" if more > 0 else ""))
    deepest = run.deepest_queue()
    click.echo()
    if deepest is not None and deepest.highest:
        click.echo(
            f"deepest queue {deepest.highest:,} bytes at {deepest.name}; {run.wakes:,} wakes of switch ports"
        )
    if run.control_frames:
        click.echo(
            f"{run.control_frames:,} MAC control frames (pauses, congestion messages) made by switches; they "
            "do not count as packets of the trace"
        )
    click.echo(f"{run.reordered} reordered; {run.phy_violations} sent before their PHY was awake; "
               f"{run.p4_passes:,} P4 passes in {run.wall_seconds:.1f} s")  # fmt: skip


def _print_live(run: LiveResult) -> None:
    from eeon_tools.replay import table
    from eeon_tools.replay.live_result import remarks

    click.echo(
        f"{run.name}: {run.trace} through {run.topology} on {run.target}, "
        f"{run.real_seconds:,.3f} s of real time"
    )
    for remark in run.feed.remarks():
        click.echo(f"  {remark}")
    table.by_class(run).show(console())
    click.echo()
    for remark in remarks(run):
        click.echo(remark)
    if run.wakes is not None:
        click.echo(f"{run.wakes:,} wakes of switch ports.")
