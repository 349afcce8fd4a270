"""`eeon config recover`."""

from __future__ import annotations

from pathlib import Path

import click

from eeon_control.cli import options
from eeon_control.cli.config.common import changing, open_store, stopped_by_sigterm
from eeon_control.units import Duration


@click.command()
@options.topology_option(required=False)
@options.target_options
@options.election_option
@options.state_option
@click.option(
    "--forget",
    is_flag=True,
    help="remove the journal and write to no switch: for switches that will not return. The others may "
    "have entries of both configurations; apply again",
)
def recover(
    topology_name: str | None,
    targets_file: Path | None,
    target_texts: tuple[str, ...],
    tick: Duration | None,
    election_id: int | None,
    state_folder: Path | None,
    forget: bool,
) -> None:
    """Finish an apply that was killed: all switches go back, or keep the new configuration if all have it."""
    given = options.targets_if_given(targets_file, target_texts, tick)
    store = open_store(state_folder, topology_name)
    if forget:
        with store.lock(click.get_current_context().command_path) as lock, stopped_by_sigterm():
            journal = store.journal()
            store.end(lock, undone=False)
        touched = ", ".join(journal.before) if journal is not None else ""
        click.echo(f"forgotten; {touched} may hold a mix" if touched else "there was nothing to finish")
        return
    unfinished = store.journal() is not None
    with changing(store, election_id, given):
        pass  # taking the lock finishes it, and says what was done
    if not unfinished:
        click.echo("there was nothing to finish")
