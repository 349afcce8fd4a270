"""`eeon show` and `eeon clear`: entries and counters of the switches. They write to no switch."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from eeon_control import views
from eeon_control.cli import completions, options
from eeon_control.cli.output import counted, errors
from eeon_control.cli.show import baselines, common
from eeon_control.cli.show.common import EXIT_CODES
from eeon_control.cli.show.routes import path, routes
from eeon_control.cli.show.watch import Kind, ViewData, ViewLoop, ViewOptions
from eeon_control.fabric.read import Wanted, observe
from eeon_control.fabric.sync import run
from eeon_control.topology import PortRole, Topology
from eeon_control.units import Duration
from eeon_control.views import Selection, View

_SWITCH_PORT_ROLES = [role.value for role in PortRole if role is not PortRole.HOST]
_ENERGY_SECONDS = 1.0


@click.group(epilog=EXIT_CODES)
@options.topology_option(required=False)
@options.target_options
@click.pass_context
def show(ctx: click.Context, /, **common: object) -> None:
    """Look at a fabric: links, drops and why, marks, queues, routes, the path of a flow, EEE, energy.

    The commands write to no switch. They name a switch that cannot be reached on stderr and show the others.
    Without -T and --target the addresses of the switches come from the fabric's current revision. Without -t,
    so does the topology, while there is one fabric. Both may stand before the command's name, too.

    \b
    EXAMPLES
      eeon show ports -t leaf-spine-4 -T targets.yaml
      eeon show ecn -t leaf-spine-4 -T targets.yaml --nonzero --role uplink
      eeon show energy -t leaf-spine-4 -T targets.yaml --rate 10s -o json
    """
    # What stands before the command's name is the default of what stands behind it.
    given = {name: value for name, value in common.items() if value}
    ctx.default_map = dict.fromkeys(show.commands, given)


def _view(
    name: str,
    kind: Kind,
    about: str,
    *,
    counts: bool = False,
    nonzero: bool = False,
    intervals: bool = False,
) -> None:
    """Adds a command to `show`. `about`: its help; `counts`: --nonzero and --raw; `nonzero`: --nonzero alone;
    `intervals`: --rate."""

    def command(
        topology_name: str | None,
        targets_file: Path | None,
        target_texts: tuple[str, ...],
        tick: Duration | None,
        output: str,
        switches: tuple[str, ...],
        ports: tuple[str, ...],
        roles: tuple[str, ...],
        watch_s: float | None,
        blocks: int | None,
        interval_s: float | None = None,
        nonzero: bool = False,
        raw: bool = False,
        zeros: bool = False,
        only: tuple[str, ...] = (),
        sort: str | None = None,
        reverse: bool = False,
    ) -> int:
        whole = options.topology_or_known(topology_name)
        part = views.select(whole, Selection(switches, ports, tuple(PortRole(role) for role in roles)))
        targets = options.targets_or_known(whole.name, targets_file, target_texts, tick)
        if blocks is not None and watch_s is None:
            raise click.UsageError("--count goes with --watch")
        if reverse and sort is None:
            raise click.UsageError("--reverse goes with --sort")
        view_options = ViewOptions(
            output, interval_s, watch_s, blocks, nonzero, raw, zeros, only, sort, reverse
        )
        loop = ViewLoop(kind, whole, part, targets, view_options)
        loop.run()
        return 1 if loop.failed else 0

    function: Callable[..., int] = command
    if intervals:
        function = _RATE(function)
    if counts or nonzero:
        function = _NONZERO(function)
    if counts:
        function = _RAW(function)
    if kind.hides_zeros:
        function = _ZEROS(function)
    if kind.filters:
        function = common.only_option(kind.filters)(function)
    for option in (_COUNT, _WATCH, *common.ORDER, _ROLE, _PORT, _SWITCH, options.output_option):
        function = option(function)
    function = options.topology_option(required=False)(options.target_options(function))
    show.command(name, help=about, epilog=EXIT_CODES)(function)


_SWITCH = common.switch_option()
_PORT = click.option(
    "--port",
    "ports",
    multiple=True,
    metavar="SWITCH:PORT",
    shell_complete=completions.port_names,
    help="only this port; repeatable",
)
_ROLE = click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(_SWITCH_PORT_ROLES),
    help="only ports of this role; repeatable",
)
_WATCH = click.option(
    "--watch",
    "watch_s",
    is_flag=False,
    flag_value="2s",
    type=options.SPAN,
    help="repeat every 2s, or every TIME, until Ctrl-C; with --rate, one interval after another",
)
_COUNT = click.option(
    "--count", "blocks", type=click.IntRange(1), help="with --watch: end after this many blocks"
)
_RATE = click.option(
    "--rate",
    "interval_s",
    type=options.SPAN,
    metavar="TIME",
    help="read twice, TIME apart (5s), and show the difference per second",
)
_NONZERO = click.option(
    "--nonzero", is_flag=True, help="only rows with a count above zero, of queues with packets"
)
_ZEROS = click.option(
    "--zeros", is_flag=True, help="rows without a packet, too; without it only --json has them"
)
_RAW = click.option(
    "--raw",
    is_flag=True,
    help="counts since the switch started, without the zero point of `eeon clear counters`",
)


def _fabric(data: ViewData) -> View:
    return views.fabric(data.topology, data.targets.switches, data.observed)


def _ports(data: ViewData) -> View:
    return views.ports(data.topology, data.observed)


def _queues(data: ViewData) -> View:
    return views.queues(data.topology, data.observed, data.targets.tick)


def _qcn(data: ViewData) -> View:
    return views.qcn(data.topology, data.observed)


def _pfc(data: ViewData) -> View:
    return views.pfc(data.topology, data.observed)


def _ecn(data: ViewData) -> View:
    return views.ecn(data.observed.counters)


def _with_mark_share(topology: Topology, view: View, of_interval: bool) -> View:
    return views.with_mark_share(view)


def _counters(data: ViewData) -> View:
    return views.counters(data.observed.counters)


def _eee(data: ViewData) -> View:
    return views.eee(data.topology, data.observed, data.targets.tick, data.before)


def _energy(data: ViewData) -> View:
    assert data.before is not None, "it has a default interval"
    return views.energy(data.topology, data.before, data.observed, data.targets.tick)


_COUNTERS = Wanted(counters=True, clock=True)
_PAUSES = ("pauses_sent", "pauses_received")
_PORT_FILTERS = {
    "down": views.only_if("link", "down"),
    "drops": views.counted("dropped_packets"),
    "traffic": views.counted("received_packets", "sent_packets"),
}
_ECN_FILTERS = {
    "drops": views.counted("early_dropped", "tail_dropped"),
    "marks": views.counted("marked"),
}


def _of(counters: Collection[str]) -> views.Filter:
    is_counted = views.counted("packets")
    return lambda row: row["counter"] in counters and is_counted(row)


_COUNTER_FILTERS = {"drops": _of(views.DROPS), "marks": _of(("marked",))}

_view(
    "fabric",
    Kind(Wanted(clock=True), _fabric, filters={"faults": views.other_than("status", "ready")}),
    """Switches: can they be reached, do they run the program?""",
)
_view(
    "ports",
    Kind(
        replace(_COUNTERS, ports=True),
        _ports,
        counts=True,
        finish=views.ports_finished,
        filters=_PORT_FILTERS,
    ),
    """Ports: up or down, traffic, drops and why.

    Of every linked port: role, peer, whether its link is up, speed, packets received, sent and dropped, and
    the causes of drops.
    """,
    counts=True,
    intervals=True,
)
_view(
    "queues",
    Kind(
        Wanted(entries=True, registers=views.QUEUE_REGISTERS),
        _queues,
        filters={"queued": views.counted("occupancy_packets")},
        nonzero=views.counted("occupancy_packets"),
    ),
    """Queues: occupancy now, buffer limit, AQM.""",
    nonzero=True,
)
_view(
    "ecn",
    Kind(
        _COUNTERS,
        _ecn,
        counts=True,
        finish=_with_mark_share,
        hides_zeros=True,
        filters=_ECN_FILTERS,
    ),
    """Marks and drops of queues by packet class.

    By port and packet class: forwarded, marked, dropped early (by the AQM), dropped at a full buffer.
    """,
    counts=True,
    intervals=True,
)
_view(
    "qcn",
    Kind(Wanted(entries=True, qcn=True), _qcn, filters={"messages": views.counted("cnms_made")}),
    """QCN: congestion points, their samples and messages.

    By port and priority: set point, weight, bytes between samples, jitter; samples taken and congestion
    notification messages made since the switch started, and those of neighbours that were not believed.
    """,
    nonzero=True,
)
_view(
    "pfc",
    Kind(Wanted(entries=True, pfc=True), _pfc, filters={"pauses": views.counted(*_PAUSES)}),
    """PFC: lossless classes, what they hold, pauses sent and received.

    By ingress port and priority: thresholds, bytes held now, whether the neighbour is paused; pause frames
    and drops since the switch started, and MAC control frames that were not obeyed.
    """,
    nonzero=True,
)
_view(
    "eee",
    Kind(
        Wanted(entries=True, registers=views.EEE_REGISTERS, clock=True),
        _eee,
        has_own_interval=True,
        nonzero=views.counted("wakes"),
    ),
    """EEE as configured, its state, time asleep, wakes.""",
    nonzero=True,
    intervals=True,
)
_view(
    "energy",
    Kind(
        Wanted(entries=True, registers=views.ENERGY_REGISTERS, clock=True),
        _energy,
        has_own_interval=True,
        default_interval_s=_ENERGY_SECONDS,
    ),
    """Watts and joules over an interval (1s, or --rate).""",
    intervals=True,
)
_view(
    "counters",
    Kind(_COUNTERS, _counters, counts=True, hides_zeros=True, filters=_COUNTER_FILTERS),
    """Every counter by port, packet class and verdict.""",
    counts=True,
    intervals=True,
)

show.add_command(routes)
show.add_command(path)


@click.group()
def clear() -> None:
    """Set a new zero point of counters, for this user's `eeon show` only."""


@clear.command("counters", epilog=EXIT_CODES)
@options.topology_option(required=False)
@options.target_options
@click.option("--undo", is_flag=True, help="remove the stored values; contacts no switch")
@options.output_option
def clear_counters(
    topology_name: str | None,
    targets_file: Path | None,
    target_texts: tuple[str, ...],
    tick: Duration | None,
    undo: bool,
    output: str,
) -> int:
    """Store the counters' values; `eeon show ports|ecn|counters` then show the increase since.

    The command writes to no switch, and other users see the same counts as before. When a switch restarts,
    its counters start at zero, and `eeon show` says so.

    \b
    EXAMPLES
      eeon clear counters -t leaf-spine-4 -T targets.yaml
      eeon show ecn -t leaf-spine-4 -T targets.yaml --nonzero
      eeon show ecn -t leaf-spine-4 -T targets.yaml --raw
      eeon clear counters -t leaf-spine-4 --undo
    """
    topology = options.topology_or_known(topology_name)
    if undo:
        there = baselines.forget(topology.name)
        said = "counters are shown since the switches started" if there else "there was nothing to undo"
        click.echo(json.dumps({"undone": there}) if output == "json" else said)
        return 0
    targets = options.targets_or_known(topology.name, targets_file, target_texts, tick)
    observed = run(observe(topology, targets.switches, _COUNTERS))
    for why in observed.failures.values():
        errors.print(why, style="red", highlight=False, soft_wrap=True)
    if not observed.switches:
        return 1
    path = baselines.save(topology.name, baselines.Baseline.of(observed, targets.switches, datetime.now(UTC)))
    if output == "json":
        value = {"switches": list(observed.switches), "file": str(path), "unreachable": observed.failures}
        click.echo(json.dumps(value, indent=1))
    else:
        count = counted(len(observed.switches), "switch", "switches")
        click.echo(f"counters of {count} are shown from now on; remembered in {path}")
    return 1 if observed.failures else 0
