"""Flow chasing relative to TCP alone with other numbers of reducers, maps and fetches."""

from __future__ import annotations

from eeon_experiments.report.alternatives import FLOW_CHASING, FLOW_CHASING_PAPER, along
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs

_SET_UPS = {
    "maps_first": "maps before reducers",
    "reducers_216": "216 reducers",
    "fetches_20": "twenty fetches",
    "splits_64MB": "splits of 64 MB",
}


def drawings(runs: Runs) -> list[Drawing]:
    """Returns every figure of the experiment."""
    there = [one for one in _SET_UPS if one in runs.values("set_up")]
    panels = []
    for column, title, colour in FLOW_CHASING:
        values = along(runs, column, "set_up", there, {"scheduler": "none"}, scheduler="fca")
        rules = [Rule("1 = TCP alone", 1.0, "#888888", ":"), FLOW_CHASING_PAPER[column]]
        panels.append(
            Panel(title, [_SET_UPS[one] for one in there], [Series(title, values, colour)], "bars", rules)
        )
    return [
        Drawing(
            "setup-chasing-job",
            "Flow chasing against TCP alone in other set-ups",
            "Not in the paper: the set-ups behind its figures 9 to 11 (F1 to F3)",
            "The same job, compared seed by seed: 1 is TCP without a scheduler in the same set-up.",
            "",
            "TCP alone = 1",
            panels,
            unit="{:.3f}",
        )
    ]
