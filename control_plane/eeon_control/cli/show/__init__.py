"""`eeon show` and `eeon clear`: what the switches hold and have counted. Nothing is written to a switch."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from eeon_control import topology as topologies
from eeon_control import views
from eeon_control.cli import completions, options
from eeon_control.cli.output import errors
from eeon_control.cli.show import baselines
from eeon_control.cli.show.looking import How, Kind, Looked, Looker
from eeon_control.fabric.observe import Wanted, observe
from eeon_control.fabric.sync import run
from eeon_control.topology import PortRole
from eeon_control.views import Selection, View

_SWITCH_PORT_ROLES = [role.value for role in PortRole if role is not PortRole.HOST]
_ENERGY_SECONDS = 1.0

_EXIT_CODES = """
\b
EXIT CODES
  0  done
  1  a switch could not be read (the others are shown), or another error
"""


@click.group(epilog=_EXIT_CODES)
def show() -> None:
    """Show switches, ports, queues, marks and drops, EEE, energy, counters.

    Nothing is written to a switch. A switch that cannot be reached is named on stderr; the others are shown.
    Without -T and --target the switches are where the fabric's current revision has them.

    \b
    EXAMPLES
      eeon show ports -t leaf-spine-4 -T targets.yaml
      eeon show ecn -t leaf-spine-4 -T targets.yaml --nonzero --role uplink
      eeon show energy -t leaf-spine-4 -T targets.yaml --rate 10s -o json
    """


def _view(name: str, kind: Kind, about: str, *, counts: bool = False, intervals: bool = False) -> None:
    """Add a command to `show`. `about`: its help; `counts`: --nonzero and --raw; `intervals`: --rate."""

    def command(
        topology_name: str,
        targets_file: Path | None,
        target_texts: tuple[str, ...],
        tick: Any,
        output: str,
        switches: tuple[str, ...],
        ports: tuple[str, ...],
        roles: tuple[str, ...],
        watch_s: float | None,
        blocks: int | None,
        **more: Any,
    ) -> int:
        whole = topologies.load(topology_name)
        part = views.select(whole, Selection(switches, ports, tuple(PortRole(role) for role in roles)))
        targets = options.targets_or_known(whole.name, targets_file, target_texts, tick)
        if blocks is not None and watch_s is None:
            raise click.UsageError("--count goes with --watch")
        how = How(output, watch_s=watch_s, blocks=blocks, **more)
        looker = Looker(kind, whole, part, targets, how)
        looker.look()
        return 1 if looker.failed else 0

    function: Callable[..., Any] = command
    if intervals:
        function = _RATE(function)
    if counts:
        function = _RAW(_NONZERO(function))
    for option in (_COUNT, _WATCH, _ROLE, _PORT, _SWITCH, options.output_option):
        function = option(function)
    function = options.topology_option()(options.target_options(function))
    show.command(name, help=about, epilog=_EXIT_CODES)(function)


_SWITCH = click.option(
    "--switch",
    "switches",
    multiple=True,
    metavar="NAME",
    shell_complete=completions.switch_names,
    help="only this switch; repeatable",
)
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
    help="again and again, every 2s or the time given, until Ctrl-C; with --rate, one interval after another",
)
_COUNT = click.option("--count", "blocks", type=click.IntRange(1), help="with --watch: so often, then end")
_RATE = click.option(
    "--rate",
    "interval_s",
    type=options.SPAN,
    metavar="TIME",
    help="look twice, so far apart (5s), and show what happened in between, per second",
)
_NONZERO = click.option("--nonzero", is_flag=True, help="only rows with something counted")
_RAW = click.option(
    "--raw", is_flag=True, help="since the switch started, whatever `eeon clear counters` has set"
)


def _fabric(looked: Looked) -> View:
    return views.fabric(looked.topology, looked.targets.switches, looked.observed)


def _ports(looked: Looked) -> View:
    return views.ports(looked.topology, looked.observed.counters)


def _queues(looked: Looked) -> View:
    return views.queues(looked.topology, looked.observed, looked.targets.tick)


def _ecn(looked: Looked) -> View:
    return views.ecn(looked.observed.counters)


def _counters(looked: Looked) -> View:
    return views.counters(looked.observed.counters)


def _eee(looked: Looked) -> View:
    return views.eee(looked.topology, looked.observed, looked.targets.tick, looked.before)


def _energy(looked: Looked) -> View:
    assert looked.before is not None, "it has a default interval"
    return views.energy(looked.topology, looked.before, looked.observed, looked.targets.tick)


_COUNTERS = Wanted(counters=True, clock=True)

_view(
    "fabric",
    Kind(Wanted(clock=True), _fabric),
    """Every switch, and whether it can be reached and runs the program.""",
)
_view(
    "ports",
    Kind(_COUNTERS, _ports, counts=True),
    """Every linked port: role, peer, speed, packets received, sent, dropped.""",
    counts=True,
    intervals=True,
)
_view(
    "queues",
    Kind(Wanted(entries=True, registers=views.QUEUE_REGISTERS), _queues),
    """Every linked port: occupancy now, buffer limit, AQM.""",
)
_view(
    "ecn",
    Kind(_COUNTERS, _ecn, counts=True),
    """Every port and packet class: forwarded, marked, dropped early, dropped by a full buffer.""",
    counts=True,
    intervals=True,
)
_view(
    "eee",
    Kind(Wanted(entries=True, registers=views.EEE_REGISTERS, clock=True), _eee, has_own_interval=True),
    """Every linked port: EEE as configured, and its state, time in low-power idle and wakes.""",
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
    """Every linked port: watts and joules over an interval (1s, or --rate), and what they rest on.""",
    intervals=True,
)
_view(
    "counters",
    Kind(_COUNTERS, _counters, counts=True),
    """Every counter: by port, packet class and verdict, in packets and bytes.""",
    counts=True,
    intervals=True,
)


@click.group()
def clear() -> None:
    """Begin counting anew, for this user's `eeon show` only."""


@clear.command("counters", epilog=_EXIT_CODES)
@options.topology_option()
@options.target_options
@click.option(
    "--undo", is_flag=True, help="show everything since the switches started again; contacts no switch"
)
def clear_counters(
    topology_name: str,
    targets_file: Path | None,
    target_texts: tuple[str, ...],
    tick: Any,
    undo: bool,
) -> int:
    """Remember what the counters are; `eeon show ports|ecn|counters` then show what came after.

    Nothing is written to a switch, and other users see what they saw. A switch that restarts begins at zero,
    which is noticed and said.

    \b
    EXAMPLES
      eeon clear counters -t leaf-spine-4 -T targets.yaml
      eeon show ecn -t leaf-spine-4 -T targets.yaml --nonzero
      eeon show ecn -t leaf-spine-4 -T targets.yaml --raw
      eeon clear counters -t leaf-spine-4 --undo
    """
    topology = topologies.load(topology_name)
    if undo:
        there = baselines.forget(topology.name)
        click.echo("counters are shown since the switches started" if there else "there was nothing to undo")
        return 0
    targets = options.targets_or_known(topology.name, targets_file, target_texts, tick)
    observed = run(observe(topology, targets.switches, _COUNTERS))
    for why in observed.failures.values():
        errors.print(why, style="red", highlight=False, markup=False, soft_wrap=True)
    if not observed.switches:
        return 1
    path = baselines.save(topology.name, baselines.Baseline.of(observed, targets.switches, datetime.now(UTC)))
    click.echo(f"counters of {len(observed.switches)} switches are shown from now on; remembered in {path}")
    return 1 if observed.failures else 0
