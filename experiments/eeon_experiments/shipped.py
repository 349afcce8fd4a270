"""The folder of the experiments that ship: in an installed wheel, or in the repository's work tree."""

from pathlib import Path

from eeon_control.errors import DataNotFound

FILE = "experiment.yaml"
_PACKAGE = Path(__file__).resolve().parent
_PLACES = (_PACKAGE / "_data" / "experiments", _PACKAGE.parent)
_PAPERS = (
    *("marking", "aqm", "eee", "eee_ecn", "flow_chasing"),
    *("cee_queue", "cee_commercial", "cee_scientific", "mq_ecn"),
)
"""Experiments with papers' claims, in the order of pages."""


def folder() -> Path:
    """Returns the folder with one folder per experiment. Raises DataNotFound."""
    for place in _PLACES:
        if any(place.glob(f"*/{FILE}")):
            return place
    raise DataNotFound(f"no experiments in {_PLACES[0]} or {_PLACES[1]}; reinstall eeon-experiments")


def published(name: str, quick: bool) -> Path | None:
    """Returns the folder of an experiment's published rows; None outside the repository's work tree."""
    rows = _PACKAGE.parent.parent / "docs" / "results" / "data" / f"{name}{'-quick' if quick else ''}"
    return rows if rows.is_dir() else None


def names() -> list[str]:
    """Returns the names of the experiments that ship, in alphabetical order."""
    try:
        return sorted(path.parent.name for path in folder().glob(f"*/{FILE}"))
    except DataNotFound:
        return []


def in_order() -> list[str]:
    """Returns the same names in the order of pages: reproductions of papers, then the others."""
    there = names()
    return [*(name for name in _PAPERS if name in there), *(name for name in there if name not in _PAPERS)]
