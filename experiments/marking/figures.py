"""Figures 5 to 12 of the marking paper (thesis chapter 6), and results without a figure in it."""

from eeon_experiments.report.alternatives import (
    BUFFERS,
    CODEL,
    LATENCY,
    PROTECTION_COLOURS,
    PROTECTIONS,
    RUNTIME,
    THRESHOLD_COLOUR,
    THROUGHPUT,
    TRANSPORT_COLOURS,
    TRANSPORTS,
    along,
    by_delay,
    delay_label,
)
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import BASELINE, Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.drops import all_dropped
from eeon_experiments.report.runs import Metric, Runs

from .drop_figures import drop_drawings, drop_tail

figure = Figures(__file__)

_ECN = ("ecn", "dctcp")
_MARKERS = {"ecn": "o", "dctcp": "s"}
_DASHES = {"ecn": "-", "dctcp": "--"}
_PAPER: dict[tuple[str, Metric, str], list[Rule]] = {
    ("RED", RUNTIME, "shallow"): [paper(1.35, "ECT only at worst, +35 %")],
    ("CoDel", RUNTIME, "shallow"): [
        paper(1.10, "CoDel at worst, +10 %"),
        paper(0.92, "ACK+SYN, ECN, -8 %", ":"),
    ],
    ("RED", THROUGHPUT, "shallow"): [paper(1.10, "ACK+SYN, aggressive, +10 %")],
    ("CoDel", THROUGHPUT, "shallow"): [paper(1.05, "ACK+SYN, ECN, above +5 %")],
    ("RED", LATENCY, "shallow"): [paper(0.5, "ACK+SYN, down to half")],
    ("RED", LATENCY, "deep"): [paper(0.15, "from 500 µs on, -85 %", ":")],
    ("CoDel", LATENCY, "shallow"): [paper(0.6, "ACK+SYN, ECN, -40 %")],
    ("CoDel", LATENCY, "deep"): [paper(0.2, "CoDel, -80 %", ":")],
}
"""The numbers in claims M1 and M5 to M8, by AQM, number and buffer."""


def drawings(runs: Runs) -> list[Drawing]:
    runs, short = runs.where(workload=None), runs.where(workload="short")
    return [
        *drop_drawings(runs),
        _drop_totals(runs),
        *_normalised(runs, "RED"),
        *_normalised(runs, "CoDel"),
        _ecn_against_dctcp(runs, short),
    ]


def _drop_totals(runs: Runs) -> Drawing:
    queues = by_delay(runs.values("queue"), "red_")
    panels = [
        Panel(
            title,
            [delay_label(queue) for queue in queues],
            _alternatives(runs, all_dropped, queues, None, buffer),
        )
        for buffer, title in BUFFERS.items()
    ]
    return figure("marking-drops-total", panels)


def _alternatives(
    runs: Runs, metric: Metric, queues: list[str], base: dict[str, str | None] | None, buffer: str
) -> list[Series]:
    """Returns the paper's six alternatives by queue setting, and the marking threshold at those delays."""
    found = []
    for protect, title in PROTECTIONS.items():
        for transport in _ECN:
            values = along(
                runs, metric, "queue", queues, base, buffer=buffer, transport=transport, protect=protect
            )
            found.append(
                Series(
                    f"{title}, {TRANSPORTS[transport]}",
                    values,
                    PROTECTION_COLOURS[protect],
                    _DASHES[transport],
                    _MARKERS[transport],
                )
            )
    thresholds = [queue.replace("red_", "threshold_") for queue in queues]
    for transport in _ECN:
        values = along(
            runs, metric, "queue", thresholds, base, buffer=buffer, transport=transport, protect=None
        )
        name = f"marking threshold, {TRANSPORTS[transport]}"
        found.append(Series(name, values, THRESHOLD_COLOUR, _DASHES[transport], _MARKERS[transport]))
    return found


def _normalised(runs: Runs, aqm: str) -> list[Drawing]:
    if aqm == "RED":
        queues = by_delay(runs.values("queue"), "red_")
        positions = [delay_label(queue) for queue in queues]
    else:
        queues = [queue for queue in CODEL if queue in runs.values("queue")]
        positions = [f"{queue[-1]}: {CODEL[queue]}" for queue in queues]
    shallow = drop_tail("shallow")
    found = []
    for metric, word in ((RUNTIME, "runtime"), (THROUGHPUT, "throughput"), (LATENCY, "latency")):
        panels = []
        for buffer, title in BUFFERS.items():
            base = drop_tail(buffer) if metric == LATENCY else shallow
            series = _alternatives(runs, metric, queues, base, buffer)
            panels.append(Panel(title, positions, series, rules=_rules(runs, aqm, metric, base, buffer)))
        found.append(figure(f"marking-{aqm.lower()}-{word}", panels))
    return found


def _rules(runs: Runs, aqm: str, metric: Metric, base: dict[str, str | None], buffer: str) -> list[Rule]:
    rules = [BASELINE, *_PAPER.get((aqm, metric, buffer), ())]
    if buffer == "deep":
        other = "shallow" if base["buffer"] == "deep" else "deep"
        value = runs.ratio(metric, base, **drop_tail(other))
        if value is not None:
            rules.append(Rule(f"DropTail, {BUFFERS[other]}", value.mean))
    return rules


def _ecn_against_dctcp(runs: Runs, short: Runs) -> Drawing:
    queues = by_delay(runs.values("queue"), "threshold_")
    positions = [delay_label(queue) for queue in queues]
    panels = []
    for buffer, title in BUFFERS.items():
        for own, metric, word, label, base, factor in (
            (runs, LATENCY, "latency", "DropTail, same depth = 1", drop_tail(buffer), 1),
            (runs, THROUGHPUT, "throughput", "DropTail shallow = 1", drop_tail("shallow"), 1),
            (short, "fct_small_mean_seconds", "queries, completion", "mean, ms", None, 1000),
        ):
            if own is short and buffer == "deep":
                continue
            series = []
            for transport in _ECN:
                values = along(
                    own, metric, "queue", queues, base, buffer=buffer, transport=transport, protect=None
                )
                scaled = [None if value is None else value.scaled(factor) for value in values]
                series.append(Series(TRANSPORTS[transport], scaled, TRANSPORT_COLOURS[transport]))
            panels.append(Panel(f"{word}, {title}", positions, series, "bars", y_label=label))
    return figure("marking-ecn-dctcp", panels)
