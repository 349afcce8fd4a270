"""The numbers of any experiment: one point for each combination of its axes' values, with each number over
the seeds; as a table, as CSV, and as a drawing for each axis."""

import contextlib
import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from eeon_control.units import Bytes, DataRate, Duration, Packets
from eeon_control.validation import did_you_mean
from eeon_tools.errors import InputError
from eeon_tools.svg import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW

from eeon_experiments import columns
from eeon_experiments.report.drawing import Drawing, Panel, Series
from eeon_experiments.report.runs import Runs, over
from eeon_experiments.results import Row, Spread

FILE = "points.csv"
"""Name of the file with the report's points, beside the rows."""
_HEADLINES = (
    *("runtime_seconds", "fct_mean_seconds", "fct_p99_seconds", "rpc_p99_us", "query_p99_us", "step_p99_us"),
    *("throughput_per_node_bps", "latency_p99_us", "queue_max_bytes_host_facing", "energy_used_joules"),
    *("marked_data", "early_dropped_data", "tail_dropped_data", "timeouts"),
)
"""Columns shown by default, in this order."""
_SHOWN = 4
_PANELS = 3
_LARGE = 1000
"""From this number on, numbers have no decimals."""
_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW, GREY)


@dataclass(frozen=True)
class Point:
    """One combination of values, over its seeds. `numbers`: the measured ones, by column."""

    axes: Mapping[str, str]
    seeds: Sequence[int]
    numbers: Mapping[str, Spread] = field(default_factory=dict)


def points(runs: Runs) -> list[Point]:
    """Returns a point for each combination of values that was run, in the order of the runs."""
    found: dict[tuple[tuple[str, str], ...], list[Row]] = {}
    for run in runs:
        found.setdefault(tuple(run.used_axes.items()), []).append(run)
    return [
        Point(
            dict(key),
            sorted({run.seed for run in same}),
            {
                column: spread
                for column in columns.NUMBERS
                if (spread := over(value for run in same if (value := run.number(column)) is not None))
            },
        )
        for key, same in found.items()
    ]


def shown_columns(found: Sequence[Point], wanted: Sequence[str] = ()) -> list[str]:
    """Returns the `wanted` columns, or by default the headlines in which points differ.

    Raises InputError for a name that is not a column with numbers.
    """
    for name in wanted:
        if name not in columns.NUMBERS:
            raise InputError(
                "--column", name, f"is not a column with numbers{did_you_mean(name, columns.NUMBERS)}"
            )
    if wanted:
        return list(dict.fromkeys(wanted))
    there = [name for name in _HEADLINES if any(name in point.numbers for point in found)]
    differing = [name for name in there if len({point.numbers.get(name) for point in found}) > 1]
    return (differing or there)[:_SHOWN]


def axes_of(found: Sequence[Point]) -> list[str]:
    """Returns the axes for which any point has a value, in order."""
    return list(dict.fromkeys(axis for point in found for axis in point.axes))


def words(column: str) -> str:
    """Returns a column's name as a heading."""
    return column.replace("_", " ")


def text(value: Spread | None) -> str:
    """Returns the mean, with minimum and maximum if seeds differ."""
    if value is None:
        return "-"
    if value.low == value.high:
        return short(value.mean)
    return f"{short(value.mean)} ({short(value.low)} to {short(value.high)})"


def short(value: float) -> str:
    """Returns a number with four digits, or without decimals if it is large."""
    return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.4g}"


def table(found: Sequence[Point], shown: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows for a reader."""
    axes = axes_of(found)
    head = [*axes, "seeds", *map(words, shown)]
    rows = [
        [
            *(point.axes.get(axis, "-") for axis in axes),
            str(len(point.seeds)),
            *(text(point.numbers.get(column)) for column in shown),
        ]
        for point in found
    ]
    return head, rows


def as_csv(found: Sequence[Point], wanted: Sequence[str] = ()) -> str:
    """Returns one row per point: its axes, its number of seeds, and the mean, minimum and maximum of the
    `wanted` columns, or of each with numbers."""
    axes = axes_of(found)
    there = list(dict.fromkeys(wanted)) or [
        column for column in columns.NUMBERS if any(column in point.numbers for point in found)
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [*axes, "seeds", *(f"{column}_{part}" for column in there for part in ("mean", "low", "high"))]
    )
    for point in found:
        numbers: list[object] = []
        for column in there:
            value = point.numbers.get(column)
            numbers += ["", "", ""] if value is None else [value.mean, value.low, value.high]
        writer.writerow([*(point.axes.get(axis, "") for axis in axes), len(point.seeds), *numbers])
    return out.getvalue()


def as_values(found: Sequence[Point]) -> list[dict[str, object]]:
    return [
        {
            "axes": dict(point.axes),
            "seeds": list(point.seeds),
            "numbers": {
                column: {"mean": one.mean, "low": one.low, "high": one.high}
                for column, one in point.numbers.items()
            },
        }
        for point in found
    ]


def drawings(runs: Runs) -> list[Drawing]:
    """Returns a drawing of the headlines along each axis that has several values, with a line or bars for
    each combination of the other axes' values."""
    found = points(runs)
    axes = axes_of(found)
    return [_along(runs, found, axis, axes) for axis in axes if len(runs.values(axis)) > 1]


def _along(runs: Runs, found: Sequence[Point], axis: str, axes: Sequence[str]) -> Drawing:
    others = [one for one in axes if one != axis]
    combinations = list(
        dict.fromkeys(tuple(point.axes.get(one) for one in others) for point in found if axis in point.axes)
    )
    left_out = len(combinations[len(_COLOURS) :])
    values, are_quantities = _in_order(runs.values(axis))

    def series(column: str) -> list[Series]:
        drawn = []
        for combination, colour in zip(combinations, _COLOURS, strict=False):
            at = dict(zip(others, combination, strict=True))
            name = ", ".join(value for value in combination if value is not None) or words(column)
            spreads = [runs.spread(column, **at, **{axis: value}) for value in values]
            drawn.append(Series(name, spreads, colour))
        return drawn

    panels = [
        Panel(
            words(column),
            values,
            series(column),
            "lines" if are_quantities else "bars",
            unit="{:,.0f}" if _is_large(found, column) else "{:.4g}",
        )
        for column in shown_columns(found)[:_PANELS]
    ]
    more = f" The table of points has {left_out} more combinations." if left_out else ""
    caption = f"Each series is one combination of the other axes' values.{more}"
    name = f"{next(iter(runs)).get('experiment')}-by-{axis}"
    return Drawing(name, f"By {axis}", "", caption, axis, "", panels, share_y=False)


def _in_order(values: Sequence[str]) -> tuple[Sequence[str], bool]:
    """Returns the values by magnitude and True if all are numbers, percentages, or quantities of one kind,
    else the values as they are and False."""
    parses: tuple[Callable[[str], float], ...] = (
        lambda value: float(value.removesuffix("%")),
        *(kind.parse for kind in (Duration, Bytes, Packets, DataRate)),
    )
    for parse in parses:
        with contextlib.suppress(ValueError):
            return sorted(values, key=parse), True
    return values, False


def _is_large(found: Sequence[Point], column: str) -> bool:
    return any(abs(point.numbers[column].high) >= _LARGE for point in found if column in point.numbers)
