"""Sweeps of many runs: existing results are kept, missing and failed runs are executed, each result is
stored.

A sweep that is interrupted in any way loses at most the runs in progress; the same call continues it.
"""

import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from eeon_tools.errors import InputError

from eeon_experiments import columns, dask_workers, shipped, store, workers
from eeon_experiments.expand import Point, expand
from eeon_experiments.files import Experiment
from eeon_experiments.resolve import Run
from eeon_experiments.results import Results, Row
from eeon_experiments.run import run_one
from eeon_experiments.store import Outcome, Store
from eeon_experiments.versions import Versions

_COLLECT_SECONDS = 15.0
"""Longest interval at which a sweep writes rows, so that intermediate results can be read."""
_COLLECT_SHARE = 0.2
"""Largest share of a sweep's time for that; rows that are soon written are never far behind."""


@dataclass(frozen=True)
class State:
    """The runs of a selection by state, in the order of the file."""

    finished: list[Run]
    failed: list[tuple[Run, str]]
    missing: list[Run]

    @property
    def to_run(self) -> list[Run]:
        """The runs that a sweep executes, including those that failed."""
        return [*self.missing, *(run for run, _ in self.failed)]


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of runs, from rows of earlier runs: the rows of the same point if there are any, else
    the mean of all rows. `cpu_seconds` is the total, `peak_rss_bytes` the maximum of one process. `rows` is
    the number of rows used, and `folder` their place."""

    cpu_seconds: float
    peak_rss_bytes: int
    rows: int
    folder: Path


class Sweep:
    """An experiment in one form, with the results of its folder. `seeds` replaces the file's seeds, `only`
    restricts axes to some values. Raises InputError for every mistake in the file, for a selection that does
    not match, and for a folder with other results."""

    def __init__(
        self,
        experiment: Experiment,
        folder: Path,
        versions: Versions,
        *,
        quick: bool = False,
        seeds: list[int] | None = None,
        only: dict[str, list[str]] | None = None,
    ) -> None:
        self._experiment = experiment
        self._versions = versions
        self._quick = quick
        self._expanded: dict[tuple[int, ...] | None, list[Point]] = {}
        self.store = Store(folder, experiment.name, quick)
        self.points = _selected(self._expand(seeds, drawn=True), experiment, only or {})

    def state(self) -> State:
        found = State([], [], [])
        runs = {point.run.id: point.run for point in self.points}
        for run in runs.values():
            outcome = self.store.of_run(run, self._versions)
            if outcome is None:
                found.missing.append(run)
            elif outcome.finished:
                found.finished.append(run)
            else:
                found.failed.append((run, str(outcome.measured.get("error", ""))))
        return found

    def not_used(self) -> list[str]:
        """Returns sentences about results of other versions in the folder, of which it makes no rows."""
        return [f"not used: {line}" for line in self.store.of_other_versions(self._versions)]

    def estimate(self) -> Estimate | None:
        """Returns the estimated cost of the remaining runs; None if it cannot be estimated.

        The estimate uses the rows of this folder, or else the published rows of the same form.
        """
        published = shipped.published(self._experiment.name, self._quick)
        for folder in (self.store.folder, *([] if published is None else [published])):
            rows = store.load(folder).finished if (folder / store.MANIFEST).is_file() else []
            known = [row for row in rows if row.get("cpu_seconds") is not None]
            if known:
                return self._estimate(known, folder)
        return None

    def _estimate(self, rows: Sequence[Row], folder: Path) -> Estimate:
        by_point: dict[frozenset[tuple[str, str]], list[float]] = {}
        for row in rows:
            by_point.setdefault(row.place[0], []).append(row.number("cpu_seconds") or 0.0)
        every = mean(seconds for taken in by_point.values() for seconds in taken)
        to_run = {run.id for run in self.state().to_run}
        points = {point.run.id: point for point in self.points if point.run.id in to_run}
        taken = (mean(by_point.get(point.place[0], [every])) for point in points.values())
        peak = max(row.number("peak_rss_bytes") or 0 for row in rows)
        return Estimate(math.fsum(taken), int(peak), len(rows), folder)

    def run(
        self,
        *,
        count: int = 1,
        dask: str | None = None,
        work: workers.Work = run_one,
        ended: Callable[[Outcome], None] = lambda outcome: None,
    ) -> Results:
        """Runs what is missing or failed, `count` at a time or on a Dask cluster; calls `ended` with each
        outcome. Writes the rows even if it is interrupted."""
        self.store.claim()
        todo = self.state().to_run
        try:
            if todo:
                outcomes = (
                    dask_workers.run_all(todo, work, dask)
                    if dask is not None
                    else workers.run_all(todo, work, count)
                )
                self._keep(outcomes, ended)
        finally:
            results = self.collect()
        return results

    def collect(self) -> Results:
        """Writes rows and manifest of everything in the folder: all points of the file, with its own seeds
        and those of earlier selections."""
        points = {point.place: point for point in self._expand(None)}
        for point in self._expand(self.store.seeds() or None):
            points.setdefault(point.place, point)
        return self.store.collect(points.values(), self._versions)

    def _expand(self, seeds: list[int] | None, *, drawn: bool = False) -> list[Point]:
        key = None if seeds is None else tuple(seeds)
        if key not in self._expanded:
            self._expanded[key] = expand(
                self._experiment, self._versions, quick=self._quick, seeds=seeds, drawn=drawn
            )
        return self._expanded[key]

    def _keep(self, outcomes: Generator[Outcome, None, None], ended: Callable[[Outcome], None]) -> None:
        due = 0.0
        with closing(outcomes):
            for outcome in outcomes:
                self.store.write(outcome)
                ended(outcome)
                began = time.monotonic()
                if began >= due:
                    self.collect()
                    done = time.monotonic()
                    due = done + min(_COLLECT_SECONDS, (done - began) / _COLLECT_SHARE)


def of_file(
    results: Results, experiment: Experiment, points: Sequence[Point], versions: Versions, *, quick: bool
) -> Results:
    """Returns results without the rows of settings that the file does not have now; `refused` counts them.

    `points` are those of the file. Rows of another version stay: nothing is known of them.
    """
    if results.rows and store.versions_of(results.rows[0]) != versions:
        return results
    runs = {point.place: point.run for point in points}
    if seeds := {row.seed for row in results.rows if row.place not in runs}:
        for point in expand(experiment, versions, quick=quick, seeds=sorted(seeds), drawn=False):
            runs.setdefault(point.place, point.run)

    def is_of_file(row: Row) -> bool:
        run = runs.get(row.place)
        if run is None or row["run_id"] != run.id:
            return False
        return row.get(columns.ENTRIES) in (None, run.entries)

    kept = [row for row in results.rows if is_of_file(row)]
    if len(kept) == len(results.rows):
        return results
    stale = len(results.rows) - len(kept)
    return Results(kept, [*results.refused, f"{stale} {store.OTHER_SETTINGS}"])


def older(folder: Path, rows: Sequence[Row], versions: Versions) -> list[str]:
    """Returns a sentence if a folder's rows are of another program or engine than this one; they are of one.

    Rows without the runs' files are published, and stay as they are.
    """
    if not rows or store.versions_of(rows[0]) == versions or not (folder / store.RUNS).is_dir():
        return []
    return [f"{folder}: {len(rows)} rows of another program or engine; `eeon experiment run` repeats them"]


def _selected(points: list[Point], experiment: Experiment, only: dict[str, list[str]]) -> list[Point]:
    axes = list(experiment.file.axes)
    for axis, values in only.items():
        if axis not in axes:
            raise InputError("--only", axis, f"is not an axis of {experiment.name}; it has {', '.join(axes)}")
        known = dict.fromkeys(point.axes[axis] for point in points)
        for value in values:
            if value not in known:
                there = ", ".join(one for one in known if one is not None)
                raise InputError("--only", f"{axis}={value}", f"is not a value of this axis; it has {there}")
    found = [point for point in points if all(point.axes[axis] in values for axis, values in only.items())]
    if not found:
        raise InputError("--only", " ".join(only), "leaves nothing to run: no point has all of these values")
    return found
