"""`eeon show`: what the switches hold and have counted, read over P4Runtime. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from eeon_control import fabric as fabrics
from eeon_control import topology as topologies
from eeon_control import views
from eeon_control.cli import options
from eeon_control.cli.output import print_view
from eeon_control.errors import NoRegisters
from eeon_control.fabric import Targets
from eeon_control.fabric.sync import run
from eeon_control.topology import Topology
from eeon_control.views import View


@click.group()
def show() -> None:
    """Show switches, ports, queues, marks and drops, EEE, counters."""


def _view(function: Callable[..., View]) -> Callable[..., None]:
    """A command from a function of (topology, targets, further options) that returns a View."""

    @options.topology_option()
    @options.target_options
    @options.output_option
    @wraps(function)
    def command(
        topology_name: str,
        targets_file: Path | None,
        target_texts: tuple[str, ...],
        tick: Any,
        output: str,
        **further: Any,
    ) -> None:
        topology = topologies.load(topology_name)
        targets = options.targets(targets_file, target_texts, tick)
        print_view(function(topology, targets, **further), output)

    return command


_nonzero = click.option("--nonzero", is_flag=True, help="only rows with something counted")


@show.command()
@_view
def fabric(topology: Topology, targets: Targets) -> View:
    """Every switch, and whether it can be reached and runs the program."""
    status = run(fabrics.read_status(topology, targets.switches))
    return views.fabric(topology, {name: target.address for name, target in targets.switches.items()}, status)


@show.command()
@_view
def ports(topology: Topology, targets: Targets) -> View:
    """Every linked port: role, peer, speed, packets received, sent, dropped."""
    return views.ports(topology, fabrics.read_counters_sync(topology, targets.switches))


@show.command()
@_view
def queues(topology: Topology, targets: Targets) -> View:
    """Every linked port: occupancy now, buffer limit, AQM."""
    entries = run(fabrics.read_entries(topology, targets.switches))
    return views.queues(topology, entries, _registers(topology, targets, views.QUEUE_REGISTERS))


@show.command()
@_nonzero
@_view
def ecn(topology: Topology, targets: Targets, nonzero: bool) -> View:
    """Every port and packet class: forwarded, marked, dropped early, dropped by a full buffer."""
    return views.ecn(topology, fabrics.read_counters_sync(topology, targets.switches), nonzero=nonzero)


@show.command()
@_view
def eee(topology: Topology, targets: Targets) -> View:
    """Every linked port: EEE mode and timers, state, time in low-power idle, wakes."""
    entries = run(fabrics.read_entries(topology, targets.switches))
    return views.eee(topology, entries, _registers(topology, targets, views.EEE_REGISTERS), targets.tick)


@show.command()
@_nonzero
@_view
def counters(topology: Topology, targets: Targets, nonzero: bool) -> View:
    """Every counter: by port, packet class and verdict, in packets and bytes."""
    return views.counters(fabrics.read_counters_sync(topology, targets.switches), nonzero=nonzero)


def _registers(topology: Topology, targets: Targets, names: Iterable[str]) -> views.Registers | None:
    try:
        return fabrics.read_registers_sync(topology, targets.switches, names)
    except NoRegisters:
        return None
