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
from eeon_control.fabric import FabricPlan
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


def print_plan(plan: FabricPlan, output: str) -> None:
    """What an apply would change, switch by switch."""
    if output == "json":
        click.echo(
            json.dumps(
                {
                    name: {
                        "push_pipeline": one.push_pipeline,
                        "changes": [
                            {
                                "kind": change.kind.value,
                                "table": change.entry.table,
                                "match": change.entry.match_text,
                                "before": change.before.action_text if change.before else None,
                                "after": change.after.action_text if change.after else None,
                            }
                            for change in one.changes
                        ],
                    }
                    for name, one in plan.switches.items()
                },
                indent=1,
            )
        )
        return
    out = console()
    if plan.is_empty:
        out.print(f"no changes: {len(plan.switches)} switches are as intended", highlight=False)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("switch", "change", "table", "match", "now", "intended"):
        table.add_column(heading, overflow="fold")
    styles = {"insert": "green", "modify": "yellow", "delete": "red"}
    for name, one in plan.switches.items():
        if one.push_pipeline:
            table.add_row(
                name, Text("load", style="cyan"), "(program)", "", "another program, or none", "E-EON"
            )
        for change in one.changes:
            table.add_row(
                name,
                Text(change.kind.value, style=styles[change.kind.value]),
                change.entry.table,
                Text(change.entry.match_text),
                Text(change.before.action_text if change.before else ""),
                Text(change.after.action_text if change.after else ""),
            )
    out.print(table)
    out.print(summary(plan), highlight=False)


def summary(plan: FabricPlan) -> str:
    """One line: how much changes on how many switches."""
    changes = [change for one in plan.switches.values() for change in one.changes]
    counts = ", ".join(
        f"{sum(1 for change in changes if change.kind.value == kind)} to {kind}"
        for kind in ("insert", "modify", "delete")
    )
    loads = sum(1 for one in plan.switches.values() if one.push_pipeline)
    program = f"; the program is loaded on {loads}" if loads else ""
    return (
        f"{sum(1 for one in plan.switches.values() if not one.is_empty)} of {len(plan.switches)} switches "
        f"change: {counts}{program}"
    )
