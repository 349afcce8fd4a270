"""A view as a table for people."""

from collections.abc import Sequence
from typing import Literal

from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from eeon_control.views.table import Column, Row, View

_GAP = 2  # rich's gap between two columns
_FOLDED_WIDTH = 16  # minimum width of a column of words, whose text is then folded


def as_table(view: View, width: int) -> Group:
    """Returns title, table and notes for rich, with lines of at most `width` characters.

    Columns that identify a row are always shown, in full width. If not all other columns fit, those of least
    worth are omitted, the rightmost of equal ones first, and a note names them.
    """
    texts = [column.texts([row[column.key] for row in view.rows]) for column in view.columns]
    shown = _that_fit(view, texts, width)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index in shown:
        column = view.columns[index]
        whole = column.right or column.key in view.key
        justify: Literal["left", "right"] = "right" if column.right else "left"
        least = _width(column, texts[index]) if whole else None
        table.add_column(column.heading, justify=justify, no_wrap=whole, min_width=least)
    for number, row in enumerate(view.rows):
        styles = (_style(view.columns[index], row) for index in shown)
        table.add_row(
            *(Text(texts[index][number], style=style) for index, style in zip(shown, styles, strict=True))
        )
    left_out = [
        column.name for index, column in enumerate(view.columns) if column.shown and index not in shown
    ]
    notes = [*view.notes]
    if left_out:
        notes.append(f"columns left out, terminal too narrow: {', '.join(left_out)}; --json has all")
    return Group(Text(view.title, style="bold"), table, *(Text(note, style="dim") for note in notes))


def _that_fit(view: View, texts: list[list[str]], width: int) -> list[int]:
    """Returns the indices of the columns to show."""
    least = [
        _width(column, texts[index])
        if column.right or column.key in view.key
        else min(_FOLDED_WIDTH, _width(column, texts[index]))
        for index, column in enumerate(view.columns)
    ]
    shown = [index for index, column in enumerate(view.columns) if column.shown]
    may_go = [index for index in shown if view.columns[index].key not in view.key]
    may_go.sort(key=lambda index: (view.columns[index].worth, -index))
    while may_go and sum(least[index] + _GAP for index in shown) - _GAP > width:
        shown.remove(may_go.pop(0))
    return shown


def _style(column: Column, row: Row) -> str:
    style = None if column.style is None else column.style(row[column.key])
    return "" if style is None else style.value


def _width(column: Column, texts: Sequence[str]) -> int:
    return max(cell_len(line) for text in (column.heading, *texts) for line in text.split("\n"))
