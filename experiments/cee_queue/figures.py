"""The first finished flow's share of the link, as a number of a run."""

from eeon_experiments.results import Row

from .claims import first_share


def _percent(run: Row) -> float | None:
    share = first_share(run, run.text("axis_case"))
    return None if share is None else 100 * share


NUMBERS = {"first_share_percent": _percent}
