"""How every drawing of the project looks, and drawings as SVG text with the same bytes for the same data.

Figures are drawn without pyplot, which keeps global state, and with a fixed salt for ids. Text stays text.
matplotlib is loaded by the first drawing: it takes half a second, and colours alone are of use without it.
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

# Okabe and Ito's palette, which people with any colour vision can tell apart.
BLUE, SKY, GREEN, YELLOW, ORANGE, VERMILION, PURPLE, GREY = (
    "#0072B2",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#E69F00",
    "#D55E00",
    "#CC79A7",
    "#999999",
)
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
    # Names of configurations are text, whatever is in them: `$\\frac$` is not a formula.
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    # Below is the figure's own white, or the page.
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
"""Attributes that have coordinates, and sizes of clip paths."""
_FONT = "font-family: 'DejaVu Sans', sans-serif"
_SHARED = ("style", "clip-path")
"""Attributes that a group has for all that it holds."""


def styled() -> AbstractContextManager[None]:
    """Applies the style of the project's drawings to what is drawn inside."""
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def new_figure(width: float, height: float) -> Figure:
    """Returns an empty figure; `width` and `height` in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def element(figure: Figure) -> str:
    """Returns the figure as an `<svg>` element fit to stand in HTML: no prologue, no metadata, no
    namespaces."""
    return inline(_text(figure, transparent=True))


def document(figure: Figure) -> str:
    """Returns the figure as the text of an SVG file of its own, on white, so that it can be read on a dark
    page."""
    return _text(figure, transparent=False)


def inline(text: str) -> str:
    """Returns an SVG file's text as an element for HTML: as wide as it was drawn, narrower where the page
    is."""
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text[text.index("<svg") :])
    # Each drawing has its own n1: on one page they must differ.
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
    """Returns the same picture in a fifth of the bytes: hundredths of a point, of texts tenths, one path for
    what is drawn alike one after the other, one class for each style, and nothing that nobody sees."""
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
    """Returns a path with lines along an axis as such, and without blanks that separate nothing."""
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
    """Keeps one of equal shapes: what uses it says its style. A tick becomes a path of its own."""
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
    """Yields what is seen of a group, out of the groups in it that only name or clip."""
    parts: list[ElementTree.Element] = []
    for child in group:
        if child.tag == _GROUP and child.attrib.keys() <= {"id", "clip-path"}:
            inner = child.attrib.get("clip-path")
            parts += _flat(child, {"clip-path": inner} if inner else clip)
        elif not _draws_nothing(child):
            child.attrib = {**clip, **child.attrib}
            parts.append(child)
    if group.get("id", "").startswith("matplotlib.axis"):
        # Lines of the grid, ticks and their texts come in turn, and never lie on one another.
        parts.sort(key=lambda part: (part.tag == _TEXT, "clip-path" not in part.attrib))
    yield from parts


def _draws_nothing(part: ElementTree.Element) -> bool:
    style = part.get("style", "")
    return part.tag == _PATH and (
        re.fullmatch(r"M[^A-Za-z]*", part.attrib["d"]) is not None
        or ("fill: none" in style and "stroke" not in style)
    )


def _joined(parts: Iterable[ElementTree.Element]) -> list[ElementTree.Element]:
    """Makes one path of paths that follow one another and look alike, unless they let see what is below."""
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
    """Yields parts that follow one another with the same style and clip path as a group that has them."""
    for _, run in groupby(parts, key=lambda part: [part.get(name) for name in _SHARED]):
        first, *others = run
        shared = {name: first.attrib[name] for name in _SHARED if name in first.attrib}
        # On what has its own place, or turns, a clip path would move along.
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
    """Gives short names to all that is referred to, and a class to each style that several parts have."""
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
