"""`eeon config apply`."""

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
@options.election_option
def apply(
    config_names: tuple[str, ...],
    topology_name: str,
    targets_file: Path | None,
    target_texts: tuple[str, ...],
    tick: Duration | None,
    election_id: int,
) -> None:
    """Make all switches hold the configuration, or none: on any failure what was written is undone."""
    loaded, topology = configs.load(*config_names), topologies.load(topology_name)
    targets = options.targets(targets_file, target_texts, tick)
    warn(loaded, topology, targets.tick)
    report = run(fabric.apply(topology, loaded, targets.switches, int(targets.tick), election_id=election_id))
    if report.plan.is_empty:
        click.echo(f"no changes: {len(report.plan.switches)} switches are as intended")
        return
    click.echo(printing.summary(report.plan))
    click.echo(f"applied; {sum(report.entries_verified.values())} entries read back as intended")
