"""A page that needs nothing but itself: no script, no font, no picture from anywhere else."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_CSS = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; color: #222;
       background: #fafafa; margin: 0; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; background: #fff;
       box-shadow: 0 0 12px #0001; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: .2em 0 .6em; }
h2 { font-size: 1.25rem; margin: 2.2em 0 .5em; padding-top: .6em; border-top: 1px solid #e4e4e4; }
p, li { max-width: 48rem; }
.lead { font-size: 1.08rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .84rem; margin: 1em 0; font-variant-numeric: tabular-nums; }
th, td { padding: .28em .55em; text-align: right; white-space: nowrap; border-bottom: 1px solid #ececec; }
th { font-weight: 600; border-bottom: 2px solid #ccc; vertical-align: bottom; white-space: normal; }
th:first-child, td:first-child { text-align: left; }
tr.group td { border-top: 2px solid #ccc; }
td.bad { color: #b00020; font-weight: 600; }
td.good { color: #00694b; }
figure { margin: 1em 0; }
figure svg { width: 100%; height: auto; }
figcaption { font-size: .88rem; color: #555; max-width: 48rem; }
.outcome { border-left: 4px solid #009E73; background: #f0faf6; padding: .5em 1em;
           margin: 1em 0; }
.outcome.no { border-color: #D55E00; background: #fdf3ec; }
.outcome.unknown { border-color: #999; background: #f5f5f5; }
.outcome h4 { margin: .2em 0; }
.outcome p { margin: .3em 0; }
h3 { font-size: 1.08rem; margin: 1.8em 0 .4em; }
table.text th, table.text td { text-align: left; white-space: normal; vertical-align: top; }
table.text td.good, table.text td.bad, table.text td.none { white-space: nowrap; }
details { margin: .6em 0; }
summary { cursor: pointer; color: #0072B2; }
pre { font-size: .84rem; background: #f3f3f3; padding: .6em .8em; overflow-x: auto; border-radius: 3px; }
code { font-size: .92em; background: #f3f3f3; padding: .05em .3em; border-radius: 3px;
       overflow-wrap: anywhere; }
footer { font-size: .84rem; color: #555; margin-top: 3em; border-top: 1px solid #e4e4e4; }
"""

Cell = str | tuple[str, str]
"""Text of a table cell, or text and the cell's CSS class."""


def page(title: str, body: Iterable[str]) -> str:
    """A whole document; `body` is HTML already, `title` is text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_CSS}</style>\n</head>\n<body><main>\n"
        f"<h1>{html.escape(title)}</h1>\n" + "\n".join(body) + "\n</main></body>\n</html>\n"
    )


def heading(text: str) -> str:
    """A section's heading."""
    return f"<h2>{html.escape(text)}</h2>"


def paragraph(text: str, css_class: str = "") -> str:
    """A paragraph of plain text in which `code` stands between backquotes."""
    attribute = f' class="{css_class}"' if css_class else ""
    return f"<p{attribute}>{inline(text)}</p>"


def bullets(items: Iterable[str]) -> str:
    """A list of plain texts."""
    return "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>"


def inline(text: str) -> str:
    """Escaped text with code between backquotes."""
    parts = html.escape(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def outcome(text: str, holds: bool) -> str:
    """A finding set off from the text, green when what was expected was seen."""
    css_class = "outcome" if holds else "outcome no"
    return f'<div class="{css_class}">{inline(text)}</div>'


def figure(svg: str, caption: str) -> str:
    """A drawing with its caption."""
    return f"<figure>{svg}<figcaption>{inline(caption)}</figcaption></figure>"


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], group_size: int = 0) -> str:
    """A table of text; a line is drawn before every `group_size` rows."""
    lines = ["<tr>" + "".join(f"<th>{html.escape(text)}</th>" for text in head) + "</tr>"]
    for number, row in enumerate(rows):
        starts_group = group_size and number and number % group_size == 0
        cells = "".join(_cell(cell) for cell in row)
        opening = '<tr class="group">' if starts_group else "<tr>"
        lines.append(f"{opening}{cells}</tr>")
    return '<div class="scroll"><table>' + "\n".join(lines) + "</table></div>"


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return f"<td>{html.escape(cell)}</td>"
    text, css_class = cell
    return f'<td class="{css_class}">{html.escape(text)}</td>'
