"""Common parts of the commands of `eeon show`: exit codes, options, and the output of a view."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import TypeVar

import click

from eeon_control.cli import completions
from eeon_control.cli.output import console, print_json, say
from eeon_control.cli.show import printing
from eeon_control.fabric.read import FabricObservation
from eeon_control.views.table import View

_F = TypeVar("_F", bound=Callable[..., object])

EXIT_CODES = """
\b
EXIT CODES
  0  done
  1  a switch could not be read (the others are shown), or another error
"""


SORT = click.option(
    "--sort",
    metavar="COLUMN",
    help="sort by this column, given as its heading or its JSON key; largest numbers first",
)
REVERSE = click.option(
    "--reverse", is_flag=True, help="with --sort: smallest numbers first, texts from Z to A"
)


def switch_option(name: str = "switches") -> Callable[[_F], _F]:
    """Returns the option --switch, which sets the parameter `name`."""
    return click.option(
        "--switch",
        name,
        multiple=True,
        metavar="NAME",
        shell_complete=completions.switch_names,
        help="show only this switch; repeatable",
    )


def only_option(names: Collection[str]) -> Callable[[_F], _F]:
    """Returns the option --only, with the names of a command's filters."""
    return click.option(
        "--only",
        multiple=True,
        type=click.Choice(sorted(names)),
        help="show only rows that match one of these filters; repeatable",
    )


def troubles(observed: FabricObservation) -> list[str]:
    """Returns the reasons why switches, or parts of them, could not be read."""
    missing = (one.missing for one in observed.switches.values() if one.missing is not None)
    return [*observed.failures.values(), *missing]


def now_text() -> str:
    """Returns the time of a reading, for people and programs."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def print_view(
    view: View, observed: FabricObservation, topology: str, output: str, *, repeats: bool = False
) -> None:
    """Prints a view on stdout, as a table or one JSON document, whose keys docs/run/show.md lists, and the
    failures to read on stderr. `repeats`: others follow, so a table has its time and a document one line."""
    if output == "json":
        document: dict[str, object] = {
            "view": view.name,
            "topology": topology,
            "taken_at": now_text(),
            "rows": view.rows,
            "notes": view.notes,
            "unreachable": dict(observed.failures),
            **view.more,
        }
        print_json(document, None if repeats else 1)
    else:
        if repeats:
            click.echo(now_text())
        to = console()
        to.print(printing.as_table(view, to.width), highlight=False)
    for why in troubles(observed):
        say(why, "red")
