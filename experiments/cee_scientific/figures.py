"""The runtimes of the benchmarks with each queue, with and without PFC."""

from eeon_experiments.report.alternatives import CEE_BENCHMARKS, CEE_QUEUES, RUNTIME, by_pfc
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs

figure = Figures(__file__)


def drawings(runs: Runs) -> list[Drawing]:
    return [
        figure(
            "cee-scientific-runtimes",
            by_pfc(runs.where(unknown=None), RUNTIME, "benchmark", CEE_BENCHMARKS, CEE_QUEUES),
        )
    ]
