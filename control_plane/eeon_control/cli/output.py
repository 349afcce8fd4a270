"""Printing: tables for people, JSON for programs. Data goes to stdout, warnings and errors to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eeon_control.errors import Problem, Severity
from eeon_control.views import View

_PIPE_WIDTH = 200  # a table that goes to a file or a pipe must not be folded to 80 columns


class _Errors:
    """stderr, looked up at each use so that redirection is honoured."""

    def print(self, text: str, **style: Any) -> None:
        """Print one message."""
        Console(stderr=True, width=None if sys.stderr.isatty() else _PIPE_WIDTH).print(text, **style)


errors = _Errors()


def console() -> Console:
    """stdout as a rich console."""
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)


def print_problems(problems: Iterable[Problem]) -> None:
    """Problems of an input file, on stderr."""
    for problem in problems:
        style = "red" if problem.severity is Severity.ERROR else "yellow"
        errors.print(str(problem), style=style, highlight=False, markup=False, soft_wrap=True)


def print_view(view: View, output: str) -> None:
    """A view as a table or as JSON rows."""
    if output == "json":
        click.echo(json.dumps(view.rows, indent=1))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in view.columns:
        table.add_column(column.heading, justify="right" if column.right else "left", no_wrap=column.right)
    for row in view.rows:
        table.add_row(*(Text(column.text(row[column.key])) for column in view.columns))
    out = console()
    out.print(view.title, style="bold", highlight=False, markup=False)
    out.print(table)
    for note in view.notes:
        out.print(note, style="dim", highlight=False, markup=False)
