"""Figures 5.2 to 5.5 of the thesis: AQM settings alone, compared with drop tail."""

from collections.abc import Sequence

from eeon_experiments.report.alternatives import (
    BUFFERS,
    CODEL,
    LATENCY,
    RUNTIME,
    THROUGHPUT,
    TRANSPORT_COLOURS,
    TRANSPORTS,
    by_delay,
    delay_label,
    lines,
)
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import BASELINE, Drawing, Panel, Rule, paper
from eeon_experiments.report.runs import Metric, Runs

figure = Figures(__file__)

_FIXED = ("red_70_70", "red_25_51", "red_25_75", "red_50_150")
_NAMES = {**TRANSPORTS, "newreno": "TCP (dropped, not marked)"}
_TRANSPORTS = {name: (title, TRANSPORT_COLOURS[name]) for name, title in _NAMES.items()}
_SHALLOW = {"buffer": "shallow", "transport": "plain", "queue": "drop_tail"}
"""Plain TCP on DropTail. It has no AQM, so there is no variant with ECN off."""
_PAPER: dict[str, dict[tuple[str, str], Rule]] = {
    "aqm-autored": {
        ("throughput", "shallow"): paper(0.7, "100 µs, -30 %"),
        ("runtime", "deep"): paper(0.95, "1 ms on deep buffers, about -5 %"),
        ("latency", "deep"): paper(0.15, "1 ms on deep buffers, -85 %"),
    },
    "aqm-red": {
        ("runtime", "deep"): paper(1.1, "70/70, 25/51 and 25/75, +10 %"),
        ("latency", "deep"): paper(0.1, "50/150, up to -90 %"),
    },
    "aqm-codel": {
        ("latency", "shallow"): paper(0.75, "500 µs/20 ms, -25 % shallow, -35 % deep"),
        ("latency", "deep"): paper(0.65, "500 µs/20 ms, -25 % shallow, -35 % deep"),
    },
}
"""The numbers in claims Q1, Q2 and Q4, by figure, number and buffer."""
_CAPTION = (
    "Runtime and throughput are relative to DropTail with shallow buffers, latency to DropTail of the same "
    "depth. The dashed line in the deep panels is DropTail with deep buffers for runtime and throughput, and "
    "with shallow buffers for latency."
)


def drawings(runs: Runs) -> list[Drawing]:
    queues = runs.values("queue")
    red = by_delay(queues, "red_")
    fixed = [queue for queue in _FIXED if queue in queues]
    codel = [queue for queue in CODEL if queue in queues]
    best = [queue for queue in ("codel_1", "codel_2", "red_1ms", "red_50_150") if queue in queues]
    averaged = [queue for queue in queues if queue.endswith("_averaged")]
    both = [queue for one in averaged for queue in (one.removesuffix("_averaged"), one)]
    figures: dict[str, Sequence[str]] = {
        "autored": red,
        "red": fixed,
        "codel": codel,
        "best": best,
        "averaged": both,
    }
    return [_normalised(runs, f"aqm-{name}", settings) for name, settings in figures.items()]


def _label(queue: str) -> str:
    if queue in _FIXED:
        return queue.removeprefix("red_").replace("_", "/")
    averaged = ", averaged" * queue.endswith("_averaged")
    return CODEL.get(queue) or f"{delay_label(queue.removesuffix('_averaged'))}{averaged}"


def _long_label(queue: str) -> str:
    return f"{'CoDel' if queue in CODEL else 'RED'} {_label(queue)}"


def _panels(runs: Runs, name: str, queues: Sequence[str], positions: Sequence[str]) -> list[Panel]:
    panels = []
    named = _PAPER.get(name, {})
    metrics: Sequence[tuple[Metric, str, str]] = (
        (RUNTIME, "runtime", "shallow"),
        (THROUGHPUT, "throughput", "shallow"),
        (LATENCY, "latency", "same"),
    )
    for buffer, title in BUFFERS.items():
        for metric, word, against in metrics:
            own = {**_SHALLOW, "buffer": buffer}
            base = own if against == "same" else _SHALLOW
            series = lines(runs, metric, "queue", queues, "transport", _TRANSPORTS, base, buffer=buffer)
            rules = [BASELINE]
            rules += [named[word, buffer]] if (word, buffer) in named else []
            other = {**_SHALLOW, "buffer": "shallow" if against == "same" else "deep"}
            value = runs.ratio(metric, base, **other) if buffer == "deep" else None
            if value is not None:
                rules.append(Rule("DropTail of the other depth (latency), deep (others)", value.mean))
            relative = "DropTail, same depth = 1" if against == "same" else "DropTail shallow = 1"
            panels.append(Panel(f"{word}, {title}", positions, series, "bars", rules, y_label=relative))
    return panels


def _normalised(runs: Runs, name: str, queues: Sequence[str]) -> Drawing:
    positions = [_long_label(queue) if name == "aqm-best" else _label(queue) for queue in queues]
    return figure(name, _panels(runs, name, queues, positions), caption=_CAPTION)
