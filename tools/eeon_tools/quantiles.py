"""Quantiles of measured values."""

import math
from collections.abc import Sequence
from typing import TypeVar

_Number = TypeVar("_Number", int, float)


def by_rank(ordered: Sequence[_Number], share: float) -> _Number:
    """Returns the smallest value of `ordered` (not empty) that at least `share` of them do not exceed."""
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]
