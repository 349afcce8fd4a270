"""Results beyond the papers: a sweep of the marking threshold, the packets that DCTCP sends as ECT, and
thresholds with coalescing."""

import re
from collections.abc import Sequence

from eeon_experiments.report.alternatives import (
    BUFFERS,
    EEE,
    LATENCY,
    RUNTIME,
    THROUGHPUT,
    WITH_ECN,
    along,
    lines,
)
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import BASELINE, Drawing, Panel, Series
from eeon_experiments.report.drops import all_dropped, dropped_control
from eeon_experiments.report.runs import Metric, Runs
from eeon_tools.svg import BLUE, GREEN, GREY, ORANGE, SKY, VERMILION

figure = Figures(__file__)

_QUEUES = {
    "drop_tail": "DropTail",
    "red_100us": "RED 100\N{NO-BREAK SPACE}µs",
    "red_500us": "RED 500\N{NO-BREAK SPACE}µs",
    "red_500us_ack_syn": "RED 500\N{NO-BREAK SPACE}µs, ACK+SYN",
    "codel": "CoDel",
    "codel_ack_syn": "CoDel, ACK+SYN",
}
_ECT = {
    "dctcp_data_only": ("new data only (RFC 3168)", VERMILION),
    "dctcp": ("all but SYNs (ns-2)", ORANGE),
    "dctcp_linux": ("every packet (Linux)", BLUE),
}


def _drop_tail(buffer: str) -> dict[str, str | None]:
    return {"buffer": buffer, "transport": "newreno", "queue": "drop_tail", "eee": None}


def packets(queue: str) -> int | None:
    """Returns the threshold of a queue such as `mark_65` in full frames; None for another queue."""
    found = re.fullmatch(r"mark_(\d+)", queue)
    return int(found[1]) if found else None


def label(queue: str) -> str:
    """Returns the label of a queue's setting on an axis."""
    threshold = packets(queue)
    return _QUEUES.get(queue, queue) if threshold is None else f"threshold {threshold}"


def drawings(runs: Runs) -> list[Drawing]:
    plain = runs.where(eee=None)
    with_eee = runs.where(eee=[eee for eee in EEE if eee in runs.values("eee")])
    return [_sweep(plain), _beside(plain), _ect(plain), _coalescing(with_eee.of_shared_seeds("eee"))]


def _metrics(buffer: str) -> Sequence[tuple[Metric, str, str, dict[str, str | None]]]:
    return (
        (RUNTIME, "runtime", "DropTail shallow = 1", _drop_tail("shallow")),
        (THROUGHPUT, "throughput", "DropTail shallow = 1", _drop_tail("shallow")),
        (LATENCY, "latency", "DropTail, same depth = 1", _drop_tail(buffer)),
    )


def _sweep(runs: Runs) -> Drawing:
    marks = sorted(
        (queue for queue in runs.values("queue") if packets(queue)), key=lambda queue: packets(queue) or 0
    )
    panels = []
    for buffer, title in BUFFERS.items():
        own = [queue for queue in marks if len(runs.where(buffer=buffer, queue=queue))]
        for metric, word, relative, base in _metrics(buffer):
            series = lines(runs, metric, "queue", own, "transport", WITH_ECN, base, buffer=buffer)
            positions = [str(packets(queue)) for queue in own]
            panels.append(Panel(f"{word}, {title}", positions, series, rules=[BASELINE], y_label=relative))
    return figure("threshold-sweep", panels)


def _beside(runs: Runs) -> Drawing:
    panels = []
    for buffer, title in BUFFERS.items():
        marks = [queue for queue in ("mark_20", "mark_65") if queue in runs.values("queue")]
        queues = [*marks, *(queue for queue in list(_QUEUES)[1:] if queue in runs.values("queue"))]
        for metric, word, relative, base in _metrics(buffer):
            series = lines(runs, metric, "queue", queues, "transport", WITH_ECN, base, buffer=buffer)
            panels.append(
                Panel(
                    f"{word}, {title}",
                    [label(queue) for queue in queues],
                    series,
                    "bars",
                    [BASELINE],
                    y_label=relative,
                )
            )
    return figure("threshold-beside", panels)


def _ect(runs: Runs) -> Drawing:
    wanted = ("mark_20", "red_100us", "red_500us", "codel")
    queues = [queue for queue in wanted if queue in runs.values("queue")]
    base = _drop_tail("shallow")
    panels = []
    rows: Sequence[tuple[Metric, str, str, dict[str, str | None] | None]] = (
        (RUNTIME, "runtime", "DropTail shallow = 1", base),
        (LATENCY, "latency", "DropTail shallow = 1", base),
        (dropped_control, "ACKs, SYNs and SYN-ACKs dropped", "packets", None),
        (all_dropped, "all packets dropped", "packets", None),
    )
    for metric, title, y_label, against in rows:
        series = lines(runs, metric, "queue", queues, "transport", _ECT, against, buffer="shallow")
        panels.append(Panel(title, [label(queue) for queue in queues], series, "bars",
                            [BASELINE] if against else [], y_label=y_label,
                            unit=None if against else "{:,.0f}"))  # fmt: skip
    return figure("threshold-ect", panels)


def _coalescing(runs: Runs) -> Drawing:
    settings = [eee for eee in EEE if eee in runs.values("eee")]
    names = [EEE[eee].replace(" (no EEE)", "") for eee in settings]
    own = runs.where(buffer="shallow")
    base = {"transport": "newreno", "queue": "drop_tail", "eee": "off"}
    alternatives = (
        ("newreno", "drop_tail", "TCP on DropTail", GREY),
        ("dctcp", "mark_65", "DCTCP, threshold 65", GREEN),
        ("dctcp", "red_100us", "DCTCP, RED 100 µs", SKY),
    )
    panels = []
    for metric, title in (
        (RUNTIME, "runtime"),
        (THROUGHPUT, "throughput"),
        (LATENCY, "latency"),
        ("energy_10g_used_joules", "energy of 10GbE links"),
    ):
        series = [
            Series(
                name,
                along(own, metric, "eee", settings, base, transport=transport, queue=queue),
                colour,
            )
            for transport, queue, name, colour in alternatives
        ]
        panels.append(Panel(title, names, series, "bars", [BASELINE], y_label="DropTail, no EEE = 1"))
    return figure("threshold-coalescing", panels)
