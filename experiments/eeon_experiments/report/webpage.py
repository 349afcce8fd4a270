"""The report as one HTML page that needs nothing but itself, in the look of the project's other pages."""

from __future__ import annotations

import html as escape
from collections.abc import Iterable

from eeon_tools.replay import html

from eeon_experiments.report.blocks import (
    Block,
    Bullets,
    Cell,
    ClaimOutcome,
    Code,
    Document,
    Fold,
    Heading,
    Link,
    Paragraph,
    Picture,
    Status,
    Table,
)


def render(document: Document) -> str:
    """Returns the page's text."""
    return html.page(document.title, _blocks(document.blocks))


def _blocks(blocks: Iterable[Block]) -> list[str]:
    return [_block(block) for block in blocks]


def _block(block: Block) -> str:
    match block:
        case Heading():
            anchor = f' id="{escape.escape(block.anchor)}"' if block.anchor else ""
            return f"<h{block.level}{anchor}>{html.inline(block.text)}</h{block.level}>"
        case Paragraph():
            return html.paragraph(block.text)
        case Bullets():
            return html.bullets(block.items)
        case Table():
            return _table(block)
        case Fold():
            inside = "\n".join(_blocks(block.blocks))
            return f"<details><summary>{escape.escape(block.title)}</summary>\n{inside}\n</details>"
        case Picture():
            return html.figure(block.svg, block.caption)
        case ClaimOutcome():
            return _claim_outcome(block)
        case Code():
            return f"<pre>{escape.escape(block.text)}</pre>"


def _claim_outcome(claim: ClaimOutcome) -> str:
    css_class = {"good": "outcome", "bad": "outcome no", "none": "outcome unknown"}[claim.outcome.kind]
    facts = "".join(
        f"<p><strong>{escape.escape(name)}:</strong> {html.inline(text)}</p>" for name, text in claim.facts
    )
    title = f"{escape.escape(claim.title)}: {escape.escape(claim.outcome.text)}"
    return f'<div class="{css_class}" id="{escape.escape(claim.anchor)}"><h4>{title}</h4>{facts}</div>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.inline(text)}</th>" for text in table.head)
    rows = ["<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in table.rows]
    css_class = "" if table.numeric else ' class="text"'
    body = "\n".join([f"<tr>{head}</tr>", *rows])
    return f'<div class="scroll"><table{css_class}>{body}</table></div>'


def _cell(cell: Cell) -> str:
    match cell:
        case Link():
            # A page of several has its anchors in one file here; what is a file of its own has none.
            there = f"#{cell.anchor}" if cell.anchor else cell.page
            return f'<td><a href="{escape.escape(there)}">{html.inline(cell.text)}</a></td>'
        case Status():
            return f'<td class="{cell.kind}">{escape.escape(cell.text)}</td>'
        case _:
            return f"<td>{html.inline(cell)}</td>"
