"""Exponential back-off with jitter. Pure: the random numbers come from a seed."""

import random


class Backoff:
    """Delays in seconds that double from `first` to `maximum`, each drawn from the upper half of its step.

    The draw prevents a thousand links that broke together from reconnecting together. A delay is never longer
    than its step, so that `first` and `maximum` are reliable limits.
    """

    def __init__(self, first: float, maximum: float, seed: str) -> None:
        assert 0 < first <= maximum
        self._first = first
        self._maximum = maximum
        self._random = random.Random(seed)
        self._step = first

    def next(self) -> float:
        """Returns the delay before the next attempt, in seconds."""
        step, self._step = self._step, min(self._step * 2, self._maximum)
        return step * self._random.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Resets the next delay to the shortest step, after a success."""
        self._step = self._first
