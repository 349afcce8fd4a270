"""Printing: tables for people, JSON for programs. Data goes to stdout, warnings and errors to stderr."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from eeon_control.errors import Problem, Severity

if TYPE_CHECKING:  # imported on the first output, because completion and --help do not need it
    from rich.console import Console


def say(text: str, style: str | None = None, *, folds: bool = False) -> None:
    """Prints one message on stderr. `folds`: at the width of the terminal, by words."""
    console(stderr=True).print(text, style=style, highlight=False, soft_wrap=not folds)


def console(*, stderr: bool = False) -> Console:
    """Returns stdout or stderr as a rich console, looked up at each use so that redirection takes effect."""
    from eeon_control.cli.terminal import Terminal

    return Terminal(stderr=stderr)


def print_json(value: object, indent: int | None = 1) -> None:
    """Prints a value on stdout as JSON, for programs; on one line if `indent` is None."""
    import json  # on use, because completion and --help do not need it

    click.echo(json.dumps(value, indent=indent))


def print_problems(problems: Iterable[Problem]) -> None:
    """Prints the problems of an input file on stderr."""
    for problem in problems:
        style = "red" if problem.severity is Severity.ERROR else "yellow"
        say(str(problem), style)


def counted(count: int, one: str, more: str | None = None) -> str:
    """Returns `1 fault` or `2 faults`; `more` is the plural if it is not formed with `s`."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def problem_row(problem: Problem) -> dict[str, object]:
    """Returns a problem of an input file for JSON output."""
    return {
        "file": problem.place.file,
        "line": problem.place.line,
        "key": problem.key,
        "value": problem.value,
        "rule": problem.rule,
        "severity": problem.severity.value,
    }


def span(seconds: float) -> str:
    """Returns a duration in words: `9 min 30 s`."""
    minutes, rest = divmod(round(seconds), 60)
    parts = [f"{minutes} min"] if minutes else []
    return " ".join([*parts, *([f"{rest} s"] if rest or not minutes else [])])


def moment(text: str) -> str:
    """Returns a time from the state folder as readable text, in UTC: `2026-11-22 01:17:14`."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return text
