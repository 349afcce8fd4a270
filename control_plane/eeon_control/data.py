"""Paths of the files that ship with the code: in an installed wheel, or in the repository's work tree.

The wheel contains copies under `eeon_control/_data` (see pyproject.toml). In a checkout, that folder does
not exist and the originals are used, so that an edit takes effect immediately.
"""

import re
from pathlib import Path

from eeon_control.errors import DataNotFound
from eeon_control.nearest import nearest

_PACKAGE = Path(__file__).resolve().parent
_REPOSITORY = _PACKAGE.parent.parent
_IN_REPOSITORY = {
    "topologies": _REPOSITORY / "topologies",
    "examples": _REPOSITORY / "control_plane" / "examples",
    "schema": _REPOSITORY / "control_plane" / "schema",
    "p4src": _REPOSITORY / "p4src" / "compiled",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


def folder(kind: str) -> Path:
    """Returns the folder of `topologies`, `examples`, `schema` or `p4src`. Raises DataNotFound."""
    packaged = _PACKAGE / "_data" / kind
    for place in (packaged, _IN_REPOSITORY[kind]):
        if place.is_dir():
            return place
    raise DataNotFound(f"no {kind} folder in {packaged} or {_IN_REPOSITORY[kind]}; reinstall eeon-control")


def names(kind: str) -> list[str]:
    """Returns the names, without `.yaml`, of the packaged files in a folder."""
    return sorted(path.stem for path in folder(kind).glob("*.yaml"))


def find_yaml(kind: str, name_or_path: str | Path) -> Path:
    """Returns the file of a path, or of the bare name of a packaged file; an existing path wins."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    if isinstance(name_or_path, str) and _NAME.fullmatch(name_or_path):
        shipped = folder(kind) / (name_or_path.removesuffix(".yaml") + ".yaml")
        if shipped.is_file():
            return shipped
    if path.exists():
        what = "a folder" if path.is_dir() else "not a regular file"
        raise DataNotFound(f"{name_or_path}: this is {what}; a YAML file is needed")
    known = names(kind)
    close = nearest(str(name_or_path), known)
    meant = f"; did you mean {' or '.join(close)}?" if close else ""
    shipped_names = ", ".join(known) or "none"
    raise DataNotFound(
        f"{name_or_path}: no such file, and not one of the {kind} that ship: {shipped_names}{meant}"
    )
