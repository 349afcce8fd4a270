"""A view as a table for people, or as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rich.console import Group
from rich.table import Table
from rich.text import Text

from eeon_control.views import View


def as_json(
    view: View, *, topology: str, taken_at: str, unreachable: Mapping[str, str], indent: int | None
) -> str:
    """One document; docs/show.md names its keys."""
    document: dict[str, object] = {
        "view": view.name,
        "topology": topology,
        "taken_at": taken_at,
        "rows": view.rows,
        "notes": view.notes,
        "unreachable": dict(unreachable),
        **view.more,
    }
    return json.dumps(document, indent=indent)


def as_table(view: View) -> Group:
    """Title, table and notes, to be printed by rich."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in view.columns:
        table.add_column(column.heading, justify="right" if column.right else "left", no_wrap=column.right)
    for row in view.rows:
        table.add_row(*(Text(column.text(row[column.key])) for column in view.columns))
    notes = [Text(note, style="dim") for note in view.notes]
    return Group(Text(view.title, style="bold"), table, *notes)
