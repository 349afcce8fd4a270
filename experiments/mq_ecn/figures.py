"""A service's rate, as a number of a run."""

from eeon_experiments.results import Row


def _rate(run: Row) -> float | None:
    seconds = run.number("runtime_seconds")
    return None if not seconds else 1 / seconds


NUMBERS = {"rate": _rate}
