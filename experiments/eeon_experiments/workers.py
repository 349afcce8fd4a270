"""Runs in worker processes."""

from collections.abc import Callable, Generator, Iterable
from contextlib import closing

from eeon_tools.workers import Pool

from eeon_experiments.resolve import Run
from eeon_experiments.store import Outcome
from eeon_experiments.versions import commit, versions

Work = Callable[[Run], Outcome]


def pool(work: Work, count: int) -> Pool[Run, Outcome]:
    """Returns workers that are kept between batches of runs. `work` must be importable by name."""
    return Pool(work, count, _died)


def run_all(runs: Iterable[Run], work: Work, count: int) -> Generator[Outcome, None, None]:
    """Executes all runs, `count` at a time, and yields outcomes as they arrive. Then the workers end."""
    with closing(pool(work, count)) as workers:
        yield from workers.run(runs)


def _died(run: Run, cause: str) -> Outcome:
    found = {"status": "failed", "error": f"the process of this run {cause}"}
    return Outcome(run.id, run.seed, versions(), commit(), found)
