"""`eeon config validate`."""

from __future__ import annotations

import click

from eeon_control import config as configs
from eeon_control import topology as topologies
from eeon_control.cli import options
from eeon_control.cli.config.common import warn
from eeon_control.plan import intended
from eeon_control.units import Duration

_ENGINE_TICK = Duration.parse("1ns")  # when no target says otherwise


@click.command()
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
    warn(loaded, topology, tick or _ENGINE_TICK)
    entries = intended(topology, loaded, tick or _ENGINE_TICK)
    click.echo(
        f"{', '.join(config_names)} on {topology.name}: valid; "
        f"{sum(len(of) for of in entries.values())} entries on {len(entries)} switches"
    )
