"""What an experiment's README.md says about its set-up, as text and rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SIZE_LIMIT_BYTES = 1_000_000
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Readme:
    """The section `Set-up`: its text before the first table, the table's head and rows; the bullets of the
    section `Assumptions`."""

    setup: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    assumptions: Sequence[str] = ()


def load(folder: Path) -> Readme:
    """The README.md of a folder; empty where there is none."""
    path = folder / "README.md"
    if not path.is_file() or path.stat().st_size > _SIZE_LIMIT_BYTES:
        return Readme()
    return parse(path.read_text(encoding="utf-8", errors="replace"))


def parse(text: str) -> Readme:
    """Take the two sections out of a README's text; a missing one is empty."""
    setup = _section(text, "Set-up")
    lines = setup.splitlines()
    start = next((index for index, line in enumerate(lines) if line.startswith("|")), len(lines))
    table = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        table.append([_plain(cell) for cell in line.strip().strip("|").split("|")])
    head, rows = (table[0], table[2:]) if len(table) > 2 else ([], [])
    width = len(head)
    return Readme(
        setup=_plain(" ".join(lines[:start])),
        head=head,
        rows=[[*row, *[""] * width][:width] for row in rows],
        assumptions=_bullets(_section(text, "Assumptions")),
    )


def _section(text: str, title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\s*$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip("\n") if found else ""


def _bullets(text: str) -> list[str]:
    items = re.split(r"^[*-] ", text, flags=re.MULTILINE)[1:]
    return [_plain(item.split("\n\n")[0]) for item in items]


def _plain(text: str) -> str:
    """On one line, links as their text: the page stands elsewhere, where they would lead nowhere."""
    return " ".join(_LINK.sub(r"\1", text).split())
