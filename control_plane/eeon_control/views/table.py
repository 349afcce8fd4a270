"""Views: columns and rows of plain values, which `cli` prints.

A row's values are whole numbers in base units (bytes, picoseconds, packets), fractions of 1, or text, as in
JSON output; a column formats them for people. Columns that count can be subtracted and divided by time
(`views.change`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from eeon_control.views.scale import Texts, bit_rate, bytes_measured, per_second, whole

Cell = str | int | float | None
Row = dict[str, Cell]


class Style(StrEnum):
    """The highlights on a terminal with colours, by rich's names."""

    GOOD = "green"
    NOTICE = "yellow"
    BAD = "red"


def words(values: Sequence[Cell]) -> list[str]:
    """Returns the values as text, with `-` for unknown ones."""
    return ["-" if value is None else str(value) for value in values]


@dataclass(frozen=True)
class Column:
    """A key of the rows, its heading, and the format of its values.

    `counts`: it only grows until the switch restarts; `rate_texts` formats its change per second. `style`:
    highlights values. Unless `shown`, only JSON output has it, and other columns are derived from it.
    `worth`: if a terminal is too narrow, the columns of least worth are omitted first.
    """

    key: str
    heading: str
    texts: Texts = words
    right: bool = True
    counts: bool = False
    rate_texts: Texts | None = None
    worth: int = 5
    style: Callable[[Cell], Style | None] | None = None
    shown: bool = True

    @property
    def name(self) -> str:
        """The column's name in words: its heading, or its key if that is empty."""
        return self.heading.replace("\n", " ").strip() or self.key.replace("_", " ")


@dataclass
class View:
    """A table: name, title, columns, rows, and notes below it.

    `key`: the columns that together identify a row. `more`: further members of the JSON output.
    """

    name: str
    title: str
    columns: list[Column]
    rows: list[Row]
    key: tuple[str, ...] = ("port",)
    notes: list[str] = field(default_factory=list)
    more: dict[str, object] = field(default_factory=dict)


PORT = Column("port", "port", right=False)


def packets(key: str, heading: str, *, alarm: Style | None = None, worth: int = 5) -> Column:
    """Returns a column that counts packets. `alarm`: the style of counts above zero."""
    style = None if alarm is None else above_zero(alarm)
    return Column(key, heading, whole, counts=True, rate_texts=per_second, worth=worth, style=style)


def count_bytes(key: str, heading: str = "") -> Column:
    """Returns a column that counts bytes; its rate is shown in bits per second."""
    return Column(key, heading, bytes_measured, counts=True, rate_texts=bit_rate)


def share(values: Sequence[float | None]) -> list[str]:
    """Returns shares as `12.3%`."""
    return ["-" if value is None else f"{value:.1%}" for value in values]


def if_is(text: str, style: Style) -> Callable[[Cell], Style | None]:
    """Returns a function that gives this style to this text."""
    return lambda value: style if value == text else None


def above_zero(style: Style) -> Callable[[Cell], Style | None]:
    """Returns a function that gives this style to counts and rates above zero."""
    return lambda value: style if isinstance(value, int | float) and value > 0 else None


def good_if(text: str) -> Callable[[Cell], Style]:
    """Returns a function that gives the style good to this text, and bad to others."""
    return lambda value: Style.GOOD if value == text else Style.BAD
