"""Rows of one experiment, and queries on them: selections, means, spreads over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from eeon_control.validation import did_you_mean
from eeon_tools.errors import InputError

from eeon_experiments import columns

_T = TypeVar("_T")
Value: TypeAlias = str | int | float | bool | None
"""The value of a column (`columns.Type`)."""
SIGNIFICANT_DIGITS = 11
"""Digits of a measured number. Further ones depend on the order of a sum, and hardly compress."""
_OF_ONE_RUN = {"run_id", "seed", "commit", "dirty", *columns.OF_THE_MACHINE}
Chosen: TypeAlias = Value | Collection[str] | Collection[int]
"""For an axis: a value, one of several values, or None for runs that do not use it."""


Place: TypeAlias = tuple[frozenset[tuple[str, str]], int]
"""The values of the axes that a run uses, and its seed."""


def place_of(axes: Mapping[str, str | None], seed: int) -> Place:
    """Returns the key of a point with a seed, for dictionaries and sets."""
    return frozenset((axis, value) for axis, value in axes.items() if value is not None), seed


def rounded(value: Value) -> Value:
    """Returns a number with the digits that rows keep; another value as it is."""
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if isinstance(value, float) else value


@dataclass(frozen=True)
class Spread:
    """Mean, minimum and maximum of a number over seeds, and the number of seeds (at least one)."""

    mean: float
    low: float
    high: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Returns the spread of at least one value."""
        return cls(math.fsum(values) / len(values), min(values), max(values), len(values))

    def scaled(self, factor: float) -> Spread:
        """Returns the spread in another unit; or with -1, that of the opposite."""
        low, high = sorted((self.low * factor, self.high * factor))
        return Spread(self.mean * factor, low, high, self.seeds)

    def plus(self, number: float) -> Spread:
        """Returns the spread with a number added to each of its numbers: 1, to make a change a share."""
        return Spread(self.mean + number, self.low + number, self.high + number, self.seeds)

    def text(self, form: Callable[[float], str]) -> str:
        """Returns the mean, with minimum and maximum if there are several seeds."""
        if self.seeds == 1:
            return form(self.mean)
        return f"{form(self.mean)} ({form(self.low)} to {form(self.high)}, {self.seeds} seeds)"

    def __str__(self) -> str:
        return self.text(lambda value: f"{value:.3g}")


@dataclass(frozen=True, eq=False, repr=False)
class Row(Mapping[str, Value]):
    """One point's result. Columns are keys and attributes; `axis_buffer` is also `axis("buffer")`."""

    _values: Mapping[str, Value]

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __getattr__(self, name: str) -> Value:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"a row has no column {name}") from None

    def __reduce__(self) -> tuple[type[Row], tuple[Mapping[str, Value]]]:
        return Row, (self._values,)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Row({self._values.get('run_id')}, {self.axes}, seed {self._values.get('seed')})"

    @property
    def seed(self) -> int:
        return self.whole("seed")

    def whole(self, column: str) -> int:
        """Returns a whole number. Raises InputError if the column has none."""
        return self._of(column, int, "a whole number")

    def text(self, column: str) -> str:
        """Returns a text. Raises InputError if the column has none."""
        return self._of(column, str, "text")

    def flag(self, column: str) -> bool:
        """Returns true or false. Raises InputError if the column has neither."""
        return self._of(column, bool, "true or false")

    def _of(self, column: str, kind: type[_T], wanted: str) -> _T:
        value = self._values.get(column)
        if not isinstance(value, kind):
            raise self._not(column, wanted)
        return value

    def number(self, column: str) -> float | None:
        """Returns a number, or None without a finite one. Raises InputError for a text."""
        value = self._values.get(column)
        if isinstance(value, str):
            raise self._not(column, "a number")
        return float(value) if value is not None and math.isfinite(value) else None

    def _not(self, column: str, wanted: str) -> InputError:
        name, value = self._values.get("run_id"), self._values.get(column)
        return InputError(f"row {name}", column, f"is {value!r}, not {wanted}")

    @property
    def axes(self) -> dict[str, str | None]:
        return {
            name.removeprefix(columns.AXIS): None if value is None else str(value)
            for name, value in self._values.items()
            if name.startswith(columns.AXIS)
        }

    def axis(self, name: str) -> str | None:
        """Returns the value of one axis; None if the run does not use it."""
        value = self._values.get(f"{columns.AXIS}{name}")
        return None if value is None else str(value)

    def fits(self, axes: Mapping[str, Chosen]) -> bool:
        """Returns whether the row has the value of each axis, or one of several."""
        for name, wanted in axes.items():
            is_seed = name == "seed" and f"{columns.AXIS}seed" not in self
            value: Value = self.seed if is_seed else self.axis(name)
            one_of = (wanted,) if wanted is None or isinstance(wanted, (str, int, float)) else wanted
            if value not in one_of:
                return False
        return True

    @property
    def used_axes(self) -> dict[str, str]:
        """Values of the axes that the run uses."""
        return {name: value for name, value in self.axes.items() if value is not None}

    @property
    def place(self) -> Place:
        """The point and the seed."""
        return place_of(self.axes, self.seed)

    @property
    def finished(self) -> bool:
        """Whether the run finished, with numbers."""
        return bool(self._values.get("status") == "finished")


@dataclass(frozen=True)
class Results:
    """Rows of one version of program and engine. `refused` describes rows that were left out."""

    rows: list[Row]
    refused: list[str] = field(default_factory=list)

    @property
    def finished(self) -> list[Row]:
        """Rows with numbers."""
        return [row for row in self.rows if row.finished]

    @property
    def failed(self) -> list[Row]:
        """Rows of runs that failed, with their `error`."""
        return [row for row in self.rows if not row.finished]

    @property
    def seeds(self) -> list[int]:
        """Returns the seeds of the rows with numbers."""
        return sorted({row.seed for row in self.finished})

    def alike(self) -> list[list[Row]]:
        """Returns groups of two or more rows of one point whose seeds gave the same numbers. There, random
        draws had no effect, and the spread over seeds is meaningless."""
        found: dict[tuple[object, ...], list[Row]] = {}
        for row in self.finished:
            numbers = tuple((name, value) for name, value in row.items() if name not in _OF_ONE_RUN)
            found.setdefault(numbers, []).append(row)
        return [rows for rows in found.values() if len({row.seed for row in rows}) > 1]

    def select(self, /, **axes: Chosen) -> Results:
        """Returns the rows with the given value of each axis, or one of a list; None selects unused axes."""
        return Results([row for row in self.rows if row.fits(axes)], self.refused)

    def values(self, column: str, /, **axes: Chosen) -> list[float]:
        """Returns the numbers of a column in the selected rows, by seed; missing ones are left out. Raises
        InputError if the column does not exist."""
        known = [one.name for one in (*columns.IDENTITY, *columns.MEASURED)]
        if column not in known and not any(column in row for row in self.rows):
            raise InputError("results", column, f"is not a column{did_you_mean(column, known)}")
        found = [(row.seed, row.number(column)) for row in self.select(**axes).finished]
        return [value for _, value in sorted(found, key=lambda one: one[0]) if value is not None]

    def mean(self, column: str, /, **axes: Chosen) -> float | None:
        """Returns the mean of a column over the selected rows; None without a number."""
        values = self.values(column, **axes)
        return math.fsum(values) / len(values) if values else None

    def spread(self, column: str, /, **axes: Chosen) -> tuple[float, float, float] | None:
        """Returns (mean, lowest, highest) of a column over the selected rows; None without a number."""
        values = self.values(column, **axes)
        return (math.fsum(values) / len(values), min(values), max(values)) if values else None
