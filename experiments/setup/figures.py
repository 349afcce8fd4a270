"""The effect of the number of fetches on the cost of RED (block A)."""

from __future__ import annotations

from collections.abc import Sequence

from eeon_experiments.report.alternatives import (
    LATENCY,
    RUNTIME,
    THROUGHPUT,
    TRANSPORT_COLOURS,
    TRANSPORTS,
)
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.drops import all_dropped
from eeon_experiments.report.runs import Metric, Runs, Spread

_ECN = ("ecn", "dctcp")
_FETCHES = ("1", "2", "5", "10", "20", "50", "all")


def drawings(runs: Runs) -> list[Drawing]:
    """Returns every figure of the experiment."""
    own = runs.where(buffer="shallow", factor=None, workload=None)
    fetches = [number for number in _FETCHES if len(own.where(fetches=number))]
    one = Rule("1 = DropTail with as many fetches", 1.0, "#888888", ":")
    metrics: Sequence[tuple[Metric, str, bool, Sequence[Rule]]] = (
        (RUNTIME, "runtime", True, [one, paper(1.35, "at most +35 %")]),
        (THROUGHPUT, "throughput", True, [one]),
        (LATENCY, "latency", True, [one]),
        (all_dropped, "dropped packets", False, []),
    )
    panels = [
        Panel(
            word,
            fetches,
            [
                Series(
                    TRANSPORTS[transport],
                    _along(own, metric, fetches, transport, relative),
                    TRANSPORT_COLOURS[transport],
                )
                for transport in _ECN
            ],
            rules=rules,
            y_label="DropTail = 1" if relative else "packets",
            unit=None if relative else "{:,.0f}",
        )
        for metric, word, relative, rules in metrics
    ]
    return [
        Drawing(
            "setup-fetches",
            "RED that protects only ECT packets, by the number of fetches",
            "Not in the papers: the set-up behind marking paper, section 4.2 (M1)",
            "RED at a target of 100 µs on shallow buffers, relative to TCP on DropTail with the same "
            "number of fetches at a time, seed by seed. The scales are logarithmic.",
            "maps that a reducer fetches from at a time",
            "",
            panels,
            share_y=False,
            scale="log",
        )
    ]


def _along(
    runs: Runs, metric: Metric, fetches: Sequence[str], transport: str, relative: bool
) -> list[Spread | None]:
    found = []
    for number in fetches:
        point = {"fetches": number, "transport": transport, "queue": "red_100us", "protect": "ect"}
        base = {"fetches": number, "transport": "newreno", "queue": "drop_tail", "protect": None}
        found.append(runs.ratio(metric, base, **point) if relative else runs.spread(metric, **point))
    return found
