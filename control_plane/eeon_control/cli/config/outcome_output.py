"""Output of an apply or a rollback on stdout."""

import click

from eeon_control.cli.config.plan_output import summary
from eeon_control.cli.output import print_json, say, span
from eeon_control.operations import Outcome


def show(outcome: Outcome, output: str) -> None:
    """Prints the outcome in words, or as JSON."""
    plan = outcome.report.plan
    number, pending = outcome.revision.number, outcome.pending
    for why in outcome.queues_not_set.values():
        say(f"warning: the entries are in force, but BMv2's queues were not set: {why}", "yellow")
    if output == "json":
        value = {
            "revision": number,
            "is_new": outcome.is_new,
            "changed_switches": [name for name, one in plan.switches.items() if not one.is_empty],
            "entries_verified": outcome.report.entries_verified,
            "confirm_within_seconds": pending.seconds if pending is not None else None,
            "queues_not_set": dict(outcome.queues_not_set),
        }
        print_json(value)
        return
    if plan.is_empty:
        click.echo(f"no changes: {len(plan.switches)} switches are as intended; this is revision {number}")
    else:
        verified = sum(outcome.report.entries_verified.values())
        click.echo(summary(plan, done=True))
        action = outcome.revision.action
        done = action.replace("apply", "applied", 1) if action.startswith("apply") else action
        click.echo(
            f"{done}; {verified} entries read back as intended, tables' defaults included; "
            f"this is revision {number}"
        )
    if pending is not None:
        click.echo(
            f"it goes back to revision {pending.back_to} in {span(pending.seconds)} unless "
            "`eeon config confirm` keeps it"
        )
