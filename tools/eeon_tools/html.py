"""A self-contained page: no script, font or picture from anywhere else."""

import html
from collections.abc import Iterable

_CSS = """
:root { color-scheme: light dark; --ink: #222; --soft: #555; --paper: #fff; --ground: #fafafa;
        --line: #d9d9d9;
        --code: #f3f3f3; --link: #00639c; --bad: #b00020; --good: #00694b; --yes: #f0faf6; --no: #fdf3ec; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6e8; --soft: #b3b8bd; --paper: #16191d; --ground: #0f1114; --line: #3a4048;
          --code: #242a31; --link: #6cb8ec; --bad: #ff8a80; --good: #5fd0a8; --yes: #12291f; --no: #33210f; }
}
body { font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; color: var(--ink);
       background: var(--ground); margin: 0; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; background: var(--paper);
       box-shadow: 0 0 12px #0002; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: .2em 0 .6em; }
h2 { font-size: 1.25rem; margin: 2.2em 0 .5em; padding-top: .6em; border-top: 1px solid var(--line); }
h1, p, li { overflow-wrap: anywhere; }
p, li { max-width: 48rem; }
.lead { font-size: 1.08rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .84rem; margin: 1em 0; font-variant-numeric: tabular-nums; }
th, td { padding: .28em .55em; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { font-weight: 600; border-bottom: 2px solid var(--line); vertical-align: bottom; white-space: normal; }
th:first-child, td:first-child { text-align: left; }
tr.group td { border-top: 2px solid var(--line); }
td.bad { color: var(--bad); font-weight: 600; }
td.good { color: var(--good); }
figure { margin: 1em 0; }
figure svg { width: 100%; height: auto; background: #fff; border-radius: 4px; }
figcaption { font-size: .88rem; color: var(--soft); max-width: 48rem; }
.outcome { border-left: 4px solid #009E73; background: var(--yes); padding: .5em 1em;
           margin: 1em 0; }
.outcome.no { border-color: #D55E00; background: var(--no); }
.outcome.unknown { border-color: #999; background: var(--code); }
.outcome h4 { margin: .2em 0; }
.outcome p { margin: .3em 0; }
h3 { font-size: 1.08rem; margin: 1.8em 0 .4em; }
table.text th, table.text td { text-align: left; white-space: normal; vertical-align: top; }
table.text td.good, table.text td.bad, table.text td.none { white-space: nowrap; }
details { margin: .6em 0; }
summary { cursor: pointer; color: var(--link); }
a { color: var(--link); }
pre { font-size: .84rem; background: var(--code); padding: .6em .8em; overflow-x: auto; border-radius: 3px; }
code { font-size: .92em; background: var(--code); padding: .05em .3em; border-radius: 3px;
       overflow-wrap: anywhere; }
footer { font-size: .84rem; color: var(--soft); margin-top: 3em; border-top: 1px solid var(--line); }
.controls { display: flex; flex-wrap: wrap; gap: .5em .9em; align-items: center; margin: .8em 0;
            font-size: .92rem; }
.controls form { display: flex; gap: .5em; align-items: center; }
.controls label { max-width: 100%; }
[hidden] { display: none !important; }
button, select, input { font: inherit; color: var(--ink); background: var(--code);
         border: 1px solid var(--line);
         border-radius: 4px; padding: .25em .6em; max-width: 100%; }
button:focus-visible, select:focus-visible, input:focus-visible, [tabindex]:focus-visible {
         outline: 3px solid var(--link); outline-offset: 1px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr));
         gap: .7em; margin: 1em 0; }
.card { text-align: left; padding: .6em .8em; cursor: pointer; }
.card b { display: block; color: var(--soft); font-size: .84rem; font-weight: 600; }
.key { font-size: .84rem; color: var(--soft); max-width: none; }
.detail { border: 1px solid var(--line); border-left: 4px solid var(--link); padding: .1em 1em;
          margin: 1em 0; }
.detail li { max-width: none; }
.link { stroke: #2b8cc4; cursor: pointer; }
.link.chosen { stroke: #e08a00; stroke-opacity: 1; }
.node { fill: var(--paper); stroke: var(--ink); stroke-width: 1.5; }
#topology text { fill: var(--ink); font-size: 13px;
                 paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
th button { border: 0; background: none; padding: 0; font-weight: 600; cursor: pointer; text-align: inherit; }
th[aria-sort=descending] button::after { content: " \\25BE"; }
th[aria-sort=ascending] button::after { content: " \\25B4"; }
tr.go { cursor: pointer; }
tr.go:hover { background: var(--code); }
@media (max-width: 40rem) {
  main { padding: 1rem .8rem 3rem; }
  h1 { font-size: 1.35rem; }
}
@media print {
  :root { --ink: #000; --soft: #333; --paper: #fff; --ground: #fff; --code: #fff; }
  main { box-shadow: none; max-width: none; }
  .controls button, .controls form, .bk-toolbar { display: none; }
  .scroll { overflow: visible; }
}
"""


class Markup(str):
    """Text that is already HTML."""


Cell = str | Markup | tuple[str, str]
"""Text of a table cell, or text and the cell's CSS class."""


def page(title: str, body: Iterable[str]) -> str:
    """Returns a whole document; `body` is already HTML, `title` is text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_CSS}</style>\n</head>\n<body><main>\n"
        f"<h1>{html.escape(title)}</h1>\n" + "\n".join(body) + "\n</main></body>\n</html>\n"
    )


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
