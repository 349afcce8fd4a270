"""`eeon config recover`."""

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
    fabric: options.Fabric, election_id: int | None, forget: bool, dry_run: bool, output: str
) -> None:
    """Finish an apply that was killed.

    The command restores the old configuration on all switches, or keeps the new one if all switches have it.
    """
    given = fabric.given_targets
    store = fabric.store()
    journal = store.journal()
    value: dict[str, object]
    if dry_run:
        if journal is not None and not forget:
            journal.check_program()
        text = "there is nothing to finish"
        if journal is not None:
            becomes = "go back, or keep the new configuration if all have it"
            becomes = "keep what they hold" if forget else becomes
            text = f"{journal.holder} was interrupted: {', '.join(journal.before)} would {becomes}"
        value = {"unfinished": str(journal.holder) if journal else None, "switches": _touched(journal)}
    elif forget:
        with store.lock(click.get_current_context().command_path) as lock:
            journal = store.journal()
            store.end(lock)
        touched = _touched(journal)
        text = "there was nothing to finish"
        if touched:
            text = f"forgotten; {', '.join(touched)} may hold a mix: apply again, or roll back"
        value = {"forgotten": touched}
    else:
        with changing(store, election_id, given):
            pass  # `changing` finishes it, and reports what it did
        text = "" if journal is not None else "there was nothing to finish"
        value = {"finished": journal is not None, "revision": store.current_number()}
    if output == "json":
        print_json(value)
    elif text:
        click.echo(text)


def _touched(journal: Journal | None) -> list[str]:
    return [] if journal is None else list(journal.before)
