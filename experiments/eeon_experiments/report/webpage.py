"""The report as one self-contained HTML page, in the style of the project's other pages."""

from __future__ import annotations

from eeon_tools import html

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

_OUTCOMES = {"good": "outcome", "bad": "outcome no", "none": "outcome unknown"}


def render(document: Document) -> str:
    """Returns the page's text."""
    return html.page(document.title, map(_block, document.blocks))


def _block(block: Block) -> str:
    match block:
        case Heading():
            return html.heading(block.text, block.level, block.anchor)
        case Paragraph():
            return html.paragraph(block.text)
        case Bullets():
            return html.bullets(block.items)
        case Table():
            rows = (map(_cell, row) for row in block.rows)
            return html.table(block.head, rows, css_class="" if block.numeric else "text")
        case Fold():
            return html.fold(block.title, map(_block, block.blocks))
        case Picture():
            return html.figure(block.svg, block.caption)
        case ClaimOutcome():
            title = f"{block.title}: {block.outcome.text}"
            return html.facts(title, block.facts, _OUTCOMES[block.outcome.kind], block.anchor)
        case Code():
            return html.code(block.text)


def _cell(cell: Cell) -> html.Cell:
    match cell:
        case Link():
            # Here, the anchors of all pages are in one file; a cell without anchor links to a separate file.
            return html.link(cell.text, f"#{cell.anchor}" if cell.anchor else cell.page)
        case Status():
            return cell.text, cell.kind
        case _:
            return cell
