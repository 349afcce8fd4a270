"""`eeon config plan`."""

from pathlib import Path

import click

from eeon_control.cli import options
from eeon_control.cli.config import common
from eeon_control.cli.config.plan_output import print_plan
from eeon_control.operations import SavedPlan
from eeon_control.targets import Foreign


@click.command()
@options.config_option
@options.fabric_options
@options.state_option
@options.foreign_option
@click.option("--entries", is_flag=True, help="show every table entry that changes, not only a summary")
@click.option(
    "--out",
    type=options.FILE,
    metavar="FILE",
    help="save the plan for `eeon config apply FILE`, which refuses it if a switch has changed since",
)
@options.output_option
@click.pass_context
def plan(
    ctx: click.Context,
    config_names: tuple[str, ...],
    fabric: options.Fabric,
    foreign: Foreign | None,
    entries: bool,
    out: Path | None,
    output: str,
) -> None:
    """Show what an apply would change on the switches. Exit code 0: nothing, 2: changes, 1: an error.

    Without -t, the topology comes from the targets file or from the fabric's current revision. Without -T and
    --target, the switches come from that revision.
    """
    if out is not None:
        options.output_file(out)
    meant = common.meant_by(config_names, fabric, foreign)
    found = common.plan(meant, fabric.state_folder)
    if out is not None:
        SavedPlan.of(meant, found).save(out)
    print_plan(meant.topology, found, meant.targets.tick, output, entries=entries)
    ctx.exit(0 if found.is_empty else 2)
