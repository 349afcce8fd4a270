"""Comparison of two values of an axis: the change of a number, and its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eeon_control.validation import did_you_mean
from eeon_tools.errors import InputError

from eeon_experiments.report.runs import Runs

# Student's t, 97.5 %, by degrees of freedom (any table of it); between two entries, the smaller one applies.
_T = {
    1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228,
    12: 2.179, 15: 2.131, 20: 2.086, 30: 2.042, 60: 2.000, 120: 1.980,
}  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """An axis, and the two values that are compared: `AXIS=FIRST,SECOND`."""

    axis: str
    first: str
    second: str

    @classmethod
    def parse(cls, text: str) -> Compared:
        """Parses this form. Raises InputError for another."""
        axis, equals, values = text.partition("=")
        first, comma, second = values.partition(",")
        if not (axis and equals and first and comma and second) or "," in second:
            raise InputError(
                "--compare", text, "is not AXIS=FIRST,SECOND, for example queue=drop_tail,mark_1"
            )
        if first == second:
            raise InputError("--compare", text, "names one value twice")
        return cls(axis, first, second)


@dataclass(frozen=True)
class Interval:
    """The mean over pairs, and its 95 % confidence interval by Student's t; None for a single pair."""

    mean: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        """Returns the mean of at least one value, with its interval."""
        count, mean = len(values), math.fsum(values) / len(values)
        if count == 1:
            return cls(mean, None, None)
        deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in values) / (count - 1))
        t = _T[max(freedom for freedom in _T if freedom < count)]
        margin = t * deviation / math.sqrt(count)
        return cls(mean, mean - margin, mean + margin)


@dataclass(frozen=True)
class Comparison:
    """One column at one point of the other axes, or over all of them (`axes` is None).

    A pair is two runs with one seed that differ only in the compared axis. `change` is the mean over pairs of
    second / first - 1, or None if a first number is 0. `difference` is the mean of second - first.
    """

    axes: Mapping[str, str] | None
    column: str
    pairs: int
    first: float
    second: float
    difference: Interval
    change: Interval | None


def compare(runs: Runs, compared: Compared, column: str) -> list[Comparison]:
    """Compares at each point that both values have, then over all points if there are several.

    Raises InputError for an axis or a value that the runs do not have, and if no pair has the column.
    """
    axes = list(dict.fromkeys(axis for run in runs for axis in run.used_axes))
    if compared.axis not in axes:
        raise InputError("--compare", compared.axis, f"is not an axis{did_you_mean(compared.axis, axes)}")
    known = [value for value in runs.values(compared.axis) if len(runs.where(**{compared.axis: value}))]
    for value in (compared.first, compared.second):
        if value not in known:
            hint = did_you_mean(value, known) or f"; there are {', '.join(known)}"
            raise InputError("--compare", value, f"no finished run has this {compared.axis}{hint}")
    pairs = _pairs(runs, compared, column)
    if not pairs:
        raise InputError(
            "--compare",
            f"{compared.axis}={compared.first},{compared.second}",
            f"no two runs with {column} and the same seed differ only in {compared.axis}",
        )
    found = [_of(dict(point), column, of_point) for point, of_point in pairs.items()]
    if len(pairs) > 1:
        found.append(_of(None, column, [pair for of_point in pairs.values() for pair in of_point]))
    return found


def _pairs(
    runs: Runs, compared: Compared, column: str
) -> dict[tuple[tuple[str, str], ...], list[tuple[float, float]]]:
    """Returns the first and second numbers of each pair, by the values of the other axes."""

    def of(value: str) -> dict[tuple[tuple[tuple[str, str], ...], int], float]:
        there = runs.where(**{compared.axis: value})
        return {
            (tuple(one for one in run.used_axes.items() if one[0] != compared.axis), run.seed): number
            for run in there
            if (number := run.number(column)) is not None
        }

    first, second = of(compared.first), of(compared.second)
    found: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
    for point, seed in first:
        if (point, seed) in second:
            found.setdefault(point, []).append((first[point, seed], second[point, seed]))
    return found


def _of(axes: dict[str, str] | None, column: str, pairs: Sequence[tuple[float, float]]) -> Comparison:
    first, second = zip(*pairs, strict=True)
    count = len(pairs)
    return Comparison(
        axes,
        column,
        count,
        math.fsum(first) / count,
        math.fsum(second) / count,
        Interval.of([two - one for one, two in pairs]),
        None if 0 in first else Interval.of([two / one - 1 for one, two in pairs]),
    )
