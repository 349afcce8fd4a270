"""Slowdown of flows by size over the marking threshold, and what matters in it as sentences with numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
_SMALL, _LARGE = ("slowdown_100kb_mean", "10 to 100 kB"), ("slowdown_10mb_mean", "1 to 10 MB")
_ONE = Rule("1 = alone", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    """Every figure: one for each distribution of sizes, and one of what hosts' own queues do."""
    return [*(_of(runs, sizes, title) for sizes, title in _SIZES.items()), _nics(runs)]


def _of(runs: Runs, sizes: str, title: str) -> Drawing:
    runs = runs.where(nic=None)
    queues = [queue for queue in _QUEUES if queue in runs.values("queue")]
    loads = {
        f"load {load[1:]} %": (colour, {"sizes": sizes, "load": load})
        for load, colour in _LOADS.items()
        if load in runs.values("load")
    }
    return _drawing(
        f"workloads-{sizes}",
        f"Slowdown of flows of {title} under DCTCP",
        [_CAPTION, *_told(runs, sizes, title)],
        _panels(runs, queues, loads),
    )


def _nics(runs: Runs) -> Drawing:
    points: dict[str, tuple[str, dict[str, str | None]]] = {
        name: (colour, {"sizes": "websearch", "load": "l50", "nic": nic})
        for name, colour, nic in (("one FIFO", BLUE, None), ("flows in turn", ORANGE, "fair"))
    }
    return _drawing(
        "workloads-nic",
        "Slowdown of flows of web search with one FIFO in each host, and with flows in turn",
        [_CAPTION, "Load 50 %, DCTCP.", *_told_of_nics(runs)],
        _panels(runs, ["mark_1", "mark_65", "drop_tail"], points),
    )


def _panels(
    runs: Runs, queues: Sequence[str], points: Mapping[str, tuple[str, Mapping[str, str | None]]]
) -> list[Panel]:
    """One for each host delay and class of size; `points` are its lines, with colours and where they are."""
    return [
        Panel(
            f"{what}, host delay {delay}",
            [_QUEUES[queue] for queue in queues],
            [
                Series(name, along(runs, column, "queue", queues, None, host_delay=delay, **point), colour)
                for name, (colour, point) in points.items()
            ],
            rules=[_ONE],
        )
        for delay in runs.values("host_delay")
        for column, what in _CLASSES.items()
    ]


def _drawing(name: str, title: str, told: Sequence[str], panels: Sequence[Panel]) -> Drawing:
    return Drawing(
        name,
        title,
        "Not in the papers",
        " ".join(told),
        "threshold, frames of 1514 bytes",
        "slowdown",
        panels,
        share_y=False,
        from_zero=False,
    )


def _told_of_nics(runs: Runs) -> Iterator[str]:
    """How much of the small flows' slowdown is gone where flows take turns, and what large ones pay."""
    where = {"sizes": "websearch", "load": "l50"}
    for column, what in (_SMALL, _LARGE):
        for delay in runs.values("host_delay"):
            parts = []
            for queue, name in (
                ("mark_1", "one frame"),
                ("mark_65", "65 frames"),
                ("drop_tail", "drop tail"),
            ):
                fifo, fair = (
                    along(runs, column, "queue", [queue], None, host_delay=delay, nic=nic, **where)[0]
                    for nic in (None, "fair")
                )
                if fifo is None or fair is None:
                    continue
                gone = (fifo.mean - fair.mean) / (fifo.mean - 1)
                parts.append(
                    f"{fifo.mean:.1f} and {fair.mean:.1f} ({gone:.0%} of what is above 1) with {name}"
                )
            if parts:
                yield (
                    f"Mean slowdown of flows of {what} with one FIFO and with flows in turn, "
                    f"host delay {delay}: {'; '.join(parts)}."
                )


def _told(runs: Runs, sizes: str, title: str) -> Iterator[str]:
    """What the threshold does to small and to large flows, and for one distribution what the load does."""
    for column, what in (_SMALL, _LARGE):
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
            f"{_text(runs, _SMALL[0], 'mark_65', sizes=sizes, load=load, host_delay='0us')} at {load[1:]} %"
            for load in loads
        ]
        yield (
            f"With a threshold of 65 frames and hosts without delay those of {_SMALL[1]} have "
            f"{', '.join(means)} load."
        )


def _text(runs: Runs, column: str, queue: str, **where: str) -> str:
    """A mean over seeds, with the lowest and the highest where there are several."""
    one = along(runs, column, "queue", [queue], None, **where)[0]
    if one is None:
        return "unknown"
    return f"{one.mean:.1f} ({one.low:.1f} to {one.high:.1f})" if one.seeds > 1 else f"{one.mean:.1f}"
