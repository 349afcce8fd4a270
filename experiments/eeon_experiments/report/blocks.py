"""The report as data, between what it says and how it is written down: one tree, a Markdown and an HTML
rendering.

Every text here is plain; code stands between backquotes. The renderer of a block escapes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Heading:
    """`level` 2 is a section, 3 a part of one. `anchor` is what links name."""

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
    """A table cell that leads to an anchor: of the same page, or of the file `page` beside it, where the
    report has several."""

    text: str
    anchor: str
    page: str = ""


@dataclass(frozen=True)
class Status:
    """An outcome, set off by sign and colour: `kind` is good, bad or none."""

    text: str
    kind: str


Cell = str | Link | Status


@dataclass(frozen=True)
class Table:
    """Rows under a head; numbers stand right when `numeric`."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numeric: bool = True


@dataclass(frozen=True)
class Fold:
    """Blocks that open at a click."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Picture:
    """A drawing: the SVG element for a page of its own (empty for others), the file's name beside a page."""

    file: str
    svg: str
    alt: str
    caption: str


@dataclass(frozen=True)
class ClaimOutcome:
    """What one claim came to. `facts` are (name, text) in order."""

    anchor: str
    title: str
    outcome: Status
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Commands or data, as they are."""

    text: str


Block = Heading | Paragraph | Bullets | Table | Fold | Picture | ClaimOutcome | Code


@dataclass(frozen=True)
class Document:
    """The whole page."""

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
