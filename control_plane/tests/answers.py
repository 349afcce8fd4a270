"""Answers of commands as data: texts in an output, and values at paths in a JSON document."""

from __future__ import annotations

import re
from typing import Any


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
