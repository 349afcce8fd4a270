"""Figures by experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from eeon_tools.experiment.report.drawing import Drawing
from eeon_tools.experiment.report.figures import aqm, eee, eee_ecn, marking, threshold
from eeon_tools.experiment.report.runs import Runs

FIGURES: Mapping[str, Callable[[Runs], list[Drawing]]] = {
    "marking": marking.drawings,
    "aqm": aqm.drawings,
    "eee": eee.drawings,
    "eee_ecn": eee_ecn.drawings,
    "threshold": threshold.drawings,
}


def of(name: str, runs: Runs) -> list[Drawing]:
    """The figures of an experiment; none for one that has none. Raises AmbiguousRunsError."""
    draw = FIGURES.get(name)
    return [_of_alternatives_that_were_run(drawing) for drawing in draw(runs)] if draw else []


def _of_alternatives_that_were_run(drawing: Drawing) -> Drawing:
    """Without series that have no number in any panel: what was not part of the experiment is no hole in it.
    All panels keep the same series, so that bars are as wide and stand in the same order everywhere."""
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
