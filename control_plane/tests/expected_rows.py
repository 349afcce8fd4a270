"""Tests as data: YAML tables of inputs and expected answers, and the common code of their runners.

A file has `bases`, which are texts by name, and tables. The name of a table is a sentence, with which the
names of its tests begin. A table has some of these keys:

    reads     the reader of the texts: a function of the module that runs the file
    with      the options of the reader
    base      one of `bases`, or a text
    instead   replacements within the base, for the whole table
    expected  the answer to the base
    rows      texts that replace the `$` of the base, and the answer to each
    changes   parts of the base, the texts that replace them, and the answer to each
    added     lines that follow the base, and the answer to each
    files     files in the same folder: names, and texts or names of `bases`
    marks     marks of pytest

If the reader returns `Messages`, the answer is a text or a list of texts, with `$` for the row's text. Each
occurs in a message, and each message has one of them. Any other answer is the value that the reader returns.
"""

from __future__ import annotations

import contextlib
import functools
import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from eeon_control.errors import EeonError, InputError
from eeon_control.sources import parse_yaml

from control_plane.tests.eeon_command import eeon

Reader = Callable[..., object]
_KEYS = {"reads", "with", "base", "instead", "expected", "rows", "changes", "added", "files", "marks"}


class Messages(tuple[str, ...]):
    """The lines of a textual answer."""

    def __new__(cls, lines: Iterable[object]) -> Messages:
        return super().__new__(cls, map(str, lines))


def refused(
    read: Callable[..., object],
    *arguments: object,
    errors: tuple[type[Exception], ...] = (EeonError, ValueError),
    folder: Path | None = None,
) -> Messages:
    """Returns all problems for which an input is refused with one of the errors, without the folder's name."""
    try:
        read(*arguments)
    except errors as error:
        problems = error.problems if isinstance(error, InputError) else [error]
        return Messages(str(one).replace(f"{folder}/", "") for one in problems)
    return Messages([])


class Row(NamedTuple):
    """A text, and its expected answer."""

    reads: str
    options: Mapping[str, object]
    files: Mapping[str, str]
    text: str
    expected: object

    def check(self, readers: Mapping[str, Reader], folder: Path) -> None:
        """Compares the reader's answer to the text with the expected one, in a folder with the files."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        found = readers[self.reads](self.text, folder, **self.options)
        if not isinstance(found, Messages):
            assert found == self.expected
            return
        words = [self.expected] if isinstance(self.expected, str) else self.expected
        assert isinstance(words, list) and all(isinstance(one, str) and one for one in words), words
        missing = [one for one in words if not any(one in line for line in found)]
        beyond = [line for line in found if not any(one in line for one in words)]
        assert not missing and not beyond, f"missing: {missing}; not expected: {beyond}; messages: {found}"


def command(text: str, folder: Path, code: int = 0) -> Messages:
    """Returns the output of `eeon` in a folder. A refused command must not have written anything."""
    before = sorted(folder.rglob("*"))
    with contextlib.chdir(folder):
        done = eeon(*shlex.split(text), code=code)
    lines = [one for one in done.output.splitlines() if one and not one.startswith(("Usage: ", "Try 'eeon "))]
    if code == 1:
        assert (done.stdout, sorted(folder.rglob("*"))) == ("", before)
    assert "Traceback" not in done.output
    return Messages(lines)


def value(text: str) -> Any:
    """Returns the value of a text in YAML."""
    return parse_yaml("value:\n" + textwrap.indent(text, " "), "text").value["value"]


def edited(given: Any, changes: str) -> Any:
    """Returns a JSON value with the changes in a text: paths of keys, separated by blanks, and new values;
    null removes a key."""
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


@functools.cache
def _document(file: Path) -> dict[str, Any]:
    """Reads a file once for all modules that use it."""
    found: dict[str, Any] = value(file.read_text("utf-8"))
    return found


def bases(file: Path) -> dict[str, str]:
    """Returns the `bases` of a file."""
    found: dict[str, str] = _document(file)["bases"]
    return found


def rows(file: Path) -> list[Any]:
    """Returns the rows of a file as parameters of pytest."""
    tables = _document(file)
    named = tables.get("bases", {})
    return [one for name, table in tables.items() if name != "bases" for one in _rows(name, table, named)]


def _rows(name: str, table: dict[str, Any], named: Mapping[str, str]) -> Iterator[Any]:
    assert table.keys() <= _KEYS, f"{name}: {table.keys() - _KEYS}"
    base = table.get("base", "$")
    base = named.get(base, base)
    for part, text in table.get("instead", {}).items():
        assert part in base, part
        base = base.replace(part, text, 1)
    marks = [getattr(pytest.mark, mark) for mark in table.get("marks", ())]
    files = {file: named.get(text, text) for file, text in table.get("files", {}).items()}
    for label, text, expected in _texts(base, table):
        row = Row(table["reads"], table.get("with", {}), files, text, expected)
        yield pytest.param(
            row, id=f"{name}: {label}".rstrip(": ").encode("unicode_escape").decode()[:160], marks=marks
        )


def _texts(base: str, table: dict[str, Any]) -> Iterator[tuple[str, str, object]]:
    if "expected" in table:
        yield "", base, table["expected"]
    for text, expected in table.get("rows", {}).items():
        assert "$" in base, base
        if isinstance(expected, list):
            expected = [one.replace("$", text) if isinstance(one, str) else one for one in expected]
        elif isinstance(expected, str):
            expected = expected.replace("$", text)
        yield text, base.replace("$", text), expected
    for part, texts in table.get("changes", {}).items():
        assert part in base, part
        for text, expected in texts.items():
            yield f"{part} -> {text}", base.replace(part, text, 1), expected
    for text, expected in table.get("added", {}).items():
        yield f"+ {text}", f"{base}{text}\n", expected
