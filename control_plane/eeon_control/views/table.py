"""A view: columns and rows of plain values. Printing is cli's.

A row's values are whole numbers in base units (bytes, picoseconds, packets), fractions of 1, or text, as JSON
output has them; a column says how a person reads them. Columns that count can be subtracted and divided by
time (`views.change`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from eeon_control.units import Bytes, DataRate, Duration

Cell = str | int | float | None
Row = dict[str, Cell]

# It takes what a view's rows have under the column's key, which no type says.
Text: TypeAlias = Callable[[Any], str]
"""How a value is written for people."""

_DURATION_CHARS = 7


@dataclass(frozen=True)
class Column:
    """A key of the rows, its heading, and how a value is written for people.

    `counts`: it only ever grows, until the switch restarts; `rate_text` is how its change in a second is
    written. `worth`: where a terminal is too narrow, the columns of least worth are left out first.
    """

    key: str
    heading: str
    text: Text = str
    right: bool = True
    counts: bool = False
    rate_text: Text | None = None
    worth: int = 5

    @property
    def name(self) -> str:
        """What it is called in words: its heading, or its key where that is empty."""
        return self.heading.replace("\n", " ").strip() or self.key.replace("_", " ")


@dataclass
class View:
    """A table: its name, title, columns, rows, and notes that go under it.

    `key`: the columns that together identify a row. `more`: what JSON output has beside the rows.
    """

    name: str
    title: str
    columns: list[Column]
    rows: list[Row]
    key: tuple[str, ...] = ("port",)
    notes: list[str] = field(default_factory=list)
    more: dict[str, object] = field(default_factory=dict)


PORT = Column("port", "port", right=False)


def packets(key: str, heading: str) -> Column:
    """A column that counts packets."""
    return Column(key, heading, none, counts=True, rate_text=packets_per_second)


def count_bytes(key: str, heading: str = "") -> Column:
    """A column that counts bytes; its rate is shown in bits per second."""
    return Column(key, heading, bytes_text, counts=True, rate_text=bit_rate)


def none(value: Cell) -> str:
    """`-` for what is not known."""
    return "-" if value is None else str(value)


def bytes_text(value: int | None) -> str:
    """`97.5KB`."""
    return "-" if value is None else str(Bytes(value))


def duration(value: int | None) -> str:
    """`120us`; a long one with five digits, because nobody reads picoseconds of seconds."""
    if value is None:
        return "-"
    exact = str(Duration(value))
    if len(exact) <= _DURATION_CHARS or value < 10**9:
        return exact
    return f"{value / 10**12:.5g}s" if value >= 10**12 else f"{value / 10**9:.5g}ms"


def rate(value: int) -> str:
    """`10Gbps`."""
    return str(DataRate(value))


def share(value: float | None) -> str:
    """`12.3%`."""
    return "-" if value is None else f"{value:.1%}"


def packets_per_second(value: float | None) -> str:
    """`1234/s`."""
    return "-" if value is None else f"{value:.4g}/s" if value < 10_000 else f"{value:.0f}/s"


def bit_rate(value: float | None) -> str:
    """Bytes per second as `9.87Mbps`."""
    if value is None:
        return "-"
    bits = value * 8
    for unit, name in ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")):
        if bits >= unit:
            return f"{bits / unit:.3g}{name}"
    return f"{bits:.3g}bps"
