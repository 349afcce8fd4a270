"""Figures by experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
    return draw(runs) if draw else []
