"""Functions that workers execute in tests instead of a twin, importable by name for worker processes."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from eeon_experiments.resolve import Run
from eeon_experiments.store import Outcome
from eeon_experiments.versions import Commit, Versions

VERSIONS = Versions("p" * 64, "e" * 64)
FOLDER = "EEON_TEST_FOLDER"


def outcome(run: Run, versions: Versions = VERSIONS, **measured: Any) -> Outcome:
    """Returns the outcome of a run that has finished unless `measured` says something else."""
    return Outcome(run.id, run.seed, versions, Commit("c" * 40, False), {"status": "finished", **measured})


def _mark(run: Run) -> Path:
    """Returns the path of a file that marks this run as started."""
    path = Path(os.environ[FOLDER]) / run.id
    path.write_text(str(os.getpid()))
    return path


def at_once(run: Run) -> Outcome:
    return outcome(run, runtime_seconds=float(run.seed), flows=os.getpid())


def weighed(run: Run) -> Outcome:
    """Finishes, and reports one second plus the first two hexadecimal digits of its id."""
    return outcome(run, cpu_seconds=1.0 + int(run.id[:2], 16), peak_rss_bytes=250_000_000)


def noted(run: Run) -> Outcome:
    _mark(run)
    return at_once(run)


def seed_two_fails(run: Run) -> Outcome:
    if run.seed == 2:
        return outcome(run, status="failed", error="seed 2 is not liked")
    return at_once(run)


def seed_two_is_killed(run: Run) -> Outcome:
    """Kills its process for seed 2, as when memory runs out."""
    if run.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return at_once(run)


def slow_after_two(run: Run) -> Outcome:
    """Finishes at once for the first two runs; later ones take a minute."""
    folder = Path(os.environ[FOLDER])
    started = len(list(folder.iterdir()))
    _mark(run)
    if started >= 2:
        time.sleep(60)
    return at_once(run)
