"""Queries and phases with one reaction point per host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eeon_experiments.report.alternatives import CEE_BENCHMARKS, CEE_QUEUES, CEE_TCPS, PFC, lines
from eeon_experiments.report.drawing import Drawing, Panel, Rule
from eeon_experiments.report.runs import Runs

_BY_SCOPE = CEE_QUEUES | {
    "qcn_20_pair": "QCN/20, per pair",
    "qcn_66_pair": "QCN/66, per pair",
    "qcn_20_flow": "QCN/20, per flow",
    "qcn_66_flow": "QCN/66, per flow",
}
_ONE = Rule("1 = drop tail without PFC", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    """Returns every figure of the experiment."""
    return [
        Drawing(
            "setup-reaction-queries",
            "The mean query with one reaction point per host",
            "Not in the paper: the set-up behind its commercial traffic (C2, C6)",
            "Scatter and gather over a background of 30 %, against drop tail with the same TCP.",
            "queue",
            "drop tail without PFC = 1",
            _panels(runs.where(length=None), "query_mean_us", "tcp", CEE_TCPS, CEE_QUEUES),
        ),
        Drawing(
            "setup-reaction-60-queries",
            "The mean of 60 queries with one reaction point per host, pair of hosts, or flow",
            "Not in the paper: the set-up behind its commercial traffic (C6), longer than ten of its timers",
            "Scatter and gather over a background of 30 %, against drop tail with the same TCP.",
            "queue",
            "drop tail without PFC = 1",
            _panels(runs.where(length="60"), "query_mean_us", "tcp", CEE_TCPS, _BY_SCOPE),
        ),
        Drawing(
            "setup-reaction-runtimes",
            "Five benchmarks with one reaction point per host",
            "Not in the paper: the set-up behind its scientific traffic (C7)",
            "Runtime, NewReno.",
            "queue",
            "drop tail without PFC = 1",
            _panels(runs.where(length=None), "runtime_seconds", "benchmark", CEE_BENCHMARKS, CEE_QUEUES),
            unit="{:.3f}",
        ),
    ]


def _panels(
    runs: Runs, column: str, axis: str, titles: Mapping[str, str], queues: Mapping[str, str]
) -> Sequence[Panel]:
    panels = []
    for value in (one for one in titles if one in runs.values(axis)):
        own = runs.where(**{axis: value})
        series = lines(own, column, "queue", queues, "pfc", PFC, {"queue": "drop_tail", "pfc": "off"})
        panels.append(Panel(titles[value], list(queues.values()), series, "bars", [_ONE]))
    return panels
