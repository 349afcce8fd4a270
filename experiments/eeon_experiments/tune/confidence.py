"""Comparison of two settings on held-back seeds, seed by seed. Pure functions.

The same seed gives both settings the same workload, so that the difference for one seed does not contain the
variation between workloads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

# Student's t, 97.5 %, by degrees of freedom (any table of it); between two entries, the smaller one applies.
_T = {
    1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228,
    12: 2.179, 15: 2.131, 20: 2.086, 30: 2.042, 60: 2.000, 120: 1.980,
}  # fmt: skip

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
        count = len(found)
        if any(math.isinf(one) for one in found) or count < 2:
            mean = math.fsum(found) / count if count else 0.0
            return cls(mean, -math.inf, math.inf, count)
        mean = math.fsum(found) / count
        deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in found) / (count - 1))
        margin = _t(count - 1) * deviation / math.sqrt(count)
        return cls(mean, mean - margin, mean + margin, count)

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


def _t(freedom: int) -> float:
    return _T[max(one for one in _T if one <= freedom)]


def flat_range(verdicts: Sequence[Verdict], best: int) -> tuple[int, int]:
    """Returns the first and last index around `best` between which no value is known to differ from it."""
    low = high = best
    while low > 0 and verdicts[low - 1] in ("same", "unclear"):
        low -= 1
    while high < len(verdicts) - 1 and verdicts[high + 1] in ("same", "unclear"):
        high += 1
    return low, high
