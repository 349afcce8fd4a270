"""The report as a tree of blocks, which is rendered as Markdown and as HTML.

Every text here is plain; code is between backquotes. The renderer of a block escapes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Heading:
    """`level` 2 is a section, 3 a part of a section. `anchor` is the target of links."""

    text: str
    level: int = 2
    anchor: str = ""


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list of texts."""

    items: Sequence[str]


@dataclass(frozen=True)
class Link:
    """A table cell that links to an anchor on the same page, or in the file `page` beside it if the report
    has several pages."""

    text: str
    anchor: str
    page: str = ""


@dataclass(frozen=True)
class Status:
    """An outcome, marked by sign and colour: `kind` is good, bad or none."""

    text: str
    kind: str


Cell = str | Link | Status


@dataclass(frozen=True)
class Table:
    """Rows under a head; `numeric` cells are aligned right."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numeric: bool = True


@dataclass(frozen=True)
class Fold:
    """Blocks that a click unfolds."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Picture:
    """A drawing: its SVG element for a page in one file (else empty), and its file's name beside the page."""

    file: str
    svg: str
    alt: str
    caption: str


@dataclass(frozen=True)
class ClaimOutcome:
    """The result of one claim. `facts` are (name, text) in order."""

    anchor: str
    title: str
    outcome: Status
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Commands or data, verbatim."""

    text: str


Block = Heading | Paragraph | Bullets | Table | Fold | Picture | ClaimOutcome | Code


@dataclass(frozen=True)
class Document:
    """A whole page."""

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
