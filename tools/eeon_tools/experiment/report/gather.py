"""Families from the disk: the experiment's file, its results, its findings, its judges. The report's only
edge that reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from eeon_control.errors import EeonError

from eeon_tools.errors import ToolsError
from eeon_tools.experiment import claims, files, store
from eeon_tools.experiment.expand import expand
from eeon_tools.experiment.report import findings, readme
from eeon_tools.experiment.report.family import Failure, Family, judged, runs_of, with_scaled_down
from eeon_tools.experiment.results import Results
from eeon_tools.experiment.versions import versions

_NAMED = 12
"""Runs that are missing are named up to this number."""


QUICK = "-quick"
"""Behind the name of an experiment's folder of results: its scaled-down form."""


def family(name: str, results_folder: Path, form: str = "") -> Family:
    """One experiment with what its folder of results holds, `RESULTS/NAMEform`; nothing measured where there
    is none. A full form tells of its claims in the quick form, too, where that has results beside it.

    Raises InputError for files that cannot be read.
    """
    experiment = files.load(name)
    folder = experiment.path.parent
    place = results_folder / f"{experiment.name}{form}"
    results, manifest = _results(place)
    quick = bool(manifest.get("quick", form == QUICK))
    declared = {axis: list(values) for axis, values in experiment.file.axes.items()}
    planned, not_run = _planned(experiment, results, quick)
    against, found = claims.of(experiment.name), findings.load(folder)
    verdicts = judged(against, results, found)
    scaled_down = place.with_name(place.name + QUICK) if not quick else None
    if scaled_down is not None and (scaled_down / store.MANIFEST).is_file():
        verdicts = with_scaled_down(verdicts, judged(against, store.load(scaled_down), {}))
    else:
        scaled_down = None
    return Family(
        name=experiment.name,
        results=place,
        title=experiment.file.title,
        description=experiment.file.description,
        quick=quick,
        claims=verdicts,
        scaled_down=scaled_down,
        runs=runs_of(results.finished, declared if not quick else {}),
        rows=results.rows,
        base=_base(experiment.path),
        readme=readme.load(folder),
        planned=planned,
        not_run=not_run,
        failures=[
            Failure(_used(row.axes), row["seed"], str(row.get("error") or "")) for row in results.failed
        ],
        refused=results.refused,
        program_digest=str(manifest.get("program_digest") or ""),
        engine_digest=str(manifest.get("engine_digest") or ""),
        commits=[str(commit) for commit in manifest.get("commits", [])],
        versions=_packages(),
    )


def _results(folder: Path) -> tuple[Results, dict[str, Any]]:
    if not (folder / store.MANIFEST).is_file():
        return Results([], []), {}
    return store.load(folder), store.read_manifest(folder)


def _planned(experiment: files.Experiment, results: Results, quick: bool) -> tuple[int | None, list[str]]:
    """How many points the file has, and which of them have no row."""
    try:
        points = expand(experiment, versions(), quick=quick)
    except (ToolsError, EeonError):
        return None, []
    there = {(tuple(sorted(_used(row.axes).items())), row["seed"]) for row in results.rows}
    missing = [
        f"{words_of(_used(point.axes))}, seed {point.run.seed}"
        for point in points
        if (tuple(sorted(_used(point.axes).items())), point.run.seed) not in there
    ]
    shown = missing[:_NAMED]
    if len(missing) > len(shown):
        shown.append(f"and {len(missing) - len(shown)} more")
    return len(points), shown


def _used(axes: Any) -> dict[str, str]:
    return {axis: value for axis, value in axes.items() if value is not None}


def words_of(axes: dict[str, str]) -> str:
    """A point in words."""
    return ", ".join(f"{axis} {value}" for axis, value in axes.items()) or "the only point"


def _base(path: Path) -> str:
    """The file's own text of `base`, comments and all: what every run starts from."""
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
    """Versions of what computed and drew the page."""
    names: Sequence[str] = ("eeon-engine", "eeon-control", "eeon-tools", "matplotlib", "pyarrow")
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
