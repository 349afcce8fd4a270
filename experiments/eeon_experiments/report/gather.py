"""Families from files: the experiment's file, its results, findings and judges. No other module of the report
reads files."""

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eeon_control.errors import EeonError
from eeon_control.validation import did_you_mean
from eeon_tools.errors import InputError, ToolsError

from eeon_experiments import files, folder, store
from eeon_experiments import setup as setups
from eeon_experiments.claims import texts
from eeon_experiments.expand import Point, expand
from eeon_experiments.report import elsewhere, points
from eeon_experiments.report.family import FULL, QUICK, Family, judged
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Results
from eeon_experiments.sweep import of_file
from eeon_experiments.versions import versions

_NAMED = 12
"""Maximum number of missing runs that are named."""


def family(name: str, results_folder: Path, form: str = FULL) -> Family:
    """Returns one experiment with the results in its folder `RESULTS/NAMEform`; without the folder, nothing
    is measured. A full form also has its claims in the quick form, if that has results beside it.

    Raises InputError for files that cannot be read.
    """
    experiment = files.load(name)
    place = results_folder / f"{experiment.name}{form}"
    is_there = (place / store.MANIFEST).is_file()
    results = store.load(place) if is_there else Results([])
    origin: Mapping[str, Any] = store.read_manifest(place) if is_there else {"quick": form == QUICK}
    quick = bool(origin["quick"])
    store.Store(place, experiment.name, quick).check()
    declared = {axis: list(values) for axis, values in experiment.file.axes.items()}
    planned: int | None = None
    not_run: list[str] = []
    beyond = 0
    with contextlib.suppress(ToolsError, EeonError):  # The rows of a file that no longer expands are shown.
        points_of_file = expand(experiment, versions(), quick=quick)
        results = of_file(results, experiment, points_of_file, versions(), quick=quick)
        planned, not_run, beyond = _planned(points_of_file, results)
    own = experiment.folder
    claims = folder.claims(own) if own else ()
    beside = place.with_name(place.name + QUICK)
    scaled_down = beside if not quick and (beside / store.MANIFEST).is_file() else None
    reasons = texts.findings(own) if own else {}
    known = [claim.id for claim in claims]
    for id in reasons:
        if id not in known:
            rule = f"is not a claim of this experiment{did_you_mean(id, known)}"
            raise InputError(str(experiment.path.with_name(texts.FINDINGS)), id, rule)
    judgments = judged(claims, results, reasons, None if scaled_down is None else store.load(scaled_down))
    forms = (QUICK,) if quick else (FULL, QUICK)
    tried = elsewhere.judged_elsewhere(experiment.name, claims, results_folder, forms)
    judgments = [replace(claim, elsewhere=tried.get(claim.id, ())) for claim in judgments]
    return Family(
        name=experiment.name,
        given=name,
        results=place,
        title=experiment.file.title,
        description=experiment.file.description,
        quick=quick,
        claims=judgments,
        scaled_down=scaled_down,
        runs=Runs(results.finished, declared if not quick else {}),
        rows=results.rows,
        base=_base(experiment.path),
        setup=setups.load(own, experiment.document) if own else setups.Setup(),
        draw=(folder.figures(own) if own else None) or points.drawings,
        planned=planned,
        not_run=not_run,
        beyond=beyond,
        refused=results.refused,
        origin=origin,
    )


def _planned(points: Sequence[Point], results: Results) -> tuple[int, list[str], int]:
    """Returns the number of points in the file, the points without a row in words, and the number of rows at
    other points."""
    there = {row.place for row in results.rows}
    planned = {
        point.place: {axis: value for axis, value in point.axes.items() if value is not None}
        | {"seed": str(point.run.seed)}
        for point in points
    }
    missing = [one for place, one in planned.items() if place not in there]
    shown = list(_in_words(missing, list(planned.values())))
    if len(shown) > _NAMED:
        shown[_NAMED:] = [f"and {len(shown) - _NAMED} more"]
    return len(points), shown, len(there - planned.keys())


def _in_words(missing: Sequence[dict[str, str]], planned: Sequence[dict[str, str]]) -> Iterator[str]:
    """Yields the missing points; if all points with an axis value are missing, that value replaces them."""
    left = list(missing)
    whole = Counter(pair for one in planned for pair in one.items())
    for (axis, value), count in whole.most_common():
        of_value = [one for one in missing if one.get(axis) == value]
        told = [one for one in left if one.get(axis) == value]
        if told and len(of_value) == count > 1:
            left = [one for one in left if one.get(axis) != value]
            yield f"all {count} of {axis} {value}"
    yield from map(words_of, left)


def words_of(axes: dict[str, str]) -> str:
    return ", ".join(f"{axis} {value}" for axis, value in axes.items()) or "the only point"


def _base(path: Path) -> str:
    """Returns the text of `base` in the file, comments included."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next((index for index, line in enumerate(lines) if re.match(r"base:\s*(#.*)?$", line)), None)
    if start is None:
        return ""
    end = next(
        (index for index in range(start + 1, len(lines)) if lines[index] and not lines[index][0].isspace()),
        len(lines),
    )
    return "\n".join(lines[start:end]).rstrip()
