"""Parts of claims that are data: `parts` in claims.yaml, with the words of figures.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, product
from typing import Annotated, Literal

from eeon_control.model_base import Strict
from eeon_control.validation import did_you_mean
from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from eeon_experiments import columns
from eeon_experiments.claims.bands import band, cut
from eeon_experiments.claims.model import (
    Check,
    Missing,
    Point,
    by_seed,
    compare_by_seed,
    mean,
    mean_by_seed,
    microseconds,
    percent,
    share,
    times,
    words_of,
)
from eeon_experiments.results import Results, Spread

_FORMS = {"percent": percent, "share": share, "times": times, "us": microseconds}


def _column(name: str) -> str:
    if name not in columns.NUMBERS:
        raise ValueError(f"{name} is not a column with numbers{did_you_mean(name, columns.NUMBERS)}")
    return name


Column = Annotated[str, AfterValidator(_column)]


class Number(Strict):
    """A number at points, seed by seed: the mean of a column."""

    number: Column
    where: list[dict[str, str | list[str] | None]]
    """Values of axes: one, several with a point for each, or null where the axis is not used."""
    against: dict[str, str | None] = Field(default_factory=dict)
    """The number is the change from the point that has these values instead."""
    over: Column | None = None
    """The number is the change from this column."""
    form: Literal["percent", "share", "times", "us"] = "percent"
    """How it is written; as `times` it is a multiple, not a change."""

    def points(self) -> list[Point]:
        found: list[Point] = []
        for one in self.where:
            values = (at if isinstance(at, list) else [at] for at in one.values())
            found += [dict(zip(one, point, strict=True)) for point in product(*values)]
        return found

    def measured(self, results: Results, points: Iterable[Point]) -> Spread:
        """Returns the mean over points, seed by seed. Raises Missing."""
        return mean_by_seed([self._by_seed(results, point) for point in points])

    def _by_seed(self, results: Results, point: Point) -> dict[int, float]:
        if self.over is None and not self.against:
            return by_seed(results, self.number, point)
        compared, less = (self.number, self.over or self.number), self.form != "times"
        base = {**point, **self.against}
        return compare_by_seed(results, compared, (point, base), lambda a, b: a / b - less)


class Part(Number):
    """A number that must be within a band, which one of the last three keys gives."""

    says: str
    """What is measured, with the number at `{number}` or behind it; `{at}` names the point that was taken."""
    name: str = ""
    """The figure's name in claims.json."""
    for_each: dict[str, list[str]] = Field(default_factory=dict)
    """One part for each of these values, which replace `{NAME}` in the other texts."""
    take: Literal["mean", "least", "most", "average"] = "mean"
    """What of several points; as the average, their means and their spreads are averaged."""
    within: tuple[float, float] | None = None
    states: float | None = None
    """The change that the paper states."""
    cuts: float | None = None
    """The change of a latency that the paper states."""

    @model_validator(mode="after")
    def _one_band(self) -> Part:
        if sum(one is not None for one in (self.within, self.states, self.cuts)) != 1:
            raise ValueError("needs one of within, states, cuts")
        return self

    def each(self) -> Iterator[Part]:
        """Yields the part, or one for each of the values."""
        told = self.model_dump(exclude={"for_each"}, exclude_unset=True)
        for values in product(*self.for_each.values()):
            yield Part.model_validate(_filled(told, dict(zip(self.for_each, values, strict=True))))

    def check(self, results: Results, _: Mapping[str, float]) -> Check:
        """Returns whether the number is within its band. Raises Missing."""
        says, points = self.says if "{number}" in self.says else f"{self.says} {{number}}", self.points()
        if self.take == "mean":
            found = self.measured(results, points)
        else:
            each = [(self.measured(results, [point]), point) for point in points]
            if self.take == "average":
                found = mean(one for one, _ in each)
            else:
                pick = min if self.take == "least" else max
                found, at = pick(each, key=lambda one: one[0].mean)
                says = says.replace("{at}", words_of(at))
        low, high = self.within or (cut(self.cuts) if self.cuts is not None else band(self.states or 0))
        words = says.replace("{number}", found.text(_FORMS[self.form]))
        return Check(words, low <= found.mean <= high, numbers={self.name: found.mean} if self.name else {})


def _filled(value: object, names: Mapping[str, str]) -> object:
    """Returns a value with its texts' `{NAME}`s replaced."""
    match value:
        case str():
            for name, text in names.items():
                value = value.replace(f"{{{name}}}", text)
            return value
        case list():
            return [_filled(one, names) for one in value]
        case dict():
            return {key: _filled(one, names) for key, one in value.items()}
    return value


class Order(Strict):
    """A part that holds if figures of parts before it fall."""

    falling: list[str]
    """Their names."""
    says: str
    otherwise: str

    def check(self, _: Results, numbers: Mapping[str, float]) -> Check:
        """Returns whether they fall. Raises Missing."""
        for name in self.falling:
            if name not in numbers:
                raise Missing(f"a figure {name} before the part that says {self.says}")
        holds = all(numbers[high] > numbers[low] for high, low in pairwise(self.falling))
        return Check(self.says if holds else self.otherwise, holds)


AnyPart = Annotated[
    Annotated[Part, Tag("number")] | Annotated[Order, Tag("order")],
    Discriminator(lambda value: "order" if isinstance(value, dict) and "falling" in value else "number"),
]


def checks(parts: Iterable[Part | Order], results: Results) -> list[Check]:
    """Returns the checks of parts. Raises Missing."""
    found: list[Check] = []
    numbers: dict[str, float] = {}
    for part in parts:
        for one in part.each() if isinstance(part, Part) else [part]:
            check = one.check(results, numbers)
            found.append(check)
            numbers |= check.numbers
    return found
