"""`eeon config plan`."""

from __future__ import annotations

from pathlib import Path

import click

from eeon_control import config as configs
from eeon_control import fabric
from eeon_control import topology as topologies
from eeon_control.cli import options
from eeon_control.cli import output as printing
from eeon_control.cli.config.common import warn
from eeon_control.fabric.sync import run
from eeon_control.units import Duration


@click.command()
@options.config_option
@options.topology_option()
@options.target_options
@options.output_option
@click.pass_context
def plan(
    ctx: click.Context,
    config_names: tuple[str, ...],
    topology_name: str,
    targets_file: Path | None,
    target_texts: tuple[str, ...],
    tick: Duration | None,
    output: str,
) -> None:
    """Read the switches and show what differs. Exit code 0: nothing, 2: changes, 1: an error."""
    loaded, topology = configs.load(*config_names), topologies.load(topology_name)
    targets = options.targets(targets_file, target_texts, tick)
    warn(loaded, topology, targets.tick)
    found = run(fabric.plan(topology, loaded, targets.switches, int(targets.tick)))
    printing.print_plan(found, output)
    ctx.exit(0 if found.is_empty else 2)
