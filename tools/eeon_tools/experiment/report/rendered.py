"""Drawings of an experiment as texts of SVG files; what cannot be drawn says why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
    """A drawing, the path of its file from the page's folder, and why it cannot be drawn."""

    drawing: Drawing
    file: str = ""
    problem: str = ""

    @cached_property
    def text(self) -> str:
        """The file's text; empty where nothing was measured. It takes most of a second to draw."""
        return svg.document(draw(self.drawing)) if self.drawing.measured() else ""


def rendered(family: Family) -> list[Rendered]:
    """Every figure of an experiment, drawn when it is asked for."""
    try:
        drawings = figures.of(family.name, family.runs)
    except AmbiguousRunsError as error:
        empty = Drawing(family.name, "Figures", "", "", "", "", ())
        return [Rendered(empty, problem=str(error))]
    return [Rendered(drawing, str(PurePosixPath(FOLDER) / f"{drawing.name}.svg")) for drawing in drawings]
