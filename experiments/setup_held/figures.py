"""The cost of coalescing on shallow buffers when held packets wait outside the buffer."""

from __future__ import annotations

from eeon_experiments.report.alternatives import RUNTIME
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE

_PLACES = {
    ("batch_24", "tuned"): "batch, 1 MB windows",
    ("batch_24", "default"): "batch, 64 KB windows",
    ("small_24", "tuned"): "small, 1 MB windows",
    ("small_24", "default"): "small, 64 KB windows",
}
_ONE = Rule("1 = Standard EEE", 1.0, "#888888", ":")
_PAPER = {"1ms1000": [paper(1.25, "1ms1000, about +25 %")], "10ms1000": []}


def drawings(runs: Runs) -> list[Drawing]:
    """Returns every figure of the experiment."""
    panels = []
    for eee, rules in _PAPER.items():
        own = runs.where(buffer="shallow")
        there = [
            (scenario, window)
            for scenario, window in _PLACES
            if len(own.where(scenario=scenario, window=window, eee=eee))
        ]
        values = [
            own.ratio(
                RUNTIME,
                {"scenario": scenario, "window": window, "eee": "standard"},
                scenario=scenario,
                window=window,
                eee=eee,
            )
            for scenario, window in there
        ]
        series = [Series("runtime", values, BLUE)]
        panels.append(Panel(eee, [_PLACES[place] for place in there], series, "bars", [_ONE, *rules]))
    return [
        Drawing(
            "setup-held-runtime",
            "Runtime with coalescing, held packets outside the buffer",
            "Not in the papers: the set-up behind EEE paper, figure 7 (E4)",
            "24 nodes, 128 KB per port.",
            "",
            "runtime, Standard EEE = 1",
            panels,
            share_y=False,
        )
    ]
