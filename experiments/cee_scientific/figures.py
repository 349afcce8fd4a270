"""How long the benchmarks take under each queue, with and without PFC."""

from __future__ import annotations

from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE, ORANGE

_QUEUES = {"drop_tail": "drop tail", "red": "RED", "qcn_20": "QCN/20", "qcn_66": "QCN/66"}
_BENCHMARKS = {"is": "IS", "ft": "FT", "cg": "CG", "mg": "MG", "bt": "BT"}
_PFC = {"off": ("without PFC", ORANGE), "headroom": ("with PFC", BLUE)}
_ONE = Rule("1 = drop tail without PFC", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    """Every figure of the experiment."""
    there = [one for one in _BENCHMARKS if one in runs.values("benchmark")]
    panels = []
    for benchmark in there:
        base = {"benchmark": benchmark, "queue": "drop_tail", "pfc": "off", "unknown": None}
        series = [
            Series(
                title,
                [
                    runs.ratio(
                        "runtime_seconds", base, benchmark=benchmark, queue=queue, pfc=pfc, unknown=None
                    )
                    for queue in _QUEUES
                ],
                colour,
            )
            for pfc, (title, colour) in _PFC.items()
        ]
        panels.append(Panel(_BENCHMARKS[benchmark], list(_QUEUES.values()), series, "bars", [_ONE]))
    return [
        Drawing(
            "cee-scientific-runtimes",
            "Five benchmarks, with and without PFC",
            "Short-and-fat paper, scientific traffic (notes)",
            "Runtime, NewReno.",
            "queue",
            "drop tail without PFC = 1",
            panels,
            columns=3,
            unit="{:.3f}",
        )
    ]
