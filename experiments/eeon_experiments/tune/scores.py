"""Conversion of rows to losses, which are multiples of the baseline's numbers with the same workload and
seed, and to violations of limits. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eeon_tools.errors import InputError
from eeon_tools.trace.frames import CLASS_NAMES

from eeon_experiments import columns
from eeon_experiments.results import Row

if TYPE_CHECKING:
    from eeon_experiments.tune.files import LimitEntry, TuneFile

DROPS = "drops"
_DROPPED = tuple(f"{key}_{name}" for key in ("early_dropped", "tail_dropped") for name in CLASS_NAMES)
COLUMNS = (DROPS, *columns.NUMBERS)
"""Valid names in objectives and limits."""

Rows = Mapping[tuple[str, int], Row]
"""The rows of one setting, by workload and seed."""


def value(row: Row, column: str) -> float | None:
    """Returns the number of a column, or of `drops`; None if the run has no such number."""
    if column != DROPS:
        return row.number(column)
    return math.fsum(row.number(name) or 0 for name in _DROPPED)


@dataclass(frozen=True)
class Scale:
    """The conversion of rows to losses: by objective, the workloads with a number, and their weights."""

    file: TuneFile
    baseline: Rows
    counted: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, file: TuneFile, baseline: Rows) -> Scale:
        """Returns a scale for losses against `baseline`. Raises InputError for a column without numbers."""
        counted: dict[str, dict[str, float]] = {}
        for column in [*file.objectives, *file.limits]:
            with_it = {
                workload: file.weights.get(workload, 1.0)
                for workload in file.workloads
                if all(
                    value(row, column) is not None for (name, _), row in baseline.items() if name == workload
                )
            }
            if not with_it:
                where = "objectives" if column in file.objectives else "limits"
                raise InputError(
                    f"{where}.{column}",
                    "",
                    "has no number in any of the workloads: choose a column that they have",
                )
            counted[column] = with_it
        return cls(file, baseline, counted)

    def losses(self, rows: Rows, seed: int) -> list[float]:
        """Returns the losses for one seed, by objective: 1 equals the baseline, and less is better."""
        return [self._loss(rows, column, seed) for column in self.file.objectives]

    def together(self, losses: Sequence[float]) -> float:
        """Returns the losses of several objectives as one number, their weighted mean."""
        weights = [self.file.weights.get(column, 1.0) for column in self.file.objectives]
        return math.fsum(w * one for w, one in zip(weights, losses, strict=True)) / math.fsum(weights)

    def mean(self, rows: Rows, seeds: Sequence[int]) -> list[float]:
        """Returns the mean losses over seeds, for each objective."""
        by_seed = [self.losses(rows, seed) for seed in seeds]
        return [math.fsum(one) / len(one) for one in zip(*by_seed, strict=True)]

    def alone(self, rows: Rows, seeds: Sequence[int]) -> dict[str, float]:
        """Returns the losses of each workload's own objectives as one number, the mean over seeds."""
        found = {}
        for workload in self.file.workloads:
            weights = {
                column: self.file.weights.get(column, 1.0)
                for column in self.file.objectives
                if workload in self.counted[column]
            }
            if weights:
                total = math.fsum(
                    weight * self._of(rows, column, workload, seed)
                    for column, weight in weights.items()
                    for seed in seeds
                )
                found[workload] = total / math.fsum(weights.values()) / len(seeds)
        return found

    def _loss(self, rows: Rows, column: str, seed: int) -> float:
        weights = self.counted[column]
        total = math.fsum(
            weight * self._of(rows, column, workload, seed) for workload, weight in weights.items()
        )
        return total / math.fsum(weights.values())

    def _of(self, rows: Rows, column: str, workload: str, seed: int) -> float:
        ours, theirs = (value(one[workload, seed], column) for one in (rows, self.baseline))
        if ours is None or theirs is None:
            # This run lacks a number of the baseline, for example because no transfer of the class ended.
            return math.inf
        # There are no multiples of zero: 0 equals the baseline, and each additional one is worse.
        ratio = ours / theirs if theirs else 1 + ours
        return ratio if self.file.objectives[column] == "least" else 2 - ratio

    def broken(self, rows: Rows, seeds: Sequence[int]) -> dict[str, float]:
        """Returns the excess over each limit: 0 or less if the limit holds."""
        return {
            f"{column} {rule}": excess
            for column, limit in self.file.limits.items()
            for rule, excess in self._excesses(limit, column, rows, seeds)
        }

    def _excesses(
        self, limit: LimitEntry, column: str, rows: Rows, seeds: Sequence[int]
    ) -> list[tuple[str, float]]:
        found = []
        for workload in self.counted[column]:
            numbers = [value(rows[workload, seed], column) for seed in seeds]
            # A run without the number breaks every limit.
            high, low = ([end if one is None else one for one in numbers] for end in (math.inf, -math.inf))
            theirs = math.fsum(value(self.baseline[workload, seed], column) or 0.0 for seed in seeds)
            at = f" ({workload})" if len(self.file.workloads) > 1 else ""
            if limit.at_most is not None:
                found.append((f"at most {limit.at_most:g}{at}", max(high) - limit.at_most))
            if limit.at_least is not None:
                found.append((f"at least {limit.at_least:g}{at}", limit.at_least - min(low)))
            if limit.above_baseline is not None:
                excess = (math.fsum(high) - theirs * (1 + limit.above_baseline)) / len(seeds)
                found.append((f"at most {limit.above_baseline:.4g} above the baseline{at}", excess))
            if limit.below_baseline is not None:
                excess = (theirs * (1 - limit.below_baseline) - math.fsum(low)) / len(seeds)
                found.append((f"at most {limit.below_baseline:.4g} below the baseline{at}", excess))
        return found
