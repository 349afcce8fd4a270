"""The report as one self-contained HTML page, in the style of the project's other pages."""

from urllib.parse import quote

from eeon_tools import html

from eeon_experiments.report import blocks

_OUTCOMES = {"good": "outcome", "bad": "outcome no", "none": "outcome unknown"}


def render(document: blocks.Document) -> str:
    return html.page(document.title, map(_block, document.blocks))


def _block(block: blocks.Block) -> str:
    match block:
        case blocks.Heading():
            return html.heading(block.text, block.level, block.anchor)
        case blocks.Paragraph():
            return html.paragraph(block.text)
        case blocks.Bullets():
            return html.bullets(block.items)
        case blocks.Table():
            rows = (map(_cell, row) for row in block.rows)
            return html.table(block.head, rows, css_class="" if block.numeric else "text")
        case blocks.Fold():
            return html.fold(block.title, map(_block, block.blocks))
        case blocks.Picture():
            return html.figure(block.svg, block.caption)
        case blocks.ClaimOutcome():
            title = f"{block.title}: {block.outcome.text}"
            return html.facts(title, block.facts, _OUTCOMES[block.outcome.kind], block.anchor)
        case blocks.Code():
            return html.code(block.text)


def _cell(cell: blocks.Cell) -> html.Cell:
    match cell:
        case blocks.Link():
            # Here, the anchors of all pages are in one file; a cell without anchor links to a separate file.
            return html.link(cell.text, f"#{cell.anchor}" if cell.anchor else quote(cell.page))
        case blocks.Status():
            return cell.text, cell.kind
        case _:
            return cell
