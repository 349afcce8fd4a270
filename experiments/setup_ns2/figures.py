"""The differences to ns-2 and MRPerf, one at a time (block E)."""

from collections.abc import Sequence

from eeon_experiments.report.alternatives import (
    LATENCY,
    PROTECTIONS,
    RUNTIME,
    THROUGHPUT,
    TRANSPORTS,
    along,
)
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.drops import all_dropped
from eeon_experiments.report.runs import Chosen, Metric, Runs
from eeon_tools.svg import BLUE, GREEN, ORANGE, SKY, VERMILION

figure = Figures(__file__)

_NAMES = {
    "base": "RFCs",
    "no_fins": "no FINs",
    "ect_again": "ECT again",
    "alpha_0": "first alpha 0",
    "together": "all three",
}
_ALTERNATIVES = (
    ("ecn", "ect", VERMILION),
    ("dctcp", "ect", ORANGE),
    ("ecn", "ack_syn", BLUE),
    ("dctcp", "ack_syn", SKY),
)
_AVERAGES = {
    "red_500us": "instantaneous",
    "red_500us_averaged": "weight 1/512",
    "red_500us_ns2_average": "weight 2^-18 (ns-2)",
}
_RED = "red_100us"
_DROP_TAIL: dict[str, Chosen] = {
    "ns2": "base", "transport": "newreno", "queue": "drop_tail", "protect": None
}  # fmt: skip
_ONE = Rule("1 = DropTail", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    return [_hosts(runs), _averaged(runs)]


def _hosts(runs: Runs) -> Drawing:
    own = runs.where(buffer="shallow")
    levels = [level for level in _NAMES if len(runs.where(ns2=level, queue=_RED))]
    metrics: Sequence[tuple[Metric, str, bool, Sequence[Rule]]] = (
        (RUNTIME, "runtime", True, [_ONE, paper(1.35, "ECT only, at most +35 %")]),
        (all_dropped, "dropped packets", False, []),
    )
    panels = []
    for metric, word, relative, rules in metrics:
        base = _DROP_TAIL if relative else None
        series = [
            Series(
                f"{PROTECTIONS[protect]}, {TRANSPORTS[transport]}",
                along(own, metric, "ns2", levels, base, transport=transport, protect=protect, queue=_RED),
                colour,
            )
            for transport, protect, colour in _ALTERNATIVES
        ]
        label, unit = ("DropTail = 1", None) if relative else ("packets", "{:,.0f}")
        positions = [_NAMES[level] for level in levels]
        panels.append(Panel(word, positions, series, "bars", rules, y_label=label, unit=unit))
    return figure("setup-ns2-hosts", panels)


def _averaged(runs: Runs) -> Drawing:
    queues = [queue for queue in _AVERAGES if len(runs.where(queue=queue))]
    panels = []
    for buffer, title in (("shallow", "shallow buffers"), ("deep", "deep buffers")):
        own = runs.where(buffer=buffer, ns2="base", protect=None)
        series = [
            Series(word, along(own, metric, "queue", queues, _DROP_TAIL, transport="drops"), colour)
            for metric, word, colour in (
                (RUNTIME, "runtime", ORANGE),
                (THROUGHPUT, "throughput", BLUE),
                (LATENCY, "latency", GREEN),
            )
        ]
        rules = [_ONE]
        panels.append(Panel(title, [_AVERAGES[queue] for queue in queues], series, "bars", rules))
    return figure("setup-ns2-average", panels)
