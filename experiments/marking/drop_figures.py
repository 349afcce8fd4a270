"""Figures 5 and 6 of the marking paper: the packets that switches drop."""

from eeon_experiments.report.alternatives import (
    BUFFERS,
    THROUGHPUT,
    TRANSPORTS,
    along,
    by_delay,
    delay_label,
)
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Series
from eeon_experiments.report.drops import all_dropped, dropped
from eeon_experiments.report.runs import Chosen, Metric, Runs
from eeon_experiments.results import Row
from eeon_tools.svg import CLASS_COLOURS, INK
from eeon_tools.trace.frames import CLASS_NAMES

figure = Figures(__file__)

CLASS_TITLES = {
    "data": "data",
    "ack": "ACK",
    "ack_ece": "ACK with ECE",
    "syn": "SYN",
    "syn_ack": "SYN-ACK",
    "fin_rst": "FIN, RST",
    "other": "other",
}


def drop_tail(buffer: str) -> dict[str, str | None]:
    """Returns the papers' baseline at this depth: plain TCP on drop tail."""
    return {"buffer": buffer, "transport": "newreno", "queue": "drop_tail", "protect": None}


def drop_share(name: str) -> Metric:
    """Returns a class's percentage of all dropped packets as a metric; None if nothing was dropped."""

    def share(run: Row) -> float | None:
        total, own = all_dropped(run), dropped(run, name)
        return 100 * own / total if total and own is not None else None

    return share


def drop_drawings(runs: Runs) -> list[Drawing]:
    """Returns drops by class: standard RED with both transports, and RED that protects packets with ECE."""
    return [_drops(runs, "ecn"), _drops(runs, "dctcp"), _drops_protected(runs)]


def _drop_panel(runs: Runs, buffer: str, transport: str, protect: str, title: str) -> Panel:
    queues = by_delay(runs.values("queue"), "red_")
    point: dict[str, Chosen] = {"buffer": buffer, "transport": transport, "protect": protect}
    series = [
        Series(
            CLASS_TITLES[name],
            along(runs, drop_share(name), "queue", queues, None, **point),
            CLASS_COLOURS[name],
        )
        for name in CLASS_NAMES
        if name != "other"
    ]
    base = drop_tail("shallow")
    throughput = Series(
        "throughput (right)", along(runs, THROUGHPUT, "queue", queues, base, **point), INK, marker="D"
    )
    return Panel(
        title,
        [delay_label(queue) for queue in queues],
        series,
        "stacked",
        overlay=[throughput],
        overlay_label="throughput, DropTail shallow = 1",
        y_limits=(0, 100),
    )


def _drops(runs: Runs, transport: str) -> Drawing:
    panels = [_drop_panel(runs, buffer, transport, "ect", title) for buffer, title in BUFFERS.items()]
    return figure(f"marking-drops-{transport}", panels)


def _drops_protected(runs: Runs) -> Drawing:
    return figure(
        "marking-drops-ece",
        [
            _drop_panel(runs, buffer, transport, "ece", f"{TRANSPORTS[transport]}, {title}")
            for transport in ("ecn", "dctcp")
            for buffer, title in BUFFERS.items()
        ],
    )
