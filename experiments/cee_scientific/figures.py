"""The runtimes of the benchmarks with each queue, with and without PFC."""

from __future__ import annotations

from eeon_experiments.report.alternatives import CEE_BENCHMARKS, CEE_QUEUES, PFC, RUNTIME, lines
from eeon_experiments.report.drawing import Drawing, Panel, Rule
from eeon_experiments.report.runs import Runs

_ONE = Rule("1 = drop tail without PFC", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    """Returns every figure of the experiment."""
    there = [one for one in CEE_BENCHMARKS if one in runs.values("benchmark")]
    panels = []
    for benchmark in there:
        own = runs.where(benchmark=benchmark, unknown=None)
        base = {"queue": "drop_tail", "pfc": "off"}
        series = lines(own, RUNTIME, "queue", CEE_QUEUES, "pfc", PFC, base)
        panels.append(Panel(CEE_BENCHMARKS[benchmark], list(CEE_QUEUES.values()), series, "bars", [_ONE]))
    return [
        Drawing(
            "cee-scientific-runtimes",
            "Five benchmarks, with and without PFC",
            "Short-and-fat paper, scientific traffic (notes)",
            "Runtime, NewReno.",
            "queue",
            "drop tail without PFC = 1",
            panels,
            unit="{:.3f}",
        )
    ]
