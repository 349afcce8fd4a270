"""`eeon config rollback`."""

from dataclasses import replace

import click

from eeon_control import operations
from eeon_control.cli import options
from eeon_control.cli.config import outcome_output
from eeon_control.cli.config.common import changing, plan, revision_argument
from eeon_control.cli.config.plan_output import print_plan
from eeon_control.errors import EeonError, StateError
from eeon_control.fabric.sync import run


@click.command()
@revision_argument
@options.fabric_options
@options.election_option
@options.state_option
@options.comment_option
@options.dry_run_option
@options.quiet_option
@options.output_option
def rollback(
    number: int | None,
    fabric: options.Fabric,
    election_id: int | None,
    comment: str,
    dry_run: bool,
    quiet: bool,
    output: str,
) -> int:
    """Apply revision N again, or the one in force before the current one, to all switches or to none.

    Without N, the command skips revisions that were not confirmed. It makes a new revision with the content
    of N: the history only grows, and a rollback can be rolled back. The addresses of the switches come from
    the current revision unless -T or --target gives others. The command refuses a revision of another fabric,
    for example of a live fabric if this one is a twin. With --dry-run, the exit codes are those of `eeon
    config plan`: 2 if there are changes.
    """
    given = fabric.given_targets
    of_file = given if fabric.targets_file is not None else None
    store = fabric.store()
    if dry_run:
        if store.journal() is not None:
            raise StateError("an apply was interrupted; run `eeon config recover` first")
        number = number or operations.goes_back_to(store)
        work = operations.Work(store, store.lock("rollback --dry-run"), targets=given, fabric=of_file)
        meant = operations.meant_by(work, number)
        found = plan(meant, store.folder)
        if output == "table":
            click.echo(f"back to revision {number}:")
        print_plan(meant.topology, found, meant.targets.tick, output)
        return 0 if found.is_empty else 2
    before = store.current_number()
    with changing(store, election_id, given, quiet) as work:
        now = store.current_number()
        if number is None and now != before:
            # The revision to go back from is no longer in force: another step would be one too many.
            raise EeonError(
                f"finishing earlier work has just put revision {now} in force, and nothing was rolled back; "
                "run `eeon config rollback` again to go back from there"
            )
        outcome = run(operations.rollback(replace(work, fabric=of_file), number, comment=comment))
    outcome_output.show(outcome, output)
    return 0
