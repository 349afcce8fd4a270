"""Figures that are data: panels in an experiment's `figures.yaml`, and the numbers that the file asks for.

A number stands at a point: the values of axes that a panel, one of its series and a position have together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal

from eeon_control.model_base import Strict
from eeon_control.validation import did_you_mean
from eeon_tools import svg
from eeon_tools.errors import InputError
from pydantic import AfterValidator, Field

from eeon_experiments import columns
from eeon_experiments.report import drawing, drops
from eeon_experiments.report.runs import Chosen, Metric, Runs, over
from eeon_experiments.results import Row, Spread

Axes = dict[str, str | list[str] | None]
"""Values of axes: one, several of which any counts, or null where the axis is not used."""
Numbers = Mapping[str, Callable[[Row], float | None]]
"""Numbers that are computed from a run, by name."""
_BASELINE_COLOUR = "#888888"


def _colour(name: str) -> str:
    """Returns the code of a colour that has a name here."""
    return str(getattr(svg, name.upper(), name))


Colour = Annotated[str, AfterValidator(_colour)]


class Measure(Strict):
    """A number of a run: `number` is a column, or the name of a computed one in figures.py or `drops`.

    `over`: another number, by which it is divided. `against`: it is a multiple of the number at the point
    that has these values instead, seed by seed; of several, those that the experiment has first. `each`: the
    mean at each value of an axis, instead of at each seed.
    """

    number: str | None = None
    over: str | None = None
    against: Axes | list[Axes] | None = None
    times: float = 1.0
    each: dict[str, list[str]] = Field(default_factory=dict)

    def at(self, runs: Runs, point: Mapping[str, Chosen], numbers: Numbers) -> Spread | None:
        """Returns the number at a point."""
        for axis, values in self.each.items():
            alone = self.model_copy(update={"each": {}})
            found = [alone.at(runs, {**point, axis: value}, numbers) for value in values]
            return over(one.mean for one in found if one is not None)
        number = _metric(self.number or "", numbers)
        if self.over is None and self.against is None:
            measured = runs.spread(number, **point)
        else:
            bases = self.against if isinstance(self.against, list) else [self.against or {}]
            base = next((one for one in bases if _has(runs, one)), bases[0])
            below = None if self.over is None else _metric(self.over, numbers)
            measured = runs.ratio(number, base, below, **point)
        return None if measured is None else measured.scaled(self.times)


def _said(given: Measure, of: type[Measure]) -> dict[str, object]:
    """Returns the keys of a class that the file gives for a part, with their values."""
    return {name: getattr(given, name) for name in given.model_fields_set & of.model_fields.keys()}


def _metric(name: str, numbers: Numbers) -> Metric:
    computed = {**drops.NUMBERS, **numbers}
    if name in computed:
        return computed[name]
    if name not in columns.NUMBERS:
        near = did_you_mean(name, [*computed, *columns.NUMBERS])
        raise InputError("figures.yaml", name, f"is neither a column with numbers nor in NUMBERS{near}")
    return name


class Line(Measure):
    """A series: where its numbers are, and its looks."""

    where: Axes = Field(default_factory=dict)
    colour: Colour
    dashes: str = drawing.Series.dashes
    marker: str = drawing.Series.marker


class Level(Strict):
    """A horizontal line: at a `value` that has a `name` or that the `paper` states, or at the number of the
    panel with other values of axes (`where`)."""

    value: float = 1.0
    name: str = ""
    paper: str = ""
    where: Axes | None = None
    colour: Colour | None = None
    dashes: str | None = None

    def rule(self, measured: Spread | None) -> drawing.Rule | None:
        """Returns the line, at the measured number if it is of one; None without that number."""
        if self.paper:
            return drawing.paper(self.value, self.paper, self.dashes or "-.")
        if self.where is None:
            return drawing.Rule(self.name, self.value, self.colour or _BASELINE_COLOUR, self.dashes or ":")
        return None if measured is None else drawing.Rule(self.name, measured.mean)


class Shared(Measure):
    """What a figure says of all its panels, and a panel of itself; `drawing.Panel` explains other keys."""

    where: Axes = Field(default_factory=dict)
    kind: Literal["lines", "bars", "stacked"] = "lines"
    positions: dict[str, Axes | str] = Field(default_factory=dict)
    """Values of axes by name, or the number there."""
    series: dict[str, Line] = Field(default_factory=dict)
    rules: list[Level] = Field(default_factory=list)
    numeric: bool = False
    """The names of the positions are their numbers on the axis."""
    overlay: dict[str, Line] = Field(default_factory=dict)
    overlay_label: str = ""
    y_limits: tuple[float | None, float | None] | None = None
    shared_seeds: str = ""
    """An axis: only seeds that were run with each of its values at the positions are drawn."""


class PanelFile(Shared):
    """One panel of a figure; its values of axes are those of the figure, and its own."""

    title: str = ""
    y_label: str | None = None
    unit: str | None = None


def panels(shared: Shared, given: Sequence[PanelFile], runs: Runs, numbers: Numbers) -> list[drawing.Panel]:
    """Returns the panels of a figure, with the positions that the experiment has."""
    found = []
    for one in given:
        said = {**_said(shared, Shared), **_said(one, PanelFile), "where": {**shared.where, **one.where}}
        found.append(_panel(one.model_copy(update=said), runs, numbers))
    return found


def _has(runs: Runs, point: Axes) -> bool:
    """Returns whether the experiment has the values of a point, whether or not they were run."""
    for axis, value in point.items():
        wanted = [value] if isinstance(value, str) else value
        if wanted is not None and not set(wanted) & set(runs.values(axis)):
            return False
    return True


def _positions(one: PanelFile, runs: Runs) -> dict[str, Axes | str]:
    """Returns the panel's positions that the experiment has where the panel is."""
    found: dict[str, Axes | str] = {}
    for name, at in one.positions.items():
        others = {axis: value for axis, value in one.where.items() if axis not in at}
        if isinstance(at, str) or _has(runs.where(**others), at):
            found[name] = at
    return found


def _panel(one: PanelFile, runs: Runs, numbers: Numbers) -> drawing.Panel:
    positions = _positions(one, runs)
    if one.shared_seeds:
        points = [at.get(one.shared_seeds) for at in positions.values() if not isinstance(at, str)]
        values = [value for value in points if isinstance(value, str)]
        runs = runs.where(**{one.shared_seeds: values}).of_shared_seeds(one.shared_seeds)

    def number_at(line: Line, at: Axes | str) -> Spread | None:
        given, axes = ({"number": at}, {}) if isinstance(at, str) else ({}, at)
        measure = Measure().model_copy(update={**_said(one, Measure), **_said(line, Measure), **given})
        return measure.at(runs, {**one.where, **line.where, **axes}, numbers)

    def series(lines: Mapping[str, Line]) -> list[drawing.Series]:
        found = []
        for name, line in lines.items():
            values = [number_at(line, at) for at in positions.values()]
            found.append(drawing.Series(name, values, line.colour, line.dashes, line.marker))
        return found

    rules = [
        level.rule(None if level.where is None else one.at(runs, {**one.where, **level.where}, numbers))
        for level in one.rules
    ]
    return drawing.Panel(
        one.title,
        list(positions),
        series(one.series),
        one.kind,
        [rule for rule in rules if rule is not None],
        [float(name) for name in positions] if one.numeric else None,
        overlay=series(one.overlay),
        overlay_label=one.overlay_label,
        y_label=one.y_label,
        y_limits=one.y_limits,
        unit=one.unit,
    )
