"""Every command below one, with the context that its help text is made in."""

from __future__ import annotations

from collections.abc import Iterator

import click


def contexts(root: click.Context) -> Iterator[click.Context]:
    """Yields a context for a group and all of its commands, in order of name."""
    yield root
    if not isinstance(root.command, click.Group):
        return
    for name in root.command.list_commands(root):
        command = root.command.get_command(root, name)
        if command is not None and not command.hidden:
            yield from contexts(click.Context(command, info_name=name, parent=root))


def root_context(command: click.Command) -> click.Context:
    """Of the program as people call it, whatever the process was started as."""
    return click.Context(command, info_name="eeon", **command.context_settings)
