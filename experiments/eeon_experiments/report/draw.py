"""Drawings as matplotlib figures: the layout of panels, spreads and legends."""

import math
import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from eeon_tools.svg import INK, new_figure, styled
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatter

from eeon_experiments.report.drawing import Drawing, Panel, Series
from eeon_experiments.results import Spread

# An artist, or a container of artists, which matplotlib's types omit where matplotlib accepts it.
Handle: TypeAlias = Any
"""An entry of a legend."""

_WIDTH = 5.6
"""Width of a figure in inches: on a phone 390 pixels wide, letters of 9 points are 8.7 pixels high."""
_BESIDE = 0.7
"""Width in inches of the part of a panel left of its axis."""
_LETTER = 0.078
"""Approximate width in inches of a letter of an axis."""
_LEGEND_LETTERS = 76
"""Number of letters in a line of the legend."""
_GROUP = 0.82
"""Share of a position's width that its bars occupy."""


def draw(drawing: Drawing) -> Figure:
    """Returns the figure, one panel below the other. Panels without a number are left out; a drawing without
    any number says so."""
    drawing = drawing.of_panels_measured()
    rows = len(drawing.panels)
    names = _legend_names(drawing)
    lines = math.ceil(len(names) / _legend_columns(names))
    with styled():
        figure = new_figure(_WIDTH, drawing.panel_height * rows + 0.35 + 0.19 * lines)
        axes = list(figure.subplots(rows, 1, sharey=drawing.share_y, squeeze=False).flat)
        handles: dict[str, Handle] = {}
        for axis, panel in zip(axes, drawing.panels, strict=True):
            _axes(axis, drawing, panel)
            if panel.numeric is None:
                _name_positions(axis, panel)
            for name, handle in _fill(axis, panel, drawing).items():
                handles.setdefault(name, handle)
        # A shared axis has its final limits only after every panel is drawn.
        for axis in figure.axes:
            if drawing.from_zero and drawing.scale != "log" and drawing.measured():
                axis.set_ylim(bottom=0)
            elif not drawing.from_zero:
                # Differences of hundredths around the baseline must not fill a figure.
                low, high = axis.get_ylim()
                axis.set_ylim(min(low, 0.95), max(high, 1.05))
            if drawing.cut is not None and axis.get_ylim()[1] > drawing.cut:
                # The margin below belonged to the part that is cut away.
                lowest = min(value.low for panel in drawing.panels for value in panel.values() if value)
                axis.set_ylim(min(lowest, 0.95) - 0.05, drawing.cut)
        for axis, panel in zip(axes, drawing.panels, strict=True):
            if panel.y_limits is not None:
                axis.set_ylim(*panel.y_limits)
        shown = [name for name in names if name in handles]
        if shown:
            figure.legend(
                [handles[name] for name in shown],
                shown,
                loc="outside lower center",
                ncols=_legend_columns(shown),
                fontsize=8.5,
            )
        return figure


def _legend_names(drawing: Drawing) -> list[str]:
    kinds = ("series", "overlay", "curves", "rules")
    parts = (getattr(panel, kind) for kind in kinds for panel in drawing.panels)
    return list(dict.fromkeys(one.name for part in parts for one in part))


def _legend_columns(names: Sequence[str]) -> int:
    longest = max((len(name) for name in names), default=1)
    return max(1, min(len(names), int(_LEGEND_LETTERS / (longest + 7))))


def _axes(axis: Axes, drawing: Drawing, panel: Panel) -> None:
    axis.set_title(panel.title)
    axis.set_xlabel(drawing.x_label)
    axis.set_ylabel(panel.y_label or drawing.y_label)
    if drawing.scale == "linear":
        axis.ticklabel_format(axis="y", useOffset=False)
    else:
        axis.set_yscale(drawing.scale, **({"linthresh": 10} if drawing.scale == "symlog" else {}))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.yaxis.set_minor_formatter(_Minor())
    if panel.numeric is not None:
        axis.set_xticks(list(panel.numeric), list(panel.positions))
    if panel.kind != "lines":
        axis.grid(axis="x", visible=False)


class _Minor(LogFormatter):
    """Formatter that gives matplotlib's minor labels the form of major ones."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:,g}" if super().__call__(x, pos) else ""


def _name_positions(axis: Axes, panel: Panel) -> None:
    """Writes the names below the positions: on one line if they fit, wrapped if their words fit, otherwise
    slanted."""
    count = max(1, len(panel.positions))
    fitting = int((_WIDTH - _BESIDE) / count / _LETTER) - 1
    names = [textwrap.fill(name, max(1, fitting), break_long_words=False) for name in panel.positions]
    slanted = any(len(line) > fitting for name in names for line in name.split("\n"))
    axis.set_xticks(
        range(len(panel.positions)),
        panel.positions if slanted else names,
        rotation=35 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor" if slanted else "default",
    )
    axis.set_xlim(-0.5, count - 0.5)


def _fill(axis: Axes, panel: Panel, drawing: Drawing) -> dict[str, Handle]:
    handles: dict[str, Handle] = {}
    if not panel.measured():
        axis.text(0.5, 0.5, "not measured", transform=axis.transAxes, ha="center", color=INK, style="italic")
        axis.set_yticks([])
        return handles
    if panel.kind == "stacked":
        handles |= _stacked(axis, panel)
    elif panel.kind == "bars":
        handles |= _bars(axis, panel)
    else:
        handles |= _lines(axis, panel, panel.series)
        if drawing.cut is not None:
            _beyond(axis, panel, drawing.cut, drawing.unit)
    for curve in panel.curves:
        (handles[curve.name],) = axis.plot(
            curve.x, curve.y, color=curve.colour, linestyle=curve.dashes, linewidth=1.4
        )
    for rule in panel.rules:
        handles[rule.name] = axis.axhline(
            rule.value, color=rule.colour, linestyle=rule.dashes, linewidth=1.2, zorder=2
        )
    if panel.overlay:
        right = axis.twinx()
        right.grid(visible=False)
        right.spines["right"].set_visible(True)
        right.set_ylabel(panel.overlay_label)
        handles |= _lines(right, panel, panel.overlay)
        series = (one for other in drawing.panels for one in other.overlay)
        highest = max((value.high for one in series for value in one.values if value), default=1.0)
        right.set_ylim(0, highest * 1.1)
    return handles


def _places(panel: Panel) -> list[float]:
    if panel.numeric is not None:
        return list(panel.numeric)
    return [float(index) for index in range(len(panel.positions))]


def _lines(axis: Axes, panel: Panel, series: Iterable[Series]) -> dict[str, Handle]:
    """Draws lines through the measured points; only a marker is a number.

    A line joins neighbours with the same number of seeds: the step from a point with one seed to a mean of
    three may not be a change of the drawn number.
    """
    handles: dict[str, Handle] = {}
    drawn = [one for one in series if not one.reference and any(value is not None for value in one.values)]
    for number, one in enumerate(drawn):
        # On an axis of names, series are moved aside, so that spreads at the same place stay distinguishable.
        aside = 0.05 * (number - (len(drawn) - 1) / 2) if panel.numeric is None else 0.0
        points = [
            (place + aside, value)
            for place, value in zip(_places(panel), one.values, strict=True)
            if value is not None
        ]
        for _, joined in groupby(points, key=lambda point: point[1].seeds):
            part = list(joined)
            (handles[one.name],) = axis.plot(
                [place for place, _ in part], [value.mean for _, value in part], color=one.colour,
                linestyle=one.dashes or "none", marker=one.marker, markersize=4.5, linewidth=1.6,
                markerfacecolor="white" if one.dashes != "-" else one.colour,
            )  # fmt: skip
        for place, value in points:
            _whisker(axis, place, value, one.colour)
    return handles


def _beyond(axis: Axes, panel: Panel, cut: float, unit: str) -> None:
    """Writes the means above the cut just below it, at their positions, one below the other."""
    for index, place in enumerate(_places(panel)):
        found = [(one, one.values[index]) for one in panel.series]
        high = [(one, value.mean) for one, value in found if value is not None and value.mean > cut]
        for line, (one, mean) in enumerate(sorted(high, key=lambda part: -part[1])):
            axis.annotate(
                f"{unit.format(mean)} \N{UPWARDS ARROW}", (place, cut), (0, -10 * line - 3),
                textcoords="offset points", ha="center", va="top", fontsize=8, color=one.colour,
                backgroundcolor=(1, 1, 1, 0.7), zorder=4,
            )  # fmt: skip


def _bars(axis: Axes, panel: Panel) -> dict[str, Handle]:
    handles: dict[str, Handle] = {}
    width = _GROUP / max(1, len(panel.series))
    for number, one in enumerate(panel.series):
        offset = (number - (len(panel.series) - 1) / 2) * width
        for place, value in zip(_places(panel), one.values, strict=True):
            if value is None:
                # An empty position must not read as zero.
                axis.plot(place + offset, 0, marker="x", color=one.colour, markersize=4, clip_on=False)
                continue
            bar = axis.bar(
                place + offset, value.mean, width * 0.94, color=one.colour, edgecolor="white", linewidth=0.4
            )
            handles.setdefault(one.name, bar)
            _whisker(axis, place + offset, value, INK)
    return handles


def _stacked(axis: Axes, panel: Panel) -> dict[str, Handle]:
    handles: dict[str, Handle] = {}
    bottom = [0.0] * len(panel.positions)
    for one in panel.series:
        means = [0.0 if value is None else value.mean for value in one.values]
        handles[one.name] = axis.bar(
            _places(panel), means, 0.72, bottom=bottom, color=one.colour, edgecolor="white", linewidth=0.4
        )
        bottom = [low + mean for low, mean in zip(bottom, means, strict=True)]
    for place in range(len(panel.positions)):
        if any(one.values[place] is not None for one in panel.series):
            continue
        if any(one.values[place] is not None for one in panel.overlay):
            # It was run, but the total of the shares was zero.
            axis.text(_places(panel)[place], 2, "none", ha="center", color=INK, style="italic", fontsize=8)
        else:
            axis.plot(_places(panel)[place], 0, marker="x", color=INK, markersize=4, clip_on=False)
    return handles


def _whisker(axis: Axes, place: float, value: Spread, colour: str) -> None:
    """Draws a line from the minimum to the maximum over seeds; nothing for a single seed."""
    if value.seeds > 1:
        axis.plot([place, place], [value.low, value.high], color=colour, linewidth=1.1, zorder=3)
