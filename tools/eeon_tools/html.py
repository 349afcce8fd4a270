"""A self-contained page: no script, font or picture from anywhere else."""

import html
from collections.abc import Iterable
from functools import cache
from importlib import resources


class Markup(str):
    """Text that is already HTML."""


Cell = str | Markup | tuple[str, str]
"""Text of a table cell, or text and the cell's CSS class."""


def page(title: str, body: Iterable[str]) -> str:
    """Returns a whole document; `body` is already HTML, `title` is text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{_style()}</style>\n</head>\n<body><main>\n"
        f"<h1>{html.escape(title)}</h1>\n" + "\n".join(body) + "\n</main></body>\n</html>\n"
    )


@cache
def _style() -> str:
    return resources.files("eeon_tools").joinpath("data/page.css").read_text(encoding="utf-8")


def heading(text: str, level: int = 2, anchor: str = "") -> str:
    name = f' id="{html.escape(anchor)}"' if anchor else ""
    return f"<h{level}{name}>{inline(text)}</h{level}>"


def link(text: str, place: str) -> Markup:
    """Returns a link to an anchor of the page, or to another file."""
    return Markup(f'<a href="{html.escape(place)}">{inline(text)}</a>')


def code(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def fold(title: str, inside: Iterable[str]) -> str:
    """Returns a collapsed section; its parts are already HTML."""
    return "\n".join((f"<details><summary>{html.escape(title)}</summary>", *inside, "</details>"))


def facts(title: str, pairs: Iterable[tuple[str, str]], css_class: str, anchor: str) -> str:
    """Returns a box with a title and named facts."""
    lines = "".join(f"<p><strong>{html.escape(name)}:</strong> {inline(text)}</p>" for name, text in pairs)
    return f'<div class="{css_class}" id="{html.escape(anchor)}"><h4>{html.escape(title)}</h4>{lines}</div>'


def paragraph(text: str, css_class: str = "") -> str:
    """Returns a paragraph of plain text, in which backquotes enclose `code`."""
    attribute = f' class="{css_class}"' if css_class else ""
    return f"<p{attribute}>{inline(text)}</p>"


def bullets(items: Iterable[str]) -> str:
    """Returns a list of plain texts."""
    return "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>"


def inline(text: str) -> str:
    """Returns the text escaped, with the parts between backquotes as code."""
    parts = html.escape(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def outcome(text: str, holds: bool) -> str:
    """Returns a finding set off from the text, green if it holds."""
    css_class = "outcome" if holds else "outcome no"
    return f'<div class="{css_class}">{inline(text)}</div>'


def figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{inline(caption)}</figcaption></figure>"


def table(
    head: Iterable[str], rows: Iterable[Iterable[Cell]], group_size: int = 0, css_class: str = ""
) -> str:
    """Returns a table; a line is drawn before every `group_size` rows."""
    lines = ["<tr>" + "".join(f"<th>{inline(text)}</th>" for text in head) + "</tr>"]
    for number, row in enumerate(rows):
        starts_group = group_size and number and number % group_size == 0
        cells = "".join(map(_cell, row))
        lines.append(f'<tr class="group">{cells}</tr>' if starts_group else f"<tr>{cells}</tr>")
    name = f' class="{css_class}"' if css_class else ""
    return f'<div class="scroll"><table{name}>' + "\n".join(lines) + "</table></div>"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Markup):
        return f"<td>{cell}</td>"
    if isinstance(cell, str):
        return f"<td>{inline(cell)}</td>"
    text, css_class = cell
    return f'<td class="{css_class}">{html.escape(text)}</td>'
