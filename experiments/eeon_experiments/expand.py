"""Expansion of an experiment to points: every combination of its sweeps, resolved and checked before any run.

All mistakes of a file are reported at once, each at its line and only once, even if it affects many runs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from math import prod
from typing import TypeGuard

from eeon_control import config as configs
from eeon_control.errors import InputError, Problem
from eeon_control.errors import Place as FilePlace
from eeon_control.sources import Document, KeyPath
from eeon_control.validation import did_you_mean
from pydantic import TypeAdapter, ValidationError

from eeon_experiments import overlay
from eeon_experiments.files import AxisName, Experiment, Seeds
from eeon_experiments.resolve import Resolver, Run
from eeon_experiments.results import Place, place_of
from eeon_experiments.settings import RunSettings
from eeon_experiments.versions import Versions

POINTS_LIMIT = 100_000
_PROBLEMS_SHOWN = 40
_SEED, _SEEDS = "seed", "seeds"
_NEVER_MARKED = (
    "tcp: no run has a TCP with ECN, so nothing is marked, although `config` has ports that mark; set "
    "algorithm to dctcp or ecn"
)


@dataclass(frozen=True)
class Point:
    """One combination of axes' values with one seed, and its run. An axis that its sweep does not use is
    None. Two points may share a run."""

    axes: dict[AxisName, str | None]
    run: Run

    @property
    def place(self) -> Place:
        """The point and the seed."""
        return place_of(self.axes, self.run.seed)


@dataclass(frozen=True)
class _Sweep:
    values: dict[str, list[str]]
    seeds: list[int]

    def combinations(self, axes: Iterable[str]) -> Iterator[tuple[str | None, ...]]:
        """Yields the values of all axes, the last one changing fastest."""
        return product(*(self.values.get(axis, [None]) for axis in axes))

    @property
    def size(self) -> int:
        return len(self.seeds) * prod(map(len, self.values.values()))


def expand(
    experiment: Experiment,
    versions: Versions,
    *,
    quick: bool = False,
    seeds: list[int] | None = None,
    drawn: bool = True,
) -> list[Point]:
    """Returns all points in the order of the file, the seed changing fastest; `seeds` replaces the file's.

    Raises InputError with every mistake of the file and of its runs; without `drawn`, not of workloads.
    """
    return _Expansion(experiment, versions, quick, seeds, drawn).points()


def advice(points: Iterable[Point]) -> list[str]:
    """Returns advice about allowed but unusual settings of the points' runs, each sentence once, and the
    warnings about their configurations."""
    runs = [point.run for point in points]  # equal runs may be of other lines
    found: set[str] = set()
    can_be_marked = False
    for run in runs:
        settings = RunSettings.model_validate(run.settings)
        found.update(settings.advice())
        found.update(_without_class(settings, run))
        can_be_marked = can_be_marked or settings.can_be_marked()
    if not can_be_marked and any(run.marks_in_vain for run in runs):
        found.add(_NEVER_MARKED)
    return [*sorted(found), *config_warnings(runs)]


def config_warnings(runs: Iterable[Run]) -> list[str]:
    """Returns the warnings about the runs' configurations, each once, with all places that cause it."""
    places: dict[str, dict[FilePlace, str]] = {}
    for run in runs:
        for one in run.warnings:
            places.setdefault(one.rule, {}).setdefault(one.place, one.key)
    found = []
    for rule, keys in places.items():
        (first, key), *more = keys.items()
        others = [f"line {at.line}" if at.file == first.file else str(at) for at, _ in more]
        also = f" (also at {', '.join(others)})" if others else ""
        found.append(f"{first}: {f'{key}: ' if key else ''}{rule}{also}")
    return found


def _without_class(settings: RunSettings, run: Run) -> Iterator[str]:
    """Yields a sentence for each application whose DSCP no class of the configuration has."""
    named = {name: one.dscp for name, one in settings.workload.applications.items() if one.dscp}
    if not named:
        return
    classes = configs.from_value(run.config, run.source).classes
    known = {dscp for one in classes.values() for dscp in one.dscp}
    for name, dscp in named.items():
        if dscp not in known:
            has = f"which has {', '.join(map(str, sorted(known)))}" if known else "which has no `classes`"
            yield (
                f"workload.applications.{name}: dscp {dscp} is in no class of `config`, {has}: its packets "
                "use the default class"
            )


def count(experiment: Experiment, *, quick: bool = False) -> int:
    """Returns the number of points without checking their runs. Raises InputError as `expand` does."""
    return len(combinations(experiment, quick=quick))


def combinations(
    experiment: Experiment, *, quick: bool = False
) -> list[tuple[dict[AxisName, str | None], int]]:
    """Returns the axes' values and the seed of each point without checking their runs. Raises InputError."""
    axes = list(experiment.file.axes)
    found: dict[tuple[str | None, ...], dict[int, None]] = {}
    for sweep in _Expansion(experiment, Versions("", ""), quick, None, False).sweeps():
        for values in sweep.combinations(axes):
            found.setdefault(values, {}).update(dict.fromkeys(sweep.seeds))
    return [(dict(zip(axes, values, strict=True)), seed) for values, seeds in found.items() for seed in seeds]


class _Expansion:
    def __init__(
        self, experiment: Experiment, versions: Versions, quick: bool, seeds: list[int] | None, drawn: bool
    ) -> None:
        self._experiment = experiment
        self._document = experiment.document
        self._file = experiment.file
        self._quick = quick
        self._seeds = seeds
        self._resolver = Resolver(experiment.path.parent, versions, drawn)
        self._problems: dict[tuple[object, ...], Problem] = {}

    def sweeps(self) -> list[_Sweep]:
        if self._quick and self._file.quick is None:
            self._refuse((), f"{self._file.name} has no quick form", "")
        self._check_axes()
        sweeps = list(self._sweeps(self._overlays()))
        self._raise()
        size = sum(sweep.size for sweep in sweeps)
        if size > POINTS_LIMIT:
            self._refuse(("sweeps",), f"the sweeps have {size} runs; the limit is {POINTS_LIMIT}", "")
            self._raise()
        return sweeps

    def points(self) -> list[Point]:
        sweeps = self.sweeps()
        overlays = self._overlays()
        paths: list[KeyPath] = [("base",), ("quick", "base")] if self._quick else [("base",)]
        base = overlay.overlaid(overlay.part(self._document, path) for path in paths)
        points: dict[Place, Point] = {}
        for sweep in sweeps:
            for axes, document in self._combinations(base, overlays, sweep):
                for run in self._resolved(document, sweep.seeds):
                    points.setdefault((point := Point(axes, run)).place, point)
        self._raise()
        if not points:
            self._refuse(("sweeps",), "nothing is left to run", "")
            self._raise()
        return list(points.values())

    def _check_axes(self) -> None:
        for name in self._file.axes.keys() & {_SEED, _SEEDS}:
            rule = "seeds are not an axis; give them under the key seeds, or name the axis otherwise"
            self._refuse(("axes", name), rule, "")
        if not (self._quick and self._file.quick):
            return
        for axis, values in self._file.quick.axes.items():
            path: KeyPath = ("quick", "axes", axis)
            if axis not in self._file.axes:
                self._unknown(path, "axis", axis, list(self._file.axes))
            elif not (isinstance(values, dict) and values) and not _is_names(values):
                self._refuse(path, "must be a list of values, or a mapping of values to overlays")
            elif isinstance(values, list):
                self._known(path, axis, values, list(self._file.axes[axis]))

    def _overlays(self) -> dict[str, dict[str, list[Document]]]:
        """Returns the overlays on the base, in order, by axis and value."""
        found: dict[str, dict[str, list[Document]]] = {}
        restricted = self._file.quick.axes if self._quick and self._file.quick else {}
        for axis, values in self._file.axes.items():
            own = {value: [overlay.part(self._document, ("axes", axis, value))] for value in values}
            only = restricted.get(axis)
            if isinstance(only, list):
                own = {value: own[value] for value in own if value in only}
            elif isinstance(only, dict):
                path: KeyPath = ("quick", "axes", axis)
                own = {
                    value: [*own.get(value, []), overlay.part(self._document, (*path, value))]
                    for value in only
                }
            found[axis] = own
        return found

    def _sweeps(self, overlays: dict[str, dict[str, list[Document]]]) -> Iterator[_Sweep]:
        quick = self._file.quick if self._quick else None
        path: KeyPath = ("quick", "sweeps") if quick and quick.sweeps else ("sweeps",)
        given = quick.sweeps if quick and quick.sweeps else self._file.sweeps
        default = self._seeds or (quick.seeds if quick and quick.seeds else self._file.seeds)
        if not given:
            yield _Sweep({axis: list(values) for axis, values in overlays.items()}, default)
        thinned = bool(quick and not quick.sweeps)
        for index, sweep in enumerate(given):
            values: dict[str, list[str]] = {}
            for axis, wanted in sweep.items():
                place = (*path, index, axis)
                if axis == _SEEDS:
                    continue
                if axis not in overlays:
                    self._unknown(place, "axis", axis, list(overlays))
                elif wanted == "all":
                    values[axis] = list(overlays[axis])
                elif not _is_names(wanted):
                    self._refuse(place, "must be `all` or a list of values")
                else:
                    # The full sweeps may name values that a quick form omits; its own sweeps may not.
                    left_out = list(self._file.axes[axis]) if thinned else []
                    self._known(place, axis, wanted, [*overlays[axis], *left_out])
                    values[axis] = [one for one in wanted if one in overlays[axis] or not thinned]
            if all(values.values()):
                own = None if thinned else self._own_seeds(sweep, (*path, index, _SEEDS))
                yield _Sweep(values, self._seeds or own or default)

    def _own_seeds(self, sweep: Mapping[str, object], path: KeyPath) -> list[int] | None:
        if _SEEDS not in sweep:
            return None
        given = self._document.get(path)
        try:
            return list(TypeAdapter(Seeds).validate_python(given))
        except ValidationError:
            self._refuse(path, "must be a list of whole numbers from 0")
            return None

    def _combinations(
        self, base: Document, overlays: dict[str, dict[str, list[Document]]], sweep: _Sweep
    ) -> Iterator[tuple[dict[str, str | None], Document]]:
        for values in sweep.combinations(overlays):
            chosen = dict(zip(overlays, values, strict=True))
            over = [overlays[axis][value] for axis, value in chosen.items() if value is not None]
            yield chosen, overlay.overlaid([base, *chain.from_iterable(over)])

    def _resolved(self, document: Document, seeds: list[int]) -> list[Run]:
        try:
            return self._resolver.resolve(document, seeds, str(self._experiment.path))
        except InputError as error:
            for problem in error.problems:
                self._note(problem)
            return []

    def _known(self, path: KeyPath, axis: str, values: list[str], known: list[str]) -> None:
        for index, value in enumerate(values):
            if value not in known:
                self._unknown((*path, index), f"value of axis {axis}", value, list(dict.fromkeys(known)))

    def _unknown(self, path: KeyPath, what: str, name: str, known: list[str]) -> None:
        near = did_you_mean(name, known)
        self._refuse(path, f"unknown {what}{near}; there are {', '.join(known) or 'none'}", name)

    def _refuse(self, path: KeyPath, rule: str, value: object = None) -> None:
        self._note(self._document.problem(path, rule, value))

    def _note(self, problem: Problem) -> None:
        self._problems.setdefault((problem.place, problem.key, problem.rule), problem)

    def _raise(self) -> None:
        if self._problems:
            raise InputError(list(self._problems.values())[:_PROBLEMS_SHOWN])


def _is_names(given: object) -> TypeGuard[list[str]]:
    """Returns whether an entry of a sweep is a list of names; numbers have become text."""
    return isinstance(given, list) and bool(given) and all(isinstance(one, str) for one in given)
