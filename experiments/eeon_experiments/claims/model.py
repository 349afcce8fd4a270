"""Claims, judgments, and comparisons of rows.

A judge is a function of Results that returns checks, and raises Missing if rows or columns are missing.
Comparisons are made seed by seed, so that the difference between two settings contains no difference between
two draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from eeon_experiments.results import Chosen, Results, Spread

Outcome = Literal["reproduced", "differs", "not measured"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
REPRODUCED, DIFFERS, NOT_MEASURED = OUTCOMES
Point = Mapping[str, Chosen]
"""Values of axes; an axis that is not listed may have any value."""
Judge = Callable[[Results], "Checks"]
Judges = Mapping[str, Judge]
"""The judges of an experiment's claims, by claim."""


@dataclass(frozen=True)
class Judgment:
    """A judge's result: the outcome, a sentence with figures, the figures by name, the number of parts that
    hold, and the number of parts."""

    outcome: Outcome
    measured: str
    numbers: Mapping[str, float]
    holding: int = 0
    parts: int = 0

    def is_like(self, other: Judgment) -> bool:
        """Returns whether the other has the same outcome, and as many parts that hold."""
        return (self.outcome, self.holding, self.parts) == (other.outcome, other.holding, other.parts)


@dataclass(frozen=True)
class Claim:
    """A paper's statement, its place there, the band within which it counts as reproduced, and its judge."""

    id: str
    statement: str
    where: str
    band: str
    judge: Judge

    def judgment(self, results: Results) -> Judgment:
        """Returns the judge's result: reproduced if every check holds; not measured, with the reason, if rows
        are missing, or if the judge fails."""
        try:
            return self.judge(results).judgment()
        except Missing as missing:
            return Judgment(NOT_MEASURED, f"Not measured: {missing}.", {})
        except Exception as error:  # a mistake in one judge must not prevent the page
            return Judgment(NOT_MEASURED, f"the judge failed: {type(error).__name__}: {error}", {})


class Missing(Exception):
    """An exception for missing rows or numbers that a judge needs. The text names them."""


@dataclass(frozen=True)
class Check:
    """A condition: the measurement in words, whether it is within its band, and the figures behind it, by
    name. A check that only informs is not a `part`, and always holds."""

    measured: str
    holds: bool
    part: bool = True
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Checks:
    """All checks of a claim, and figures that follow those of the checks."""

    checks: Sequence[Check]
    numbers: Mapping[str, float] = field(default_factory=dict)

    def judgment(self) -> Judgment:
        """Returns all checks together. Raises Missing if there are none."""
        if not self.checks:
            raise Missing("the judge checked nothing")
        failed = [check.measured for check in self.checks if not check.holds]
        words = "; ".join(check.measured for check in self.checks) + "."
        if failed and len(failed) < len(self.checks):
            words += f" Outside its band: {'; '.join(failed)}."
        parts = sum(check.part for check in self.checks)
        numbers: dict[str, float] = {}
        for figures in (*(check.numbers for check in self.checks), self.numbers):
            numbers |= figures
        return Judgment(DIFFERS if failed else REPRODUCED, words, numbers, parts - len(failed), parts)


def by_seed(results: Results, column: str, point: Point) -> dict[int, float]:
    """Returns a column at one point, by seed. Raises Missing if no row has a number."""
    found: dict[int, float] = {}
    for row in results.select(**point).finished:
        value = row.number(column)
        if value is not None:
            if row.seed in found:
                raise Missing(f"{words_of(point)} is not one point")
            found[row.seed] = value
    if not found:
        raise Missing(f"no {column} of {words_of(point)}")
    return found


def level(results: Results, column: str, point: Point) -> Spread:
    """Returns the spread of a column at one point over its seeds. Raises Missing."""
    return Spread.of(list(by_seed(results, column, point).values()))


def of_common_seeds(
    found: Collection[Mapping[int, float]], what: str = "the points"
) -> dict[int, tuple[float, ...]]:
    """Returns the numbers of all `found`, for each seed that they have in common. Raises Missing."""
    seeds = sorted(set.intersection(*map(set, found)))
    if not seeds:
        raise Missing(f"{what} have no seed in common")
    return {seed: tuple(one[seed] for one in found) for seed in seeds}


def mean_by_seed(found: Collection[Mapping[int, float]]) -> Spread:
    """Returns the mean of several points, seed by seed. Raises Missing."""
    return Spread.of([math.fsum(one) / len(one) for one in of_common_seeds(found).values()])


def compare_by_seed(
    results: Results,
    columns: tuple[str, str],
    points: tuple[Point, Point],
    with_: Callable[[float, float], float],
) -> dict[int, float]:
    """Returns `with_` of two columns, each at its point, by their common seeds. Raises Missing."""
    found = [by_seed(results, *one) for one in zip(columns, points, strict=True)]
    pairs = of_common_seeds(found, " and ".join(map(words_of, points)))
    try:
        return {seed: with_(*pair) for seed, pair in pairs.items()}
    except ZeroDivisionError:
        raise Missing(f"{columns[1]} of {words_of(points[1])} is zero") from None


def compare(
    results: Results,
    columns: tuple[str, str],
    points: tuple[Point, Point],
    with_: Callable[[float, float], float],
) -> Spread:
    """Returns `with_` of two columns, each at its point, over their common seeds. Raises Missing."""
    return Spread.of(list(compare_by_seed(results, columns, points, with_).values()))


def change(results: Results, column: str, point: Point, base: Point) -> Spread:
    """Returns (value - value at `base`) / value at `base`. Raises Missing."""
    return compare(results, (column, column), (point, base), lambda a, b: a / b - 1)


def mean(figures: Iterable[Spread]) -> Spread:
    """Returns the mean over several points of the means, minima and maxima. Raises Missing if there are
    none."""
    listed = list(figures)
    if not listed:
        raise Missing("all of its cells")
    count = len(listed)
    return Spread(
        math.fsum(one.mean for one in listed) / count,
        math.fsum(one.low for one in listed) / count,
        math.fsum(one.high for one in listed) / count,
        min(one.seeds for one in listed),
    )


def total(results: Results, columns: Iterable[str], point: Point) -> dict[int, float]:
    """Returns the sum of several columns at one point, by seed. Raises Missing."""
    parts = [by_seed(results, column, point) for column in columns]
    counted = of_common_seeds(parts, f"the counts of {words_of(point)}")
    return {seed: math.fsum(one) for seed, one in counted.items()}


def percent(value: float) -> str:
    """Returns a change in percent with its sign."""
    return f"{100 * value:+.1f} %"


def share(value: float) -> str:
    """Returns a share in percent."""
    return f"{100 * value:.1f} %"


def times(value: float) -> str:
    return f"{value:.2f}x"


def microseconds(value: float) -> str:
    return f"{value:,.0f} us"


def means(found: Mapping[str, Spread], prefix: str = "") -> dict[str, float]:
    """Returns the means of several spreads as figures, each named by `prefix` and its own name."""
    return {f"{prefix}{name}": one.mean for name, one in found.items()}


def each(found: Mapping[str, Spread], form: Callable[[float], str] = percent) -> str:
    """Returns all spreads in words."""
    return ", ".join(f"{name} {one.text(form)}" for name, one in found.items())


def words_of(point: Point) -> str:
    return (
        " ".join(
            "/".join(map(str, v)) if isinstance(v, list) else str(v) for v in point.values() if v is not None
        )
        or "any run"
    )


def within(
    measured: Spread,
    low: float,
    high: float,
    what: str,
    form: Callable[[float], str] = percent,
    name: str = "",
) -> Check:
    """Checks that a mean is within a band. The mean is a figure of the claim if it has a name."""
    numbers = {name: measured.mean} if name else {}
    return Check(f"{what} {measured.text(form)}", low <= measured.mean <= high, numbers=numbers)
