"""A figure of the report before it is drawn: numbers on panels, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eeon_tools.svg import INK, PURPLE

from eeon_experiments.results import Spread


@dataclass(frozen=True)
class Series:
    """One alternative: a number at each position of the panel's axis, or None if it was not measured."""

    name: str
    values: Sequence[Spread | None]
    colour: str
    dashes: str = "-"
    marker: str = "o"
    reference: bool = False
    """Computed, not measured: the table includes it, but it does not count as a measurement."""


@dataclass(frozen=True)
class Rule:
    """A horizontal line for a number that does not depend on the axis."""

    name: str
    value: float
    colour: str = INK
    dashes: str = "--"


def paper(value: float, what: str, dashes: str = "-.") -> Rule:
    """Returns a rule for a number that a paper states. `what` names the alternative and quotes the number;
    `dashes` distinguish two rules in one figure."""
    return Rule(f"the paper: {what}", value, PURPLE, dashes)


@dataclass(frozen=True)
class Curve:
    """A smooth line of a formula over the axis' numbers; the table does not include it."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    dashes: str = "-"


@dataclass(frozen=True)
class Panel:
    """One set of axes. `kind`: lines over the positions, bars side by side, or bars stacked in parts.

    `positions` are the names along the axis; if `numeric` is given, the points are at those numbers instead.
    `overlay`: series drawn as lines on a second axis at the right, labelled `overlay_label`. `unit` formats
    the table's numbers if they differ in form from the drawing's.
    """

    title: str
    positions: Sequence[str]
    series: Sequence[Series]
    kind: str = "lines"
    rules: Sequence[Rule] = ()
    numeric: Sequence[float] | None = None
    curves: Sequence[Curve] = ()
    overlay: Sequence[Series] = ()
    overlay_label: str = ""
    y_label: str | None = None
    y_limits: tuple[float | None, float | None] | None = None
    unit: str | None = None

    def measured(self) -> bool:
        """Returns whether the panel has a number to draw."""
        return any(value is not None for value in self.values())

    def values(self) -> list[Spread | None]:
        """Returns the value at every point, None where it is missing."""
        return [value for one in (*self.series, *self.overlay) if not one.reference for value in one.values]


@dataclass(frozen=True)
class Drawing:
    """A figure of the report.

    `scale` of the y axis: linear, log, or symlog (linear below 10, so that zero has a place).
    `cut`: the end of the y axis of lines; means beyond it are written at its edge, so that one outlier does
    not flatten everything else.
    `name` is the file's name without its suffix. `paper`: the corresponding figure of a paper, or empty.
    `unit` formats a number in the table ("{:.2f}").
    """

    name: str
    title: str
    paper: str
    caption: str
    x_label: str
    y_label: str
    panels: Sequence[Panel]
    unit: str = "{:.2f}"
    share_y: bool = True
    scale: str = "linear"
    from_zero: bool = True
    cut: float | None = None
    panel_height: float = 2.9

    def measured(self) -> bool:
        return any(panel.measured() for panel in self.panels)

    def of_panels_measured(self) -> Drawing:
        """Returns the drawing without panels that have nothing to draw; the whole drawing if no panel has."""
        panels = [panel for panel in self.panels if panel.measured()]
        return replace(self, panels=panels) if panels else self

    def missing(self) -> tuple[int, int]:
        """Returns the number of points without a number, and the number of points."""
        values = [value for panel in self.panels for value in panel.values()]
        return sum(value is None for value in values), len(values)
