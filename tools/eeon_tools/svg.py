"""How every drawing of the project looks, and drawings as SVG text with the same bytes for the same data.

Figures are drawn without pyplot, which keeps global state, and with a fixed salt for ids. Text stays text.
matplotlib is loaded by the first drawing: it takes half a second, and colours alone are of use without it.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from contextlib import AbstractContextManager
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
_NUMBERS = {"d", "x", "y", "transform"}
"""Attributes that have coordinates."""


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
    return '<?xml version="1.0" encoding="utf-8"?>\n' + _text(figure, transparent=False)


def inline(text: str) -> str:
    """Returns an SVG file's text as an element for HTML: as wide as it was drawn, narrower where the page
    is."""
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text[text.index("<svg") :])
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
    """Returns the same picture in two fifths of the bytes: hundredths of a point, one class for each style,
    and neither ids nor groups that nothing refers to."""
    root = ElementTree.fromstring(text)
    referred = set(re.findall(r"#([\w-]+)", text))
    uses = Counter(one.get("style") for one in root.iter())
    classes = {}
    for one in root.iter():
        one.text, one.tail = (part if part and part.strip() else None for part in (one.text, one.tail))
        if one.get("id") not in referred:
            one.attrib.pop("id", None)
        if one.get("transform", "").startswith("rotate(-0 "):
            del one.attrib["transform"]
        for key in _NUMBERS.intersection(one.keys()):
            one.set(key, " ".join(re.sub(r"-?\d+\.\d+", _hundredths, one.attrib[key]).split()))
        style = one.get("style")
        if style and uses[style] > 1:
            # The style names the class: elements on one HTML page share their classes.
            name = f"s{hashlib.sha256(style.encode()).hexdigest()[:8]}"
            classes[name] = style
            del one.attrib["style"]
            one.set("class", name)
    sheet = root.find(f".//{{{_SVG}}}style")
    if sheet is not None:
        sheet.text = f"{sheet.text}{''.join(f'.{name}{{{style}}}' for name, style in classes.items())}"
    _ungroup(root)
    for prefix, namespace in (("", _SVG), ("xlink", "http://www.w3.org/1999/xlink")):
        ElementTree.register_namespace(prefix, namespace)
    return ElementTree.tostring(root, encoding="unicode")


def _hundredths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _ungroup(element: ElementTree.Element) -> None:
    """Puts the children of groups without attributes in the place of the groups."""
    children: list[ElementTree.Element] = []
    for child in element:
        _ungroup(child)
        is_plain = child.tag == f"{{{_SVG}}}g" and not child.attrib
        children.extend(child if is_plain else (child,))
    element[:] = children
