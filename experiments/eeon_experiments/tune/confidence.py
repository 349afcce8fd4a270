"""Comparison of two settings on held-back seeds, seed by seed. Pure functions.

The same seed gives both settings the same workload, so that the difference for one seed does not contain the
variation between workloads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from eeon_experiments.report.comparison import Interval

Verdict = Literal["better", "same", "worse", "unclear"]


@dataclass(frozen=True)
class Difference:
    """The mean of differences by seed, and the 95 % interval of that mean."""

    mean: float
    low: float
    high: float
    seeds: int

    @classmethod
    def of(cls, ours: Mapping[int, float], theirs: Mapping[int, float]) -> Difference:
        """Returns the difference `theirs` - `ours` over their common seeds. Its mean is above zero if ours,
        as losses, are better."""
        found = [theirs[seed] - ours[seed] for seed in sorted(ours) if seed in theirs]
        if any(math.isinf(one) for one in found) or len(found) < 2:
            mean = math.fsum(found) / len(found) if found else 0.0
            return cls(mean, -math.inf, math.inf, len(found))
        of_all = Interval.of(found)
        assert of_all.low is not None and of_all.high is not None, "there are several differences"
        return cls(of_all.mean, of_all.low, of_all.high, len(found))

    def verdict(self, same: float) -> Verdict:
        """Returns `better` if the whole interval is above zero and the mean above `same`, and `worse` for the
        opposite; `same` if the whole interval is between -`same` and `same`; otherwise `unclear`: these seeds
        cannot decide."""
        if self.low > 0 and self.mean > same:
            return "better"
        if self.high < 0 and self.mean < -same:
            return "worse"
        # A small difference is too small to matter even if every seed confirms it.
        return "same" if -same <= self.low and self.high <= same else "unclear"


def flat_range(verdicts: Sequence[Verdict], best: int) -> tuple[int, int]:
    """Returns the first and last index around `best` between which no value is known to differ from it."""
    low = high = best
    while low > 0 and verdicts[low - 1] in ("same", "unclear"):
        low -= 1
    while high < len(verdicts) - 1 and verdicts[high + 1] in ("same", "unclear"):
        high += 1
    return low, high
