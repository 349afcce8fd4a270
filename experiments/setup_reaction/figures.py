"""Queries and phases with one reaction point per host."""

from eeon_experiments.report.alternatives import CEE_BENCHMARKS, CEE_QUEUES, CEE_TCPS, by_pfc
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs

_BY_SCOPE = CEE_QUEUES | {
    "qcn_20_pair": "QCN/20, per pair",
    "qcn_66_pair": "QCN/66, per pair",
    "qcn_20_flow": "QCN/20, per flow",
    "qcn_66_flow": "QCN/66, per flow",
}


def drawings(runs: Runs) -> list[Drawing]:
    return [
        Drawing(
            "setup-reaction-queries",
            "The mean query with one reaction point per host",
            "Not in the paper: the set-up behind its commercial traffic (C2, C6)",
            "Scatter and gather over a background of 30 %, against drop tail with the same TCP.",
            "queue",
            "drop tail without PFC = 1",
            by_pfc(runs.where(length=None), "query_mean_us", "tcp", CEE_TCPS, CEE_QUEUES),
        ),
        Drawing(
            "setup-reaction-60-queries",
            "The mean of 60 queries with one reaction point per host, pair of hosts, or flow",
            "Not in the paper: the set-up behind its commercial traffic (C6), longer than ten of its timers",
            "Scatter and gather over a background of 30 %, against drop tail with the same TCP.",
            "queue",
            "drop tail without PFC = 1",
            by_pfc(runs.where(length="60"), "query_mean_us", "tcp", CEE_TCPS, _BY_SCOPE),
        ),
        Drawing(
            "setup-reaction-runtimes",
            "Five benchmarks with one reaction point per host",
            "Not in the paper: the set-up behind its scientific traffic (C7)",
            "Runtime, NewReno.",
            "queue",
            "drop tail without PFC = 1",
            by_pfc(runs.where(length=None), "runtime_seconds", "benchmark", CEE_BENCHMARKS, CEE_QUEUES),
            unit="{:.3f}",
        ),
    ]
