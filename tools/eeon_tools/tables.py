"""Tables before they are drawn, in a terminal or on a page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eeon_tools import html


@dataclass(frozen=True)
class Rows:
    """A head and rows of texts.

    `alarms`: columns in which only 0 is good. `named`: the number of columns that name a row; the others have
    numbers. `group_size`: the number of rows in a group; 0 for a table without groups.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    alarms: Collection[int] = ()
    group_size: int = 0
    named: int = 1
    title: str | None = None

    def show(self, to: Console) -> None:
        """Prints the table. Columns that do not fit the terminal follow in further tables below, each with
        the columns that name the rows."""
        for number, piece in enumerate(self._pieces(to)):
            if number:
                to.print()
            to.print(piece)

    def on_page(self) -> str:
        return html.table(self.head, map(self._cells, self.rows), self.group_size)

    def _pieces(self, to: Console) -> Iterator[Table]:
        names = list(range(self.named))
        held: list[int] = []
        title = self.title
        for column in range(self.named, len(self.head)):
            if held and not _fits(to, self._drawn([*names, *held, column], title)):
                yield self._drawn([*names, *held], title)
                held, title = [], None
            held.append(column)
        yield self._drawn([*names, *held], title)

    def _drawn(self, columns: Sequence[int], title: str | None) -> Table:
        """Returns some columns: without lines, or with lines between groups; numbers are aligned right."""
        if self.group_size:
            table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        else:
            table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for column in columns:
            is_name = column < self.named
            table.add_column(
                self.head[column],
                justify="left" if is_name else "right",
                no_wrap=not is_name or self.group_size > 0,
                overflow="fold",
            )
        for number, row in enumerate(self.rows, 1):
            ends_group = bool(self.group_size) and number % self.group_size == 0
            table.add_row(*(self._text(column, row[column]) for column in columns), end_section=ends_group)
        return table

    def _text(self, column: int, text: str) -> Text:
        return Text(text, style="bold red" if column in self.alarms and text != "0" else "")

    def _cells(self, row: Sequence[str]) -> list[html.Cell]:
        return [
            (text, "" if text == "0" else "bad") if column in self.alarms else text
            for column, text in enumerate(row)
        ]


def _fits(to: Console, table: Table) -> bool:
    wide = to.options.update_width(max(to.width, 10_000))
    return to.measure(table, options=wide).maximum <= to.width
