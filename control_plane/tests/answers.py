"""Answers of commands as data. `scenarios.py` has the form."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

_NO_PATHS = {"code", "says", "lacks", "is", "writes", "about", "saves", "is saved", "in order", "columns"}


def texts_of(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else given


def pattern_of(text: str) -> str:
    """Returns the regular expression of a text, or that within slashes."""
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == "/" else re.escape(text)


def occurs(text: str, output: str) -> bool:
    """Returns whether a text, or a regular expression in slashes, occurs in an output."""
    return re.search(pattern_of(text), output, re.MULTILINE) is not None


def part(document: Any, path: str) -> Any:
    """Returns what is at a path in a JSON document."""
    word, _, rest = path.partition(" ")
    if not word:
        return document
    if word == "#":
        return len(document)
    if word == "*":
        return [part(one, rest) for one in (document.values() if isinstance(document, dict) else document)]
    if "=" in word:
        wanted = dict(one.split("=", 1) for one in word.split(","))
        (found,) = [
            one for one in document if wanted.items() <= {key: str(one[key]) for key in wanted}.items()
        ]
        return part(found, rest)
    return part(document[int(word) if isinstance(document, list) else word], rest)


def agrees(found: Any, wanted: Any) -> bool:
    """Returns whether a value is the wanted one. `> 0` is any number above 0, and `/a b/` a regular expression."""
    if isinstance(wanted, str) and wanted.startswith("> "):
        return found > float(wanted[2:])
    if isinstance(wanted, str) and wanted.startswith("/"):
        return occurs(wanted, found)
    return found == wanted


def paths_of(answer: Any) -> dict[str, Any]:
    """Returns the values that an answer names by their paths; those in `about` are approximate."""
    if not isinstance(answer, dict):
        return {}
    about = {path: pytest.approx(one, rel=0.05) for path, one in answer.get("about", {}).items()}
    return {path: one for path, one in answer.items() if path not in _NO_PATHS} | about


def check(what: str, done: Result, answer: Any, folder: Path) -> None:
    """Compares a command's output and exit code with the answer. `folder` has the files that it names."""
    told = answer if isinstance(answer, dict) else {"says": answer or []}
    assert done.exit_code == told.get("code", 0), f"{what}: {done.output}"
    for text in texts_of(told.get("says", [])):
        assert occurs(text, done.output), f"{what}: {text} is not in {done.output}"
    for text in texts_of(told.get("lacks", [])):
        assert not occurs(text, done.output), f"{what}: {text} is in {done.output}"
    rest = done.stdout
    for text in told.get("in order", []):
        found = re.search(pattern_of(text), rest)
        assert found, f"{what}: {text} is not in {rest}"
        rest = rest[found.end() :]
    assert done.stdout == told.get("is", done.stdout), what
    if "is saved" in told:
        assert done.stdout == (folder / told["is saved"]).read_text(), what
    if "saves" in told:
        (folder / told["saves"]).write_text(done.stdout)
    if paths := paths_of(answer):
        check_document(what, json.loads(done.stdout), paths)


def check_document(what: str, document: Any, paths: dict[str, Any]) -> None:
    """Compares values of a JSON document."""
    for path, wanted in paths.items():
        found = part(document, path)
        assert agrees(found, wanted), f"{what}: {path} is {found}"
