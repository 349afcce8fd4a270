"""The savings of coalescing with three copies of the input, on 24 and on 80 nodes."""

from __future__ import annotations

from eeon_experiments.report.alternatives import FETCHES, energy_by_scenario
from eeon_experiments.report.drawing import Drawing, Panel, Rule, paper
from eeon_experiments.report.runs import Runs

_SCENARIOS = {
    "batch_24": "batch 1.2:1",
    "batch_80": "batch 4:1",
    "small_24": "small 1.2:1",
    "small_80": "small 4:1",
}
_ONE = Rule("1 = Standard EEE", 1.0, "#888888", ":")
_SAVED = (paper(0.65, "35 to 75 % saved"), paper(0.25, "35 to 75 % saved"))


def drawings(runs: Runs) -> list[Drawing]:
    """Returns every figure of the experiment."""
    panels = []
    for fetches, title in FETCHES.items():
        own = runs.where(fetches=fetches)
        series = energy_by_scenario(own, "10g_", ("120us100", "120us100+"), _SCENARIOS)
        panels.append(Panel(title, list(_SCENARIOS.values()), series, "bars", [_ONE, *_SAVED]))
    return [
        Drawing(
            "setup-scale-10g",
            "Energy of 10GbE ports with three copies of the input",
            "Not in the papers: the set-up behind EEE paper, figure 10 (E6)",
            "24 nodes (1.2:1) and 80 nodes (4:1), deep buffers, 1 MB windows.",
            "",
            "energy, Standard EEE = 1",
            panels,
        )
    ]
