"""Runs of named settings, with the experiments' points, workers and store.

Points have two axes, `setting` and `workload`. Runs in the store are not repeated, so that an interrupted
search can continue.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from eeon_control.errors import InputError, Problem
from eeon_control.sources import Document, Places

from eeon_experiments import overlay
from eeon_experiments.expand import Point
from eeon_experiments.resolve import Resolver, Run
from eeon_experiments.results import Results, Row
from eeon_experiments.store import Outcome, Store
from eeon_experiments.tune import knobs
from eeon_experiments.tune.files import Tune
from eeon_experiments.tune.scores import Rows
from eeon_experiments.versions import Versions

WORKLOAD, SETTING = "workload", "setting"
_BASELINE_CONFIG = "drop_tail"

Work = Callable[[Iterable[Run]], Generator[Outcome, None, None]]
"""Executes runs, and yields outcomes as they arrive: `workers.Pool.run`, or a Dask cluster's."""


@dataclass
class Bench:
    """Settings by name, and their runs' outcomes. `ended` is called after each new run."""

    tune: Tune
    store: Store
    versions: Versions
    work: Work
    ended: Callable[[], None] = lambda: None
    parts: dict[str, Sequence[Document]] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    """Processor time of all requested runs, executed now or earlier."""
    runs: int = 0
    """Number of requested runs, except those in the small form."""
    _outcomes: dict[str, Outcome] = field(default_factory=dict)
    _points: dict[tuple[str, int, bool], list[Point]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._resolver = Resolver(self.tune.path.parent, self.versions)

    def add(self, name: str, *over: Document) -> None:
        """Adds a setting: its overlays on `base` and the workload, in order.

        Raises InputError, and keeps nothing, if the setting cannot be run.
        """
        self.parts[name] = over
        try:
            self.points(name, self.tune.file.seeds[0])
        except Exception:
            del self.parts[name]
            raise

    def forget(self, name: str) -> None:
        """Removes a setting that was only checked."""
        self.parts.pop(name, None)
        self._points = {key: points for key, points in self._points.items() if key[0] != name}

    def points(self, name: str, seed: int, *, small: bool = False) -> list[Point]:
        """Returns the points of a setting with a seed, one per workload, in the small form if `small`."""
        if (name, seed, small) not in self._points:
            seeds = [*dict.fromkeys([*self.tune.file.seeds, *self.tune.file.held_back])]
            found: list[Point] = []
            problems: list[Problem] = []
            for workload in self.tune.file.workloads:
                document = self._document(name, workload, small=small)
                try:
                    runs = self._resolver.resolve(document, seeds, str(self.tune.path))
                except InputError as error:
                    problems += error.problems
                else:
                    found += [Point({WORKLOAD: workload, SETTING: name}, run) for run in runs]
            if problems:
                raise InputError(problems)
            for point in found:
                self._points.setdefault((name, point.run.seed, small), []).append(point)
        return self._points[name, seed, small]

    def rows(
        self, names: Sequence[str], seeds: Sequence[int], *, small: bool = False
    ) -> dict[str, Rows | str]:
        """Executes missing runs. Returns for each setting its rows, or why one of its runs failed."""
        points = {
            name: [one for seed in seeds for one in self.points(name, seed, small=small)] for name in names
        }
        todo = {
            one.run.id: one.run
            for found in points.values()
            for one in found
            if not self._known(one.run, small=small)
        }
        if todo:
            with closing(self.work(todo.values())) as outcomes:
                for outcome in outcomes:
                    self.store.write(outcome)
                    self._keep(outcome, small=small)
                    self.ended()
        return {name: self._rows(found) for name, found in points.items()}

    def collect(self) -> Results:
        """Writes rows and manifest of all runs in their full form, and returns the results."""
        found = [point for (*_, small), points in self._points.items() if not small for point in points]
        return self.store.collect(found, self.versions)

    def _known(self, run: Run, *, small: bool) -> bool:
        if run.id not in self._outcomes:
            outcome = self.store.of_run(run, self.versions)
            if outcome is not None and outcome.finished:
                self._keep(outcome, small=small)
        return run.id in self._outcomes

    def _keep(self, outcome: Outcome, *, small: bool) -> None:
        self._outcomes[outcome.run_id] = outcome
        self.runs += not small
        took = outcome.measured.get("cpu_seconds")
        self.cpu_seconds += float(took) if isinstance(took, int | float) else 0.0

    def _rows(self, points: Iterable[Point]) -> Rows | str:
        found: dict[tuple[str, int], Row] = {}
        for point in points:
            outcome = self._outcomes[point.run.id]
            if not outcome.finished:
                return f"{point.axes[WORKLOAD]}, seed {point.run.seed}: {outcome.measured.get('error')}"
            found[str(point.axes[WORKLOAD]), point.run.seed] = Row(outcome.measured)
        return found

    def _document(self, name: str, workload: str, *, small: bool) -> Document:
        document = self.tune.document
        base = overlay.part(document, ("base",))
        if "config" not in base.value:
            base = base.with_value(("config",), [_BASELINE_CONFIG])
        found = [base, overlay.part(document, ("workloads", workload))]
        found += [self.tune.measured[workload]] if workload in self.tune.measured else []
        found += [overlay.part(document, ("small",))] if small else []
        return overlay.overlaid([*found, *self.parts[name]])


def candidate(tune: Tune) -> Document:
    """Returns the overlay below the knobs' values for every setting that is tried."""
    return overlay.part(tune.document, ("candidate",))


def of_setting(tune: Tune, setting: Mapping[str, object]) -> Document:
    """Returns the knobs' values, each with the place of its knob in the file."""
    at_all = Places(tune.document.place(("knobs",)))
    marked = Document({}, at_all)
    for knob in tune.space.knobs:
        place = tune.document.place(("knobs", knob.name, "path"))
        alone = knobs.overlay(knobs.Space((knob,)), setting)
        marked = marked.merged_with(Document(alone, Places(place)))
    places = Places(at_all.here, {"config": Places(at_all.here, {0: marked.places})})
    return Document({"config": [knobs.overlay(tune.space, setting)]}, places)
