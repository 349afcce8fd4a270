"""The columns of a row, in order: name, type, meaning. They define the table of rows, the row, and the table
in docs/experiments.md. `columns.csv` lists them; units are in the names."""

import csv
from dataclasses import dataclass
from importlib import resources
from typing import Literal, cast

Type = Literal["text", "whole", "number", "flag"]
AXIS = "axis_"
ENTRIES = "entries_digest"
SIZE_CLASSES = ("", "10kb_", "100kb_", "1mb_", "10mb_", "above_10mb_")
"""Part of the name of a column of slowdowns: flows of all sizes, then by size, in the engine's order."""
SLOWDOWN_PARTS = ("count", "mean", "p50", "p95", "p99", "p999")
OF_THE_MACHINE = ("wall_seconds", "cpu_seconds", "peak_rss_bytes")
"""Columns whose values differ when a run is repeated."""


@dataclass(frozen=True)
class Column:
    """One column. Every value may be missing (None)."""

    name: str
    type: Type
    meaning: str


def _listed(part: str) -> tuple[Column, ...]:
    text = resources.files("eeon_experiments").joinpath("columns.csv").read_text(encoding="utf-8")
    return tuple(
        Column(row["name"], cast(Type, row["type"]), row["meaning"])
        for row in csv.DictReader(text.splitlines())
        if row["part"] == part
    )


IDENTITY = _listed("identity")
"""Columns before the axes. The columns of the axes are `axis_NAME`, with text."""

MEASURED = _listed("measured")
"""Columns after the axes."""

NUMBERS = tuple(
    column.name
    for column in MEASURED
    if column.type in ("whole", "number") and column.name not in OF_THE_MACHINE
)
"""Columns with numbers that are deterministic."""
MEASURED_NAMES = frozenset(column.name for column in MEASURED)
_TYPES: dict[str, Type] = {column.name: column.type for column in (*IDENTITY, *MEASURED)}


def type_of(name: str) -> Type:
    """Returns the type of a column: text for an unknown one, as for an axis."""
    return _TYPES.get(name, "text")


def columns(axes: list[str]) -> list[Column]:
    """Returns all columns of an experiment's rows, in order."""
    of_axes = (Column(f"{AXIS}{axis}", "text", f"value of the axis {axis}") for axis in axes)
    return [*IDENTITY, *of_axes, *MEASURED]
