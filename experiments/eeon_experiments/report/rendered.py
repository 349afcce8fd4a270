"""Drawings of an experiment as SVG texts, with the reason if one cannot be drawn."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from eeon_tools import svg

from eeon_experiments.report import draw as drawn
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import AmbiguousRunsError, Runs


@dataclass(frozen=True)
class Rendered:
    """A drawing, and the reason if it cannot be drawn."""

    drawing: Drawing
    problem: str = ""

    @property
    def file(self) -> str:
        """The path of its file from the page's folder."""
        return f"figures/{self.drawing.name}.svg"

    @cached_property
    def text(self) -> str:
        """The file's text; empty if nothing was measured. Drawing it takes most of a second."""
        return svg.document(drawn.draw(self.drawing)) if self.drawing.measured() else ""


def rendered(name: str, draw: Callable[[Runs], list[Drawing]], runs: Runs) -> list[Rendered]:
    """Returns every figure of an experiment; each is drawn when its text is read."""
    try:
        return [Rendered(_of_alternatives_that_were_run(one)) for one in draw(runs)]
    except AmbiguousRunsError as error:
        problem = str(error)
    except Exception as error:  # a mistake in one experiment's figures must not prevent the page
        problem = f"the figures failed: {type(error).__name__}: {error}"
    return [Rendered(Drawing(name, "Figures", "", "", "", "", ()), problem=problem)]


def _of_alternatives_that_were_run(drawing: Drawing) -> Drawing:
    """Returns the drawing without series, except references, that have no number in any panel: alternatives
    outside of the experiment do not count as missing. All panels keep the same series, so that bars have the
    same width and order everywhere."""
    seen = {
        one.name
        for panel in drawing.panels
        for one in panel.series
        if one.reference or any(value is not None for value in one.values)
    }
    panels = [
        replace(panel, series=[one for one in panel.series if one.name in seen]) for panel in drawing.panels
    ]
    return replace(drawing, panels=panels)
