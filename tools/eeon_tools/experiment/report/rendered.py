"""Drawings of an experiment as SVG files' texts; one that cannot be drawn says why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from eeon_tools import svg
from eeon_tools.experiment.report import figures
from eeon_tools.experiment.report.draw import draw
from eeon_tools.experiment.report.drawing import Drawing
from eeon_tools.experiment.report.family import Family
from eeon_tools.experiment.report.runs import AmbiguousRunsError

FOLDER = "figures"


@dataclass(frozen=True)
class Rendered:
    """A drawing, the path of its file from the page's folder, its text, and why there is none."""

    drawing: Drawing
    file: str
    text: str = ""
    problem: str = ""


def rendered(family: Family) -> list[Rendered]:
    """Every figure of an experiment."""
    try:
        drawings = figures.of(family.name, family.runs)
    except AmbiguousRunsError as error:
        empty = Drawing(family.name, "Figures", "", "", "", "", ())
        return [Rendered(empty, "", problem=str(error))]
    found = []
    for drawing in drawings:
        file = str(PurePosixPath(FOLDER) / f"{drawing.name}.svg")
        text = svg.document(draw(drawing)) if drawing.measured() else ""
        found.append(Rendered(drawing, file, text))
    return found
