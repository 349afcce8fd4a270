"""Slowdown of flows by size over the marking threshold, and what matters in it as sentences with numbers."""

from __future__ import annotations

from collections.abc import Iterator

from eeon_experiments.report.alternatives import along
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE, GREEN, ORANGE

_SIZES = {"websearch": "web search", "fb_hadoop": "Hadoop"}
_LOADS = {"l30": BLUE, "l50": GREEN, "l70": ORANGE}
_QUEUES = {
    "mark_1": "1",
    "mark_7": "7",
    "mark_20": "20",
    "mark_65": "65",
    "drop_tail": "drop tail",
}
_CLASSES = {
    "slowdown_100kb_mean": "10 to 100 kB, mean",
    "slowdown_100kb_p99": "10 to 100 kB, p99",
    "slowdown_10mb_mean": "1 to 10 MB, mean",
}
_CAPTION = "A slowdown of 1 is what a flow takes alone. 16 hosts at 10 Gbps, all to all."
_ONE = Rule("1 = alone", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    """Every figure: one for each distribution of sizes."""
    return [_of(runs, sizes, title) for sizes, title in _SIZES.items()]


def _of(runs: Runs, sizes: str, title: str) -> Drawing:
    queues = [queue for queue in _QUEUES if queue in runs.values("queue")]
    panels = []
    for delay in runs.values("host_delay"):
        for column, what in _CLASSES.items():
            series = [
                Series(
                    f"load {load[1:]} %",
                    along(runs, column, "queue", queues, None, sizes=sizes, load=load, host_delay=delay),
                    colour,
                )
                for load, colour in _LOADS.items()
                if load in runs.values("load")
            ]
            positions = [_QUEUES[queue] for queue in queues]
            panels.append(Panel(f"{what}, host delay {delay}", positions, series, rules=[_ONE]))
    return Drawing(
        f"workloads-{sizes}",
        f"Slowdown of flows of {title} under DCTCP",
        "Not in the papers",
        " ".join([_CAPTION, *_told(runs, sizes, title)]),
        "threshold, frames of 1514 bytes",
        "slowdown",
        panels,
        share_y=False,
        from_zero=False,
    )


def _told(runs: Runs, sizes: str, title: str) -> Iterator[str]:
    """What the threshold does to small and to large flows, and for one distribution what the load does."""
    small, large = ("slowdown_100kb_mean", "10 to 100 kB"), ("slowdown_10mb_mean", "1 to 10 MB")
    for column, what in (small, large):
        parts = []
        for delay in runs.values("host_delay"):
            ends = [
                _text(runs, column, queue, sizes=sizes, load="l50", host_delay=delay)
                for queue in ("mark_1", "mark_65", "drop_tail")
            ]
            parts.append(f"{ends[0]}, {ends[1]} and {ends[2]} with a host delay of {delay}")
        yield (
            f"Mean slowdown of {title} flows of {what} at 50 % load, with a threshold of one frame, of 65 "
            f"frames and with drop tail: {'; '.join(parts)}."
        )
    loads = [load for load in _LOADS if load in runs.values("load")]
    if sizes == "websearch" and len(loads) > 1:
        means = [
            f"{_text(runs, small[0], 'mark_65', sizes=sizes, load=load, host_delay='0us')} at {load[1:]} %"
            for load in loads
        ]
        yield (
            f"With a threshold of 65 frames and hosts without delay those of {small[1]} have "
            f"{', '.join(means)} load."
        )


def _text(runs: Runs, column: str, queue: str, **where: str) -> str:
    """A mean over seeds, with the lowest and the highest where there are several."""
    one = along(runs, column, "queue", [queue], None, **where)[0]
    if one is None:
        return "unknown"
    return f"{one.mean:.1f} ({one.low:.1f} to {one.high:.1f})" if one.seeds > 1 else f"{one.mean:.1f}"
