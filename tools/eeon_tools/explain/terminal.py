"""A story on standard output: rich's tree with colours on a terminal, plain indented text anywhere else."""

from __future__ import annotations

import sys

import click
from eeon_control.cli.terminal import Terminal
from rich.text import Text
from rich.tree import Tree

from eeon_tools.explain.story import Node

_STYLES = {
    "title": "bold",
    "stage": "bold cyan",
    "state": "cyan",
    "table": "magenta",
    "action": "yellow",
    "if": "blue",
    "read": "green",
    "write": "green",
    "queue": "bold",
    "copy": "bold cyan",
    "statement": "dim",
    "note": "dim",
    "drop": "bold red",
    "sent": "bold",
    "why": "bold cyan",
    "ending": "bold",
}


def show(root: Node) -> None:
    """Prints the tree. The plain text is the same whatever the locale and the version of rich."""
    if sys.stdout.isatty():
        Terminal().print(_tree(root))
        return
    for line in root.lines():
        click.echo(line)


def _tree(node: Node) -> Tree:
    tree = Tree(Text(node.text, style=_STYLES.get(node.kind, "")))
    for child in node.children:
        tree.children.append(_tree(child))
    return tree
