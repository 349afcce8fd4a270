"""Tables in lines as wide as the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table


def show(to: Console, table: Table, named: int = 1) -> None:
    """Prints a table. Columns that do not fit the terminal follow in further tables below, each with the
    first `named` columns, which name the rows."""
    for number, piece in enumerate(_pieces(to, table, named)):
        if number:
            to.print()
        to.print(piece)


def _pieces(to: Console, table: Table, named: int) -> list[Table]:
    names = list(range(named))
    pieces: list[Table] = []
    held: list[int] = []
    for index in range(named, len(table.columns)):
        if held and not _fits(to, _part(table, [*names, *held, index], first=not pieces)):
            pieces.append(_part(table, [*names, *held], first=not pieces))
            held = []
        held.append(index)
    return [*pieces, _part(table, [*names, *held], first=not pieces)]


def _fits(to: Console, part: Table) -> bool:
    wide = to.options.update_width(max(to.width, 10_000))
    return to.measure(part, options=wide).maximum <= to.width


def _part(table: Table, indices: Sequence[int], *, first: bool) -> Table:
    """Returns some columns of a table, with its title if it is the first part."""
    part = Table(
        title=table.title if first else None,
        title_justify=table.title_justify,
        box=table.box,
        pad_edge=table.pad_edge,
        padding=table.padding,
    )
    columns = [table.columns[index] for index in indices]
    for column in columns:
        part.add_column(column.header, justify=column.justify, no_wrap=column.no_wrap)
    for row, *cells in zip(table.rows, *(column.cells for column in columns), strict=True):
        part.add_row(*cells, end_section=row.end_section)
    return part
