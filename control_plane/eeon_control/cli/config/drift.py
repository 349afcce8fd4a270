"""`eeon config drift`."""

import click

from eeon_control import operations
from eeon_control.cli import options
from eeon_control.cli.config.common import tell_of_unfinished
from eeon_control.cli.config.plan_output import as_value, print_plan
from eeon_control.cli.output import print_json, say
from eeon_control.fabric.sync import run


@click.command()
@options.fabric_options
@options.state_option
@click.option("--entries", is_flag=True, help="show every table entry that differs, not only a summary")
@options.output_option
@click.pass_context
def drift(ctx: click.Context, fabric: options.Fabric, entries: bool, output: str) -> None:
    """Compare the switches with the current revision. Exit code 0: equal, 2: different, 1: an error.

    The output lists the changes that would restore the revision, as `switch's value -> revision's value`.
    Routes that `eeon controller run` withdrew because links are down do not count as drift.
    """
    store = fabric.store()
    tell_of_unfinished(store)
    found = run(operations.drift(store, fabric.given_targets))
    number = found.revision.number
    topology, held_tick = found.meant.topology, found.meant.targets.tick
    if output == "json":
        value = {
            "revision": number,
            "not_read_back": list(found.not_read_back),
            "withdrawn": list(found.withdrawn),
            "made_otherwise": bool(found.made_otherwise),
        }
        print_json(value | as_value(topology, found.plan, held_tick))
    elif found.plan.is_empty:
        click.echo(f"no drift: {len(found.plan.switches)} switches hold revision {number}")
    else:
        click.echo(f"the switches differ from revision {number}:")
        print_plan(topology, found.plan, held_tick, "table", entries=entries)
        say(f"`eeon config rollback {number}` restores it")
    if output != "json":
        if found.made_otherwise:
            say(found.made_otherwise)
        if found.withdrawn:
            names = ", ".join(found.withdrawn)
            say(
                f"the controller has withdrawn routes over links that are down on {names}, as it should; see "
                "`eeon show routes`"
            )
        for what in found.not_read_back:
            say(f"not compared, because it cannot be read back: {what}")
    ctx.exit(0 if found.plan.is_empty else 2)
