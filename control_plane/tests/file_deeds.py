"""Steps of scenarios that write, change or look at files; each has a folder, and what the step says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from control_plane.tests.answers import occurs, pattern_of, texts_of


def _files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def _remove(folder: Path, names: str | list[str]) -> None:
    for name in texts_of(names):
        (folder / name).unlink()


def _edit(folder: Path, files: dict[str, dict[str, str]]) -> None:
    """Replaces the first occurrence of texts, or of regular expressions in slashes, in files."""
    for name, changes in files.items():
        text = (folder / name).read_text()
        for old, new in changes.items():
            text, times = re.subn(pattern_of(old), new, text, count=1)
            assert times, old
        (folder / name).write_text(text)


def _file_has(folder: Path, files: dict[str, str | list[str]]) -> None:
    """Checks that texts, as those that `says` names, occur in files."""
    for name, texts in files.items():
        for text in texts_of(texts):
            assert occurs(text, (folder / name).read_text()), f"{name}: {text}"


FILE_DEEDS: dict[str, Callable[[Path, Any], None]] = {
    "files": _files,
    "remove": _remove,
    "edit": _edit,
    "a file has": _file_has,
}
"""The steps, by the key that a scenario has."""
