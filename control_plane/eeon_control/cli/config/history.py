"""`eeon config history`."""

import click
from rich.table import Table
from rich.text import Text

from eeon_control.cli import options
from eeon_control.cli.config.common import tell_of_unfinished
from eeon_control.cli.output import console, moment, print_json
from eeon_control.state import Revision, Stopped, clock


@click.command()
@options.store_options
@options.output_option
def history(fabric: options.Fabric, output: str) -> None:
    """List the revisions, newest first, the applies that were undone, and an unfinished apply.

    Contacts no switch.
    """
    store = fabric.store()
    revisions, stopped, current = store.revisions(), store.stopped(), store.current_number()
    pending, journal = store.pending(), store.journal()
    left = pending.seconds_left(clock.now()) if pending is not None else None
    if output == "json":
        value = {
            "fabric": str(store.folder),
            "current": current,
            "confirm_within_seconds": left,
            "unfinished": str(journal.holder) if journal is not None else None,
            "unfinished_progress": journal.progress if journal is not None else None,
            "stopped": [one.model_dump(mode="json") for one in reversed(stopped)],
            "revisions": [
                {**one.model_dump(mode="json", exclude={"intent"}), "made_for": str(one.intent.kind)}
                for one in reversed(revisions)
            ],
        }
        print_json(value)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    of_several = len({one.intent.kind for one in revisions}) > 1
    made_for = ["for"] if of_several else []
    for heading in ("", "revision", "made (UTC)", "by", *made_for, "action", "comment"):
        table.add_column(heading, no_wrap=heading in ("", "revision"))
    both: list[Revision | Stopped] = [*revisions, *stopped]
    for one in sorted(both, key=_place, reverse=True):
        if isinstance(one, Stopped):
            where = f" in {one.progress}" if one.progress else ""
            number, kind, action = "-", "", f"{one.action} stopped{where} and undone: {one.why}"
        else:
            number, kind, action = str(one.number), str(one.intent.kind), one.action
        mark = "*" if number == str(current) else ""
        texts = [one.by, *([kind] if of_several else []), action, one.comment]
        table.add_row(mark, number, moment(one.made), *map(Text, texts))
    console().print(table)
    if revisions and revisions[-1].number != current:
        click.echo(
            f"revision {current} is in force, but its file was removed; restore it from a backup", err=True
        )
    tell_of_unfinished(store)


def _place(one: Revision | Stopped) -> tuple[int, int, str]:
    """Returns the sort key of an item: a stopped apply follows the revision that stayed in force."""
    return (one.after, 1, one.made) if isinstance(one, Stopped) else (one.number, 0, one.made)
