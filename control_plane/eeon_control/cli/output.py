"""Printing: tables for people, JSON for programs. Data goes to stdout, warnings and errors to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from eeon_control.cli.streams import to_nowhere
from eeon_control.errors import Problem, Severity

if TYPE_CHECKING:  # imported on the first output, because completion and --help do not need it
    from rich.console import Console

_PIPE_WIDTH = 200  # a table for a file or a pipe must not be folded to 80 columns, unless COLUMNS is set


class _Errors:
    """The stderr console, looked up at each use so that redirection takes effect."""

    def print(
        self,
        text: str,
        *,
        style: str | None = None,
        highlight: bool | None = None,
        soft_wrap: bool | None = None,
    ) -> None:
        """Prints one message, as rich does. If nobody can read it (a closed pipe, a terminal that is gone),
        the command continues: it may be in the middle of an apply."""
        try:
            console = _console(stderr=True, is_terminal=sys.stderr.isatty())
            console.print(text, style=style, highlight=highlight, soft_wrap=soft_wrap)
        except OSError:
            to_nowhere(sys.stderr)


errors = _Errors()


def console() -> Console:
    """Returns stdout as a rich console."""
    return _console(stderr=False, is_terminal=sys.stdout.isatty())


def _console(*, stderr: bool, is_terminal: bool) -> Console:
    from eeon_control.cli.terminal import Terminal

    has_width = is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    return Terminal(stderr=stderr, width=None if has_width else _PIPE_WIDTH)


def print_problems(problems: Iterable[Problem]) -> None:
    """Prints the problems of an input file on stderr."""
    for problem in problems:
        style = "red" if problem.severity is Severity.ERROR else "yellow"
        errors.print(str(problem), style=style, highlight=False, soft_wrap=True)


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
