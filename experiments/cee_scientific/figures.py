"""The runtimes of the benchmarks with each queue, with and without PFC."""

from eeon_experiments.report.alternatives import CEE_BENCHMARKS, CEE_QUEUES, RUNTIME, by_pfc
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs


def drawings(runs: Runs) -> list[Drawing]:
    return [
        Drawing(
            "cee-scientific-runtimes",
            "Five benchmarks, with and without PFC",
            "Short-and-fat paper, scientific traffic (notes)",
            "Runtime, NewReno.",
            "queue",
            "drop tail without PFC = 1",
            by_pfc(runs.where(unknown=None), RUNTIME, "benchmark", CEE_BENCHMARKS, CEE_QUEUES),
            unit="{:.3f}",
        )
    ]
