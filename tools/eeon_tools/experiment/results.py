"""Rows of one experiment, and what is asked of them: selections, means, spreads over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from eeon_tools.experiment import columns


class Row(Mapping[str, Any]):
    """One point's result; columns as keys and as attributes, `axis_buffer` also as `axis("buffer")`."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_values", dict(values))

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"a row has no column {name}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a row does not change")

    def __reduce__(self) -> Any:
        return Row, (self._values,)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Row({self._values.get('run_id')}, {self.axes}, seed {self._values.get('seed')})"

    @property
    def axes(self) -> dict[str, str | None]:
        """Values of all axes."""
        return {
            name.removeprefix(columns.AXIS): value
            for name, value in self._values.items()
            if name.startswith(columns.AXIS)
        }

    def axis(self, name: str) -> str | None:
        """Value of one axis; None where it is not used."""
        value: str | None = self._values.get(f"{columns.AXIS}{name}")
        return value

    @property
    def finished(self) -> bool:
        """Whether the run gave numbers."""
        return bool(self._values.get("status") == "finished")


@dataclass(frozen=True)
class Results:
    """Rows of one version of program and engine. `refused`: what was left out, in words."""

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
        """Seeds of the rows with numbers."""
        return sorted({row["seed"] for row in self.finished})

    def select(self, **axes: Any) -> Results:
        """Rows in which each axis has the value given, or one of a list of values; None is `not used`."""
        return Results([row for row in self.rows if _fits(row, axes)], self.refused)

    def values(self, column: str, **axes: Any) -> list[float]:
        """Of the selected rows with numbers, those of a column, missing ones left out; by seed."""
        found = [(row["seed"], row.get(column)) for row in self.select(**axes).finished]
        return [float(value) for _, value in sorted(found, key=lambda one: one[0]) if value is not None]

    def mean(self, column: str, **axes: Any) -> float | None:
        """Mean of a column over the selected rows; None when there is no number."""
        values = self.values(column, **axes)
        return sum(values) / len(values) if values else None

    def spread(self, column: str, **axes: Any) -> tuple[float, float, float] | None:
        """(mean, lowest, highest) of a column over the selected rows; None when there is no number."""
        values = self.values(column, **axes)
        return (sum(values) / len(values), min(values), max(values)) if values else None


def _fits(row: Row, axes: Mapping[str, Any]) -> bool:
    for name, wanted in axes.items():
        value = row["seed"] if name == "seed" else row.axis(name)
        if value not in wanted if isinstance(wanted, (list, tuple, set, frozenset)) else value != wanted:
            return False
    return True
