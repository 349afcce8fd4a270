"""`eeon config`: check a configuration, show what it would change, make it so."""

from __future__ import annotations

from pathlib import Path

import click

from eeon_control import config as configs
from eeon_control import data, fabric
from eeon_control import topology as topologies
from eeon_control.cli import options
from eeon_control.cli import output as printing
from eeon_control.config import FabricConfig
from eeon_control.errors import InputError, Severity
from eeon_control.fabric.sync import run
from eeon_control.plan import intended
from eeon_control.topology import Topology
from eeon_control.units import Duration

_ENGINE_TICK = Duration.parse("1ns")  # for `validate`, when no target says otherwise


@click.group()
def config() -> None:
    """Check a configuration, show what it would change, apply it to the whole fabric."""


@config.command("list")
def list_() -> None:
    """Name the configurations and topologies that ship."""
    for kind in ("examples", "topologies"):
        click.echo(f"{kind}:")
        for name in data.names(kind):
            click.echo(f"  {name}")


@config.command()
@options.config_option
@options.topology_option(required=False)
@click.option(
    "--tick",
    type=options.TICK,
    default=None,
    help="also check that timers fit this target's timestamp unit  [default: 1ns]",
)
def validate(config_names: tuple[str, ...], topology_name: str | None, tick: Duration | None) -> None:
    """Check configuration files; with a topology, also what they mean on it. Contacts no switch."""
    loaded = configs.load(*config_names)
    if topology_name is None:
        click.echo(f"{', '.join(config_names)}: well formed; give -t to check it against a topology")
        return
    topology = topologies.load(topology_name)
    _warn(loaded, topology, tick or _ENGINE_TICK)
    entries = intended(topology, loaded, tick or _ENGINE_TICK)
    click.echo(
        f"{', '.join(config_names)} on {topology.name}: valid; "
        f"{sum(len(of) for of in entries.values())} entries on {len(entries)} switches"
    )


@config.command()
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
    _warn(loaded, topology, targets.tick)
    found = run(fabric.plan(topology, loaded, targets.switches, int(targets.tick)))
    printing.print_plan(found, output)
    ctx.exit(0 if found.is_empty else 2)


@config.command()
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
    _warn(loaded, topology, targets.tick)
    report = run(fabric.apply(topology, loaded, targets.switches, int(targets.tick), election_id=election_id))
    if report.plan.is_empty:
        click.echo(f"no changes: {len(report.plan.switches)} switches are as intended")
        return
    click.echo(printing.summary(report.plan))
    click.echo(f"applied; {sum(report.entries_verified.values())} entries read back as intended")


def _warn(loaded: FabricConfig, topology: Topology, tick: Duration) -> None:
    """Show warnings; raise InputError with the errors."""
    problems = configs.check(loaded, topology, tick)
    printing.print_problems(problem for problem in problems if problem.severity is Severity.WARNING)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise InputError(errors)
