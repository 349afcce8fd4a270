"""The wait of `eeon config apply --confirm`: until a confirmation, the end of the time, or a signal."""

import contextlib
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import click

from eeon_control.cli.config import outcome_output
from eeon_control.cli.output import say, span
from eeon_control.cli.signals import held_back
from eeon_control.cli.streams import unguarded
from eeon_control.fabric.sync import run
from eeon_control.operations import Work, rollback
from eeon_control.state import LockHeld, Pending, StateError, StateStore, clock

_LOOK_SECONDS = 0.5  # interval between two reads of the local state folder


def wait(
    ctx: click.Context,
    store: StateStore,
    pending: Pending,
    change: Callable[[], AbstractContextManager[Work]],
) -> None:
    """Returns when the revision is confirmed. Ends the command with exit code 1 if it is rolled back.
    `change` locks the store, and rolls back an overdue revision.

    Meanwhile, the lock is free for `eeon config confirm`. This command, a running controller or another
    command rolls back; the first one takes the lock, and the others find the rollback done. Raises StateError
    if the folder is replaced.
    """
    file = store.file_of(pending.revision)
    shown = sys.stderr.isatty()
    try:
        while store.pending() == pending:
            left = pending.seconds_left(clock.now())
            if left <= 0:
                try:
                    with change():
                        pass
                except LockHeld:
                    time.sleep(_LOOK_SECONDS)  # another process is rolling back
                continue
            if shown:
                line = f"\r{span(left)} left to confirm; Ctrl-C rolls back now "
                with contextlib.suppress(OSError):
                    print(line, end="", file=unguarded(stderr=True), flush=True)
            time.sleep(min(_LOOK_SECONDS, left))
    except KeyboardInterrupt:
        say("")
        # A closed terminal and an impatient user signal more than once.
        _check_in_place(store, file)
        with held_back(), change() as work:
            if store.pending() == pending:
                outcome = run(rollback(work, pending.back_to, reason="not confirmed, stopped by the user"))
                outcome_output.show(outcome, "table")
        ctx.exit(1)
    if shown:
        click.echo(err=True)
    _check_in_place(store, file)
    if store.current_number() != pending.revision:
        say(f"revision {pending.revision} was rolled back; revision {store.current_number()} is in force")
        ctx.exit(1)
    click.echo(f"confirmed: revision {pending.revision} stays")


def _check_in_place(store: StateStore, file: tuple[int, ...]) -> None:
    """Raises StateError if the state folder has not the revision that waits to be confirmed."""
    number = file[0]
    if store.file_of(number) != file:
        raise StateError(
            f"{store.folder}: was moved or replaced while revision {number} waited to be confirmed, so "
            "nothing was rolled back: the switches keep it. Restore the folder, or apply what you want"
        )
