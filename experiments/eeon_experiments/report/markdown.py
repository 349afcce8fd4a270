"""The report as Markdown that GitHub renders, with the drawings as files beside it."""

import html
import re
import textwrap
from collections.abc import Iterable, Sequence

from eeon_experiments.report import blocks

_SIGNS = {"good": "✔", "bad": "✘", "none": "–"}
# All characters that are markup in Markdown or in GitHub's extensions.
_SPECIAL = re.compile(r"([\\*_\[\]{}#|~!$@])")
_LINE_STARTS = re.compile(r"^(\s*)([-+=]|\d+[.)])(?=\s|$|-|=)", re.MULTILINE)
_WIDTH = 120


def render(document: blocks.Document) -> str:
    """Returns the file's text; it ends with one line break."""
    return "\n\n".join([f"# {_text(document.title)}", *_blocks(document.blocks)]) + "\n"


def _blocks(listed: Iterable[blocks.Block]) -> Iterable[str]:
    for block in listed:
        yield from _block(block)


def _block(block: blocks.Block) -> Iterable[str]:
    match block:
        case blocks.Heading():
            if block.anchor:
                yield _anchor(block.anchor)
            yield f"{'#' * block.level} {_text(block.text)}"
        case blocks.Paragraph():
            yield _fill(_text(block.text))
        case blocks.Bullets():
            yield "\n".join(_item(item) for item in block.items)
        case blocks.Table():
            yield _table(block)
        case blocks.Fold():
            # GitHub renders Markdown inside <details> only after an empty line.
            yield f"<details>\n<summary>{html.escape(_one_line(block.title))}</summary>"
            yield from _blocks(block.blocks)
            yield "</details>"
        case blocks.Picture():
            yield f"![{_text(block.alt)}]({block.file})"
            yield _fill(_text(block.caption))
        case blocks.ClaimOutcome():
            yield _anchor(block.anchor)
            yield f"#### {_text(block.title)}: {_status(block.outcome)}"
            yield "\n".join(_item(text, f"**{_text(name)}:** ") for name, text in block.facts)
        case blocks.Code():
            yield "\n".join(f"    {line}" for line in block.text.splitlines())


def _anchor(name: str) -> str:
    return f'<a id="{html.escape(name)}"></a>'


def _item(text: str, before: str = "") -> str:
    return _fill(f"* {before}{_text(text)}", "  ")


def _fill(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    # A line of the text that begins like a list item would become one.
    return _LINE_STARTS.sub(r"\1\\\2", "\n".join(lines))


def _text(text: str) -> str:
    """Returns text without markup, except code between backquotes."""
    parts = _one_line(text).split("`")
    if len(parts) % 2 == 0:
        parts = ["'".join(parts)]
    return "".join(
        f"`{part}`" if index % 2 and part else _SPECIAL.sub(r"\\\1", html.escape(part, quote=False))
        for index, part in enumerate(parts)
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _status(status: blocks.Status) -> str:
    return f"{_SIGNS[status.kind]} {_text(status.text)}"


def _cell(cell: blocks.Cell) -> str:
    match cell:
        case blocks.Link():
            return f"[{_text(cell.text)}]({cell.page}#{cell.anchor})"
        case blocks.Status():
            return _status(cell)
        case _:
            # In a table, a bar ends the cell even between backquotes.
            return _text(cell.replace("|", "/") if "`" in cell else cell)


def _table(table: blocks.Table) -> str:
    rule = ["---", *("--:" if table.numeric else "---" for _ in table.head[1:])]
    rows: list[Sequence[str]] = [
        [_text(text) for text in table.head],
        rule,
        *([_cell(cell) for cell in row] for row in table.rows),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
