"""Finished runs by axis and seed, and numbers over seeds: the data for figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from eeon_tools.errors import ToolsError

from eeon_experiments.results import Row, Spread

Chosen = str | Collection[str] | None
"""A value, one of several values, or None for runs that do not use the axis."""
Metric = str | Callable[[Row], float | None]
"""A column of the rows, or a function that computes a number from one run."""


class AmbiguousRunsError(ToolsError):
    """An error for a point of a figure that fits several runs with one seed: another axis must be named."""


def over(values: Iterable[float]) -> Spread | None:
    """Returns the spread of the values; None if there are none."""
    known = list(values)
    return Spread.of(known) if known else None


class Runs:
    """The finished runs of one experiment, in the order in which they were given.

    `declared` are the axes' values in the experiment's file, so that points that were not run can be found.
    """

    def __init__(self, runs: Iterable[Row], declared: Mapping[str, Sequence[str]] | None = None) -> None:
        self._runs = tuple(runs)
        self._declared = dict(declared or {})

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._runs)

    def seeds(self) -> list[int]:
        """Returns the distinct seeds, ascending."""
        return sorted({run.seed for run in self._runs})

    def values(self, axis: str) -> list[str]:
        """Returns the distinct values of an axis: first in the order of the experiment's file, then in the
        order of the runs."""
        found = (value for run in self._runs if (value := run.axis(axis)) is not None)
        return list(dict.fromkeys([*self._declared.get(axis, ()), *found]))

    def where(self, /, **axes: Chosen) -> Runs:
        """Returns the runs that have one of the given values on every given axis."""
        return Runs((run for run in self._runs if run.fits(axes)), self._declared)

    def of_shared_seeds(self, axis: str) -> Runs:
        """Returns the runs whose seed was run with every value of the axis in these runs, so that a mean over
        ten seeds is not compared with one over three."""
        seeds: dict[str | None, set[int]] = {}
        for run in self._runs:
            seeds.setdefault(run.axis(axis), set()).add(run.seed)
        shared = set.intersection(*seeds.values()) if seeds else set()
        return Runs((run for run in self._runs if run.seed in shared), self._declared)

    def by_seed(self, metric: Metric, /, **axes: Chosen) -> dict[int, float]:
        """Returns the number at one point, by seed, without seeds for which it is unknown.

        Raises AmbiguousRunsError if the point fits several runs with one seed.
        """
        found: dict[int, Row] = {}
        for run in self.where(**axes)._runs:
            other = found.setdefault(run.seed, run)
            if other is not run:
                raise AmbiguousRunsError(_ambiguity(axes, other, run))
        measure = (lambda run: run.number(metric)) if isinstance(metric, str) else metric
        measured = {seed: measure(run) for seed, run in sorted(found.items())}
        return {seed: value for seed, value in measured.items() if value is not None}

    def spread(self, metric: Metric, /, **axes: Chosen) -> Spread | None:
        """Returns the number at one point over its seeds."""
        return over(self.by_seed(metric, **axes).values())

    def ratio(
        self, metric: Metric, base: Mapping[str, Chosen], below: Metric | None = None, /, **axes: Chosen
    ) -> Spread | None:
        """Returns the number at one point as a multiple of the number, or of the number `below`, at another.
        This has the values of `base`, and is otherwise the same point. Seed by seed, over common seeds."""
        upper, lower = self.by_seed(metric, **axes), self.by_seed(below or metric, **{**axes, **base})
        return over(upper[seed] / lower[seed] for seed in upper if lower.get(seed))


def _ambiguity(point: Mapping[str, Chosen], one: Row, other: Row) -> str:
    place = ", ".join(f"{axis} {value}" for axis, value in point.items() if value is not None) or "all runs"
    differ = [axis for axis, value in one.axes.items() if value != other.axis(axis)]
    reason = f"they differ in {' and '.join(differ)}" if differ else "they stand at the same point"
    return f"{place}: several runs of seed {one.seed}: {reason}"
