"""Commands imported on first use, so that `eeon --help` and completion need not load gRPC and pydantic.

A command is given as an entry point, `package.module:function`. Its summary is the first sentence of the
function's docstring, read from the source without running it.
"""

import ast
import importlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from eeon_control.cli.help.page import SUMMARY_WIDTH, complete, contexts


class LazyGroup(click.Group):
    """A click group of `places`: name -> `package.module:function`. Each is imported once, on first use."""

    # The other arguments are those of click.Group.
    def __init__(self, *args: Any, places: Mapping[str, str] | None = None, **more: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **more)
        self.places = dict(places or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns all names, in alphabetical order."""
        return sorted({*super().list_commands(ctx), *self.places})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports and returns a command, with examples and exit codes added to its help."""
        if cmd_name in self.places and cmd_name not in self.commands:
            command = load(self.places[cmd_name])
            if not isinstance(command, LazyGroup):
                for one in contexts(click.Context(command, info_name=cmd_name, parent=ctx)):
                    if not isinstance(one.command, click.Group):
                        complete(one)
            self.add_command(command, cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves a command as click does, with suggestions that include commands not yet imported."""
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            from eeon_control.nearest import nearest

            near = " or ".join(map(repr, nearest(name, self.list_commands(ctx))))
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {near}?" if near else ""))
        return super().resolve_command(ctx, args)

    def summary(self, ctx: click.Context, name: str) -> str:
        """Returns the summary of a command, without importing it if possible."""
        found = summary_of(self.places[name]) if name in self.places else None
        if found is None:
            command = self.get_command(ctx, name)
            found = command.get_short_help_str(SUMMARY_WIDTH) if command is not None else ""
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries(ctx)))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Returns the names of commands, and the completions of every command."""
        found = [
            CompletionItem(name, help=text)
            for name, text in self._summaries(ctx)
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def _summaries(self, ctx: click.Context) -> Iterator[tuple[str, str]]:
        return ((name, self.summary(ctx, name)) for name in self.list_commands(ctx))


def load(place: str) -> click.Command:
    """Imports `package.module:function`. Raises the import's errors, and TypeError if it is not a command."""
    module, _, name = place.partition(":")
    command = getattr(importlib.import_module(module), name)
    if not isinstance(command, click.Command):
        raise TypeError(f"{place} is not a click command")
    return command


def summary_of(place: str) -> str | None:
    """Returns the first sentence of the docstring of a module's top-level function, if it has one."""
    module, _, name = place.partition(":")
    try:
        spec = find_spec(module)
        if spec is None or spec.origin is None:
            return None
        tree = ast.parse(Path(spec.origin).read_bytes())
    except (ImportError, OSError, SyntaxError, ValueError):
        return None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            text = ast.get_docstring(node)
            return click.Command(name, help=text).get_short_help_str(SUMMARY_WIDTH) if text else None
    return None
