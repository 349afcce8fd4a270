"""`eeon config apply`."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from eeon_control import operations
from eeon_control.cli import options
from eeon_control.cli.config import outcome_output, waiting
from eeon_control.cli.config.common import changing, meant_by, plan
from eeon_control.cli.config.plan_output import print_plan
from eeon_control.cli.config.waves import WaveChoice, wave_options
from eeon_control.errors import StateError
from eeon_control.fabric.sync import run
from eeon_control.targets import Foreign, resolve


@click.command()
@click.argument("plan_file", required=False, metavar="[PLAN]", type=options.FILE)
@options.config_options(required=False)
@options.fabric_options
@options.foreign_option
@options.election_option
@options.state_option
@options.comment_option
@click.option(
    "--confirm",
    "confirm_seconds",
    type=options.SPAN,
    metavar="TIME",
    help="roll back unless `eeon config confirm` runs within TIME (90s, 10m, 1h). The command "
    "waits; Ctrl-C rolls back at once",
)
@click.option(
    "--detach",
    is_flag=True,
    help="with --confirm: do not wait. When the time is over, a running `eeon controller run`, or "
    "else the next command that changes the fabric, rolls back",
)
@wave_options
@options.dry_run_option
@options.quiet_option
@options.output_option
@click.pass_context
def apply(
    ctx: click.Context,
    plan_file: Path | None,
    config_names: tuple[str, ...],
    fabric: options.Fabric,
    foreign: Foreign | None,
    election_id: int | None,
    comment: str,
    confirm_seconds: float | None,
    detach: bool,
    choice: WaveChoice,
    dry_run: bool,
    quiet: bool,
    output: str,
) -> int:
    """Write a configuration to all switches, or to none: a failure undoes every write.

    Give -c, or a PLAN that `eeon config plan --out` saved. -t and -T are needed only once: later applies take
    them from the fabric's current revision. A targets file may name the topology. A PLAN is applied exactly,
    or refused if a switch has changed since. Every apply adds a revision to `eeon config history`. With
    --dry-run, the exit codes are those of `eeon config plan`: 2 if there are changes.
    """
    if detach and confirm_seconds is None:
        raise click.UsageError("--detach needs --confirm")
    choice.check()
    saved = None
    if plan_file is not None:
        if config_names or fabric.topology_name:
            raise click.UsageError("a PLAN contains its configuration and topology; leave out -c and -t")
        if choice.switches:
            raise click.UsageError("a PLAN fixes its switches; leave out --switch")
        if foreign is not None:
            raise click.UsageError("a PLAN fixes what happens to foreign entries; leave out --foreign")
        saved = operations.load_plan(plan_file)
        meant = saved.revive(str(plan_file))
    else:
        if not config_names:
            raise click.UsageError("give a PLAN or a configuration (-c)")
        meant = meant_by(config_names, fabric, foreign)
    given = fabric.given_targets
    # Targets of another fabric, and invalid waves, are refused before a folder is created.
    resolve(meant.topology, meant.targets.switches)
    rollout = choice.rollout(meant)
    fabric = replace(fabric, topology_name=meant.topology.name)
    if dry_run:
        if choice.switches:
            meant = operations.on_switches(fabric.store().current(), meant, choice.switches)
        if saved is not None and given is not None:
            raise click.UsageError("--dry-run with a PLAN reads the switches in the PLAN; leave out -T")
        found = plan(meant, fabric.state_folder)
        difference = saved.first_difference(found) if saved is not None else ""
        if difference:
            raise StateError(f"the plan is out of date: {difference}; make a new plan")
        print_plan(meant.topology, found, meant.targets.tick, output)
        if rollout is not None and output == "table":
            for number, wave in enumerate(rollout.waves, 1):
                click.echo(f"wave {number} of {len(rollout.waves)}: {', '.join(wave)}")
        return 0 if found.is_empty else 2
    store = fabric.store(create=True)
    change = partial(changing, store, election_id, given, quiet)
    with change() as work:
        if choice.switches:
            meant = operations.on_switches(store.current(), meant, choice.switches)
        outcome = run(
            operations.apply(
                work,
                work.located(meant),
                action=f"apply on {', '.join(choice.switches)}" if choice.switches else "apply",
                comment=comment,
                confirm_seconds=confirm_seconds,
                saved=saved,
                rollout=rollout,
            )
        )
    try:
        outcome_output.show(outcome, output)
    finally:  # an output that cannot be written must not leave the revision unwatched
        if outcome.pending is not None and not detach:
            waiting.wait(ctx, store, outcome.pending, change)
    return 0
