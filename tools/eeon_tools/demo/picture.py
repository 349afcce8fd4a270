"""The demo in one picture: a queue that fills, the drops that follow, what sleeping links save and cost."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from eeon_tools.demo.findings import Results
from eeon_tools.demo.page import AQM_TITLES, EEE_TITLES
from eeon_tools.demo.runs import AQMS, EEES, TOPOLOGY, acts_from_bytes
from eeon_tools.svg import BLUE, CLASS_COLOURS, GREEN, INK, SKY, VERMILION, document, styled

_SHOWN_MS = 340
"""Milliseconds; the busy part of the trace."""
_DROPPED = {
    "ack": "ACK",
    "ack_ece": "ACK with ECE",
    "syn": "SYN",
    "syn_ack": "SYN-ACK",
    "fin_rst": "FIN, RST",
}


def picture(results: Results) -> str:
    """Returns the text of an SVG file, with the same bytes for the same results."""
    with styled():
        figure = Figure(figsize=(9.5, 5.6), layout="constrained")
        top, bottom = figure.subfigures(2, 1, squeeze=False, height_ratios=(1.0, 1.15))[:, 0]
        _queue(top.subplots(), results)
        dropped, energy = bottom.subplots(1, 2)
        _who_is_dropped(dropped, results)
        _sleep(energy, results)
        return document(figure)


def _queue(axis: Axes, results: Results) -> None:
    queue = results["mark_threshold", "off"].deepest_queue("host_facing")
    if queue is None:
        return
    threshold = acts_from_bytes("mark_threshold") / 1000
    above = f"above {threshold:g} KB packets are marked"
    axis.set_title(f"The queue in front of a host during a Hadoop shuffle: {above}")
    peaks = [value / 1000 for value in queue.peak_bytes]
    edges = [index * queue.period_us / 1000 for index in range(len(peaks) + 1)]
    axis.stairs(peaks, edges, fill=True, color=VERMILION, linewidth=0)
    axis.stairs([min(value, threshold) for value in peaks], edges, fill=True, color=SKY, linewidth=0)
    axis.axhline(threshold, color=INK, linewidth=1, linestyle="--")
    axis.set_xlim(0, _SHOWN_MS)
    axis.set_ylim(bottom=0)
    axis.set_xlabel(f"time, ms ({queue.name} of {TOPOLOGY}, 1 Gbit/s, 300 KB of buffer)")
    axis.set_ylabel("KB waiting")


def _who_is_dropped(axis: Axes, results: Results) -> None:
    runs = [results[aqm, "off"] for aqm in AQMS]
    left = [0] * len(runs)
    for name, title in _DROPPED.items():
        counts = [run.packets[name].early_dropped for run in runs]
        axis.barh(range(len(runs)), counts, left=left, height=0.62, color=CLASS_COLOURS[name], label=title)
        left = [a + b for a, b in zip(left, counts, strict=True)]
    for row, (run, total) in enumerate(zip(runs, left, strict=True)):
        marked = run.packets["data"].marked
        axis.annotate(f" {total:,}", (total, row - 0.12), va="center", fontsize=9, color=INK, weight="bold")
        axis.annotate(f" {marked:,} data marked", (total, row + 0.18), va="center", fontsize=7, color=INK)
    axis.set_xlim(0, max([*left, 1]) * 1.5)
    axis.set_yticks(range(len(runs)), [AQM_TITLES[aqm] for aqm in AQMS])
    axis.invert_yaxis()
    axis.set_title("Dropped while there was room, packets")
    axis.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axis.grid(axis="y", visible=False)
    axis.legend(loc="lower right", fontsize=7)


def _sleep(axis: Axes, results: Results) -> None:
    runs = [results["mark_threshold", eee] for eee in EEES]
    for row, (run, colour) in enumerate(zip(runs, (BLUE, SKY, GREEN), strict=True)):
        share = 100 * run.energy_joules.used / run.energy_joules.legacy
        axis.barh(row, share, height=0.62, color=colour)
        latency = run.latency_us["data"].p50
        inside = share > 80
        axis.annotate(
            f" {share:.0f} % ", (share, row - 0.12), va="center", ha="right" if inside else "left",
            fontsize=9, weight="bold", color="white" if inside else INK,
        )  # fmt: skip
        if latency is not None:
            axis.annotate(
                f" median latency {latency:.0f} us ", (share, row + 0.18), va="center",
                ha="right" if inside else "left", fontsize=7, color="white" if inside else INK,
            )  # fmt: skip
    ideal = 100 * runs[0].energy_joules.ideal / runs[0].energy_joules.legacy
    axis.axvline(ideal, color=INK, linewidth=1, linestyle=":", label="links that wake in no time")
    axis.legend(loc="center right", fontsize=7)
    axis.set_xlim(0, 105)
    axis.set_yticks(range(len(runs)), [EEE_TITLES[eee] for eee in EEES])
    axis.invert_yaxis()
    axis.set_title("Energy of links, % of never asleep")
    axis.grid(axis="y", visible=False)
