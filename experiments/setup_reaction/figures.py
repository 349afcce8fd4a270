"""Queries and phases with one reaction point per host."""

from eeon_experiments.report.alternatives import CEE_BENCHMARKS, CEE_QUEUES, CEE_TCPS, by_pfc
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs

figure = Figures(__file__)

_BY_SCOPE = CEE_QUEUES | {
    "qcn_20_pair": "QCN/20, per pair",
    "qcn_66_pair": "QCN/66, per pair",
    "qcn_20_flow": "QCN/20, per flow",
    "qcn_66_flow": "QCN/66, per flow",
}


def drawings(runs: Runs) -> list[Drawing]:
    return [
        figure(
            "setup-reaction-queries",
            by_pfc(runs.where(length=None), "query_mean_us", "tcp", CEE_TCPS, CEE_QUEUES),
        ),
        figure(
            "setup-reaction-60-queries",
            by_pfc(runs.where(length="60"), "query_mean_us", "tcp", CEE_TCPS, _BY_SCOPE),
        ),
        figure(
            "setup-reaction-runtimes",
            by_pfc(runs.where(length=None), "runtime_seconds", "benchmark", CEE_BENCHMARKS, CEE_QUEUES),
        ),
    ]
