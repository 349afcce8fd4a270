"""Where the experiments that ship are: in an installed wheel, or in the repository's work tree."""

from __future__ import annotations

from pathlib import Path

from eeon_control.errors import DataNotFound

FILE = "experiment.yaml"
_PACKAGE = Path(__file__).resolve().parent.parent
_PLACES = (_PACKAGE / "_data" / "experiments", _PACKAGE.parent.parent / "experiments")


def folder() -> Path:
    """The folder that has one folder for each experiment. Raises DataNotFound."""
    for place in _PLACES:
        if place.is_dir():
            return place
    raise DataNotFound(f"no experiments in {_PLACES[0]} or {_PLACES[1]}; reinstall eeon-tools")


def names() -> list[str]:
    """Names of the experiments that ship."""
    try:
        return sorted(path.parent.name for path in folder().glob(f"*/{FILE}"))
    except DataNotFound:
        return []
