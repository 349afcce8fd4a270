"""The effect of the number of fetches on the cost of RED (block A)."""

from collections.abc import Mapping, Sequence

from eeon_experiments.report.alternatives import (
    LATENCY,
    RUNTIME,
    THROUGHPUT,
    WITH_ECN,
    lines,
)
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Rule, paper
from eeon_experiments.report.drops import all_dropped
from eeon_experiments.report.runs import Chosen, Metric, Runs

figure = Figures(__file__)

_RED = {"queue": "red_100us", "protect": "ect"}
_FETCHES = ("1", "2", "5", "10", "20", "50", "all")


def drawings(runs: Runs) -> list[Drawing]:
    own = runs.where(buffer="shallow", factor=None, workload=None)
    fetches = [number for number in _FETCHES if len(own.where(fetches=number))]
    one = Rule("1 = DropTail with as many fetches", 1.0, "#888888", ":")
    base = {"transport": "newreno", "queue": "drop_tail", "protect": None}
    metrics: Sequence[tuple[Metric, str, Mapping[str, Chosen] | None, Sequence[Rule]]] = (
        (RUNTIME, "runtime", base, [one, paper(1.35, "at most +35 %")]),
        (THROUGHPUT, "throughput", base, [one]),
        (LATENCY, "latency", base, [one]),
        (all_dropped, "dropped packets", None, []),
    )
    panels = [
        Panel(
            word,
            fetches,
            lines(own, metric, "fetches", fetches, "transport", WITH_ECN, against, **_RED),
            rules=rules,
            y_label="DropTail = 1" if against else "packets",
            unit=None if against else "{:,.0f}",
        )
        for metric, word, against, rules in metrics
    ]
    return [figure("setup-fetches", panels)]
