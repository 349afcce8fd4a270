"""`eeon config recover`."""

from __future__ import annotations

import click

from eeon_control.cli import options
from eeon_control.cli.config.common import changing
from eeon_control.cli.output import print_json
from eeon_control.state import Journal


@click.command()
@options.fabric_options
@options.election_option
@options.state_option
@click.option(
    "--forget",
    is_flag=True,
    help="remove the journal and write to no switch, if some switches will not return. The others may "
    "hold entries of both configurations; apply again",
)
@click.option("--dry-run", is_flag=True, help="show what would be finished, and contact no switch")
@options.output_option
def recover(
    fabric: options.Fabric,
    election_id: int | None,
    forget: bool,
    dry_run: bool,
    output: str,
) -> None:
    """Finish an apply that was killed.

    The command restores the old configuration on all switches, or keeps the new one if all switches have it.
    """
    given = fabric.given_targets
    store = fabric.store()
    journal = store.journal()
    if dry_run:
        if journal is not None and not forget:
            journal.check_program()
        _show(
            output,
            {"unfinished": str(journal.holder) if journal else None, "switches": _touched(journal)},
            f"{journal.holder} was interrupted: {', '.join(journal.before)} would "
            + ("keep what they hold" if forget else "go back, or keep the new configuration if all have it")
            if journal
            else "there is nothing to finish",
        )
        return
    if forget:
        with store.lock(click.get_current_context().command_path) as lock:
            journal = store.journal()
            store.end(lock)
        touched = _touched(journal)
        _show(
            output,
            {"forgotten": touched},
            f"forgotten; {', '.join(touched)} may hold a mix: apply again, or roll back"
            if touched
            else "there was nothing to finish",
        )
        return
    with changing(store, election_id, given):
        pass  # `changing` finishes it, and reports what it did
    value: dict[str, object] = {"finished": journal is not None, "revision": store.current_number()}
    _show(output, value, "" if journal is not None else "there was nothing to finish")


def _touched(journal: Journal | None) -> list[str]:
    return [] if journal is None else list(journal.before)


def _show(output: str, value: dict[str, object], text: str) -> None:
    if output == "json":
        print_json(value)
    elif text:
        click.echo(text)
