"""The location of a fabric's state folder, and checks of its permissions."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from eeon_control.errors import StateError
from eeon_control.state.files import FOLDER_MODE

PARTS = ("revisions", "controllers")  # subfolders of a state folder

_VARIABLE = "EEON_STATE"


def folder_of(
    fabric: str, given: str | Path | None = None, environment: Mapping[str, str] = os.environ
) -> Path:
    """Returns the state folder of a fabric (its topology's name).

    `given` (the option `--state`), else the variable EEON_STATE, else `$XDG_STATE_HOME/eeon/FABRIC`, where
    XDG_STATE_HOME defaults to ~/.local/state (XDG Base Directory Specification).
    """
    direct = given if given is not None else environment.get(_VARIABLE)
    if direct:
        try:
            return Path(direct).expanduser()
        except RuntimeError:
            raise StateError(f"{direct}: no home folder is known for `~`; write the whole path") from None
    name = quote(fabric, safe="+")
    return home(environment) / "eeon" / (f"%2E{name[1:]}" if name.startswith(".") else name)


def is_folder_given(given: str | Path | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Returns whether the option or the variable names a folder, for any fabric."""
    return bool(given or environment.get(_VARIABLE))


def known_fabrics(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Returns the state folders in the default place with a finished or unfinished apply, by name.

    A failed first apply leaves an empty folder, which does not count as a fabric; another user's folder does
    not count either. Raises StateError.
    """
    folder = home(environment) / "eeon"
    if not is_there(folder):
        return []
    begun = ("current", "journal.json")
    try:
        return sorted(path for path in folder.iterdir() if any(os.path.isfile(path / name) for name in begun))
    except OSError as error:
        raise StateError(f"{folder}: {error.strerror}; give a folder with --state") from None


def home(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the folder of this user's state. Raises StateError if the user has none."""
    base = environment.get("XDG_STATE_HOME", "")
    if base.startswith("/"):  # the specification says to ignore a relative path
        return Path(base)
    try:
        return Path.home() / ".local" / "state"
    except RuntimeError:
        raise StateError("this user has no home folder; set HOME or XDG_STATE_HOME") from None


def make(folder: Path) -> None:
    """Creates a state folder or part, for its owner only; Git keeps no empty ones. Raises StateError."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise StateError(
            f"{folder}: cannot be created: {error.strerror}; choose another with --state"
        ) from None


def is_there(path: Path) -> bool:
    """Returns whether a folder or file exists. Raises StateError if this user may not know."""
    try:
        return path.exists()
    except OSError as error:
        raise _not_seen(path, error) from None


def check(path: Path) -> None:
    """Refuses a folder or file of another user, or one that others may read or write.

    Anyone who can write there controls the switches. Raises StateError with the command that fixes it, and
    FileNotFoundError.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _not_seen(path, error) from None
    if stat.S_ISLNK(found.st_mode):
        raise StateError(
            f"{path}: is a symbolic link; a state folder must hold plain files only: name what it points to"
        )
    if found.st_uid != os.geteuid():
        raise StateError(
            f"{path}: belongs to user id {found.st_uid}, but this process runs as {os.geteuid()}; run as "
            "its owner, or choose another folder with --state"
        )
    if found.st_mode & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        right = "700" if stat.S_ISDIR(found.st_mode) else "600"
        raise StateError(f"{path}: mode {mode:o} lets other users in; fix it with: chmod {right} {path}")


def _not_seen(path: Path, error: OSError) -> StateError:
    return StateError(
        f"{path}: {error.strerror}; run as the owner of its folder, or choose another with --state"
    )
