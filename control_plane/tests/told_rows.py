"""Tables of what somebody may write, and what is told of it: data in YAML, and what every table's runner does.

A file has `bases`, texts by name, and tables. A table's name is a sentence, which its tests bear; it has

    reads    the reader that takes the texts: a function of the module that runs the file
    with     the reader's options
    base     one of `bases`, or a text
    instead  parts of the base, and what stands in their place for the whole table
    told     what is told of the base
    rows     texts, which stand in place of the base's `$`, and what is told of each
    changes  parts of the base, the texts that stand in their place, and what is told of each
    added    lines that stand behind the base, and what is told of each
    files    files beside it: names, and texts or those of `bases`
    marks    pytest's

What is told are words, or a list of them, with `$` for the row's text: each is in a line that is told, and each line
has one of them. What a reader returns that is not a `Told` is a value, and the row has the same.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from control_plane.tests.eeon_command import eeon

Reader = Callable[..., object]
_KEYS = {"reads", "with", "base", "instead", "told", "rows", "changes", "added", "files", "marks"}


class Told(tuple[str, ...]):
    """Lines that are told to somebody."""

    def __new__(cls, lines: Iterable[object]) -> Told:
        return super().__new__(cls, map(str, lines))


class Row(NamedTuple):
    """A text, and what is told of it."""

    reads: str
    options: Mapping[str, object]
    files: Mapping[str, str]
    text: str
    told: object

    def check(self, readers: Mapping[str, Reader], folder: Path) -> None:
        """Holds what the reader tells of the text, in a folder with the files, against the row."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        found = readers[self.reads](self.text, folder, **self.options)
        if not isinstance(found, Told):
            assert found == self.told
            return
        words = [self.told] if isinstance(self.told, str) else self.told
        assert isinstance(words, list) and all(isinstance(one, str) and one for one in words), words
        missing = [one for one in words if not any(one in line for line in found)]
        beyond = [line for line in found if not any(one in line for one in words)]
        assert not missing and not beyond, (
            f"not told: {missing}; told beyond the row: {beyond}; told: {found}"
        )


def command(text: str, folder: Path, code: int = 0) -> Told:
    """Tells what `eeon` prints that is typed in a folder. Where it refuses, it has written nothing."""
    before = sorted(folder.rglob("*"))
    with contextlib.chdir(folder):
        done = eeon(*shlex.split(text), code=code)
    lines = [one for one in done.output.splitlines() if one and not one.startswith(("Usage: ", "Try 'eeon "))]
    if code == 1:
        assert (done.stdout, sorted(folder.rglob("*"))) == ("", before)
    assert "Traceback" not in done.output
    return Told(lines)


def value(text: str) -> Any:
    """Returns what a text in YAML says."""
    return YAML(typ="safe").load(text)


def edited(given: Any, changes: str) -> Any:
    """Returns a value of JSON with each change of a text: a path of keys with blanks between, and what stands there
    then; nothing does where it is null."""
    for path, new in (value(changes) or {}).items():
        *above, last = path.split(" ")
        place = given
        for key in above:
            place = place[int(key)] if isinstance(place, list) else place[key]
        if isinstance(place, list):
            at = int(last)
            place[at : at + 1] = [new]
        elif new is None:
            del place[last]
        else:
            place[last] = new
    return given


def bases(file: Path) -> dict[str, str]:
    """Returns the texts that a file's tables begin with, by name."""
    found: dict[str, str] = value(file.read_text("utf-8"))["bases"]
    return found


def rows(file: Path) -> list[Any]:
    """Returns the file's rows as parameters of pytest."""
    tables = value(file.read_text("utf-8"))
    named = tables.pop("bases", {})
    return [one for name, table in tables.items() for one in _rows(name, table, named)]


def _rows(name: str, table: dict[str, Any], named: Mapping[str, str]) -> Iterator[Any]:
    assert table.keys() <= _KEYS, f"{name}: {table.keys() - _KEYS}"
    base = table.get("base", "$")
    base = named.get(base, base)
    for part, text in table.get("instead", {}).items():
        assert part in base, part
        base = base.replace(part, text, 1)
    marks = [getattr(pytest.mark, mark) for mark in table.get("marks", ())]
    files = {file: named.get(text, text) for file, text in table.get("files", {}).items()}
    for label, text, told in _texts(base, table):
        row = Row(table["reads"], table.get("with", {}), files, text, told)
        yield pytest.param(
            row, id=f"{name}: {label}".rstrip(": ").encode("unicode_escape").decode()[:160], marks=marks
        )


def _texts(base: str, table: dict[str, Any]) -> Iterator[tuple[str, str, object]]:
    if "told" in table:
        yield "", base, table["told"]
    for text, told in table.get("rows", {}).items():
        assert "$" in base, base
        if isinstance(told, list):
            told = [one.replace("$", text) if isinstance(one, str) else one for one in told]
        elif isinstance(told, str):
            told = told.replace("$", text)
        yield text, base.replace("$", text), told
    for part, texts in table.get("changes", {}).items():
        assert part in base, part
        for text, told in texts.items():
            yield f"{part} -> {text}", base.replace(part, text, 1), told
    for text, told in table.get("added", {}).items():
        yield f"+ {text}", f"{base}{text}\n", told
