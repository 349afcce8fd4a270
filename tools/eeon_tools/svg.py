"""The style of the project's drawings, and drawings as SVG text with the same bytes for the same data.

Figures are drawn without pyplot, which keeps global state, and with a fixed salt for ids. Text stays text.
The first drawing imports matplotlib: that takes half a second, and the colours are of use without it.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

# Okabe and Ito's palette, which people with any colour vision can distinguish.
BLUE, SKY, GREEN, YELLOW = "#0072B2", "#56B4E9", "#009E73", "#F0E442"
ORANGE, VERMILION, PURPLE, GREY = "#E69F00", "#D55E00", "#CC79A7", "#999999"
CLASS_COLOURS = {
    "data": BLUE,
    "ack": ORANGE,
    "ack_ece": VERMILION,
    "syn": PURPLE,
    "syn_ack": "#882255",
    "fin_rst": GREEN,
    "other": GREY,
}
INK = "#333333"
_STYLE: dict[RcKeyType, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "eeon",
    # Names of configurations are plain text: `$\\frac$` is not a formula.
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    # The background is that of the figure, or of the page.
    "axes.facecolor": "none",
    "axes.edgecolor": "#aaaaaa",
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "legend.frameon": False,
}

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_GROUP, _PATH, _USE, _TEXT, _DEFS = (f"{{{_SVG}}}{tag}" for tag in ("g", "path", "use", "text", "defs"))
_NUMBERS = {"d", "x", "y", "width", "height", "transform"}
"""Attributes with coordinates, and sizes of clip paths."""
_FONT = "font-family: 'DejaVu Sans', sans-serif"
_SHARED = ("style", "clip-path")
"""Attributes that a group sets for all its elements."""


def styled() -> AbstractContextManager[None]:
    """Applies the style of the project's drawings within a context."""
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def new_figure(width: float, height: float) -> Figure:
    """Returns an empty figure; `width` and `height` in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def element(figure: Figure) -> str:
    """Returns the figure as an `<svg>` element for HTML: no prologue, no metadata, no namespaces."""
    return inline(_text(figure, transparent=True))


def document(figure: Figure) -> str:
    """Returns the figure as the text of a standalone SVG file, on white, so that it is readable on a dark
    page."""
    return _text(figure, transparent=False)


def inline(text: str) -> str:
    """Converts an SVG file's text to an element for HTML: as wide as it was drawn, or narrower on a narrow
    page."""
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text[text.index("<svg") :])
    # Each drawing has its own n1: on one page their names must differ.
    prefix = f"s{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    text = re.sub(r'((?:id|class)="|(?:url\(|href=")#|}\.)(n\d)', rf"\1{prefix}\2", text)
    opening, rest = text.split(">", 1)
    width = re.search(r' width="([\d.]+)pt"', opening)
    style = f' style="max-width: {float(width[1]) / 72:.2f}in"' if width else ""
    return re.sub(r' (width|height)="[^"]*"', "", opening) + style + ">" + rest


def _text(figure: Figure, transparent: bool) -> str:
    buffer = io.StringIO()
    with styled():
        figure.savefig(
            buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=transparent
        )
    text = buffer.getvalue()
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return _compact(text) + "\n"


def _compact(text: str) -> str:
    """Returns the same picture in a fifth of the bytes: hundredths of a point (for texts tenths), one path
    for successive shapes of the same style, one class for each style, and no invisible elements."""
    root = ElementTree.fromstring(text)
    for one in root.iter():
        one.text, one.tail = (part if part and part.strip() else None for part in (one.text, one.tail))
        if one.get("transform", "").startswith("rotate(-0 "):
            del one.attrib["transform"]
        for key in _NUMBERS.intersection(one.keys()):
            one.set(key, _rounded(one.attrib[key], 1 if one.tag == _TEXT else 2))
        if one.tag == _PATH:
            one.set("d", _shortest(one.get("d", "")))
        moved = re.fullmatch(r"translate\((\S+) (\S+)\)", one.get("transform", ""))
        if one.tag == _TEXT and moved:
            del one.attrib["transform"]
            one.attrib |= {"x": moved[1], "y": moved[2]}
    defs = ElementTree.Element(_DEFS)
    for parent in [*root.iter()]:
        for child in parent.findall(_DEFS):
            parent.remove(child)
            defs.extend(child)
    _share_shapes(root, defs)
    root[:] = [defs, *_grouped(_joined(_flat(root, {})))]
    _name(root)
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _rounded(numbers: str, places: int) -> str:
    def shorter(number: re.Match[str]) -> str:
        return f"{float(number[0]):.{places}f}".rstrip("0").rstrip(".")

    return " ".join(re.sub(r"-?\d+\.\d+", shorter, numbers).split())


def _shortest(path: str) -> str:
    """Returns a path with H and V for lines along an axis, and without unnecessary blanks."""
    said = []
    here = ["", ""]
    for command, given in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = given.split()
        if command == "L" and here[1] == numbers[1]:
            said.append(f"H{numbers[0]}")
        elif command == "L" and here[0] == numbers[0]:
            said.append(f"V{numbers[1]}")
        else:
            said.append(command + " ".join(numbers))
        here = numbers[-2:] or here
    return "".join(said).replace(" -", "-")


def _share_shapes(root: ElementTree.Element, defs: ElementTree.Element) -> None:
    """Keeps one of several equal shapes; each use sets its style. A tick becomes a path of its own."""
    shapes = {shape.get("id"): shape for shape in defs.findall(_PATH)}
    kept: dict[str, ElementTree.Element] = {}
    for shape in shapes.values():
        shape.attrib.pop("style", None)
        defs.remove(shape)
    for use in root.iter(_USE):
        shape = shapes[use.attrib.pop(_HREF)[1:]]
        if tick := re.fullmatch(r"M0 0([HV]\S+)", shape.attrib["d"]):
            use.tag = _PATH
            use.set("d", f"M{use.attrib.pop('x')} {use.attrib.pop('y')}{tick[1].lower()}")
        else:
            use.set("href", f"#{kept.setdefault(shape.attrib['d'], shape).get('id')}")
    defs.extend(kept.values())


def _flat(group: ElementTree.Element, clip: Mapping[str, str]) -> Iterator[ElementTree.Element]:
    """Yields the visible elements of a group, lifted out of inner groups that only name or clip."""
    parts: list[ElementTree.Element] = []
    for child in group:
        if child.tag == _GROUP and child.attrib.keys() <= {"id", "clip-path"}:
            inner = child.attrib.get("clip-path")
            parts += _flat(child, {"clip-path": inner} if inner else clip)
        elif not _draws_nothing(child):
            child.attrib = {**clip, **child.attrib}
            parts.append(child)
    if group.get("id", "").startswith("matplotlib.axis"):
        # Grid lines, ticks and their texts alternate, and never overlap.
        parts.sort(key=lambda part: (part.tag == _TEXT, "clip-path" not in part.attrib))
    yield from parts


def _draws_nothing(part: ElementTree.Element) -> bool:
    style = part.get("style", "")
    return part.tag == _PATH and (
        re.fullmatch(r"M[^A-Za-z]*", part.attrib["d"]) is not None
        or ("fill: none" in style and "stroke" not in style)
    )


def _joined(parts: Iterable[ElementTree.Element]) -> list[ElementTree.Element]:
    """Merges successive paths of the same style into one, unless they are translucent."""
    found: list[ElementTree.Element] = []
    for part in parts:
        part.attrib.pop("id", None)
        last = found[-1] if found else part
        alike = part.tag == last.tag == _PATH and {**part.attrib, "d": ""} == {**last.attrib, "d": ""}
        if alike and last is not part and "opacity" not in part.get("style", ""):
            last.attrib["d"] += part.attrib["d"]
        else:
            found.append(part)
    return found


def _grouped(parts: Iterable[ElementTree.Element]) -> Iterator[ElementTree.Element]:
    """Yields successive parts with the same style and clip path as one group that has these attributes."""
    for _, run in groupby(parts, key=lambda part: [part.get(name) for name in _SHARED]):
        first, *others = run
        shared = {name: first.attrib[name] for name in _SHARED if name in first.attrib}
        # On an element with its own position or rotation, a clip path would move with it.
        alone = not others and (first.tag == _PATH or "clip-path" not in shared)
        if alone or not shared:
            yield from (first, *others)
            continue
        group = ElementTree.Element(_GROUP, shared)
        group.extend((first, *others))
        for part in group:
            for name in shared:
                del part.attrib[name]
        yield group


def _name(root: ElementTree.Element) -> None:
    """Gives short names to all elements that are referred to, and a class to each style that several parts
    have."""
    names: dict[str, str] = {}

    def short(name: str) -> str:
        return names.setdefault(name, f"n{len(names)}")

    for one in root.iter():
        for key, value in one.attrib.items():
            if key == "href" or "url(#" in value:
                one.set(key, re.sub(r"(?<=#)[\w-]+(?=\)|$)", lambda found: short(found[0]), value))
    uses = Counter(one.get("style") for one in root.iter())
    classes = {}
    for one in root.iter():
        name = one.attrib.pop("id", "")
        if name in names:
            one.set("id", names[name])
        style = one.get("style")
        if style and uses[style] > 1:
            del one.attrib["style"]
            one.set("class", short(style))
            classes[names[style]] = style
    sheet = root.find(f".//{{{_SVG}}}style")
    if sheet is not None:
        rules = "".join(f".{name}{{{style}}}" for name, style in classes.items()).replace(f"{_FONT}; ", "")
        rules = re.sub(r"#(.)\1(.)\2(.)\3\b", r"#\1\2\3", rules.replace("stroke-dashoffset: 0; ", ""))
        sheet.text = re.sub(r"([:;,]) ", r"\1", f"{sheet.text}text{{{_FONT}}}{rules}")
