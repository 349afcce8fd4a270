"""Families from files: the experiment's file, its results, findings and judges. No other module of the report
reads files."""

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from eeon_control.errors import EeonError
from eeon_tools.errors import ToolsError

from eeon_experiments import files, folder, store
from eeon_experiments import setup as setups
from eeon_experiments.claims import texts
from eeon_experiments.expand import Point, expand
from eeon_experiments.report import elsewhere, points
from eeon_experiments.report.family import Failure, Family, judged
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Results
from eeon_experiments.sweep import of_file
from eeon_experiments.versions import versions

_NAMED = 12
"""Maximum number of missing runs that are named."""
_DRAWN_WITH = ("eeon-engine", "eeon-control", "eeon-tools", "eeon-experiments", "matplotlib")
FULL, QUICK = "", "-quick"
"""Suffixes of the folders of results by form."""


def family(name: str, results_folder: Path, form: str = FULL) -> Family:
    """Returns one experiment with the results in its folder `RESULTS/NAMEform`; without the folder, nothing
    is measured. A full form also has its claims in the quick form, if that has results beside it.

    Raises InputError for files that cannot be read.
    """
    experiment = files.load(name)
    place = results_folder / f"{experiment.name}{form}"
    results, manifest = _results(place)
    quick = bool(manifest["quick"]) if manifest is not None else form == QUICK
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
    scaled_down: Path | None = place.with_name(place.name + QUICK)
    if quick or not (place.with_name(place.name + QUICK) / store.MANIFEST).is_file():
        scaled_down = None
    reasons = texts.findings(own) if own else {}
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
        failures=[Failure(row.used_axes, row.seed, str(row.get("error") or "")) for row in results.failed],
        refused=results.refused,
        program_digest=str((manifest and manifest["program_digest"]) or ""),
        engine_digest=str((manifest and manifest["engine_digest"]) or ""),
        commits=[str(commit) for commit in manifest.get("commits", [])] if manifest is not None else [],
        versions=_packages(),
    )


def _results(place: Path) -> tuple[Results, store.Manifest | None]:
    if not (place / store.MANIFEST).is_file():
        return Results([], []), None
    return store.load(place), store.read_manifest(place)


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


def _packages() -> dict[str, str]:
    """Returns the versions of the packages that computed and drew the page."""
    found = {}
    for name in _DRAWN_WITH:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
