"""Plots of replays as SVG text for a page. The functions take results and return drawings, nothing else."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullFormatter, StrMethodFormatter

from eeon_tools.replay.result import QueueDepth, ReplayResult, RunResult
from eeon_tools.svg import CLASS_COLOURS, INK, element, new_figure, styled
from eeon_tools.trace.frames import CLASS_NAMES

_TCP = ("data", "ack", "syn")


def queue_depth(rows: Sequence[tuple[str, QueueDepth, float | None]]) -> str:
    """Draws the depth over time, one row for each queue: (title, queue, line to draw in bytes or None). All
    rows share their axes."""
    with styled():
        figure = new_figure(9.5, 0.6 + 1.35 * len(rows))
        axes = figure.subplots(len(rows), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axis, (title, queue, line) in zip(axes, rows, strict=True):
            times = [index * queue.period_us / 1000 for index in range(len(queue.peak_bytes) + 1)]
            peaks = [value / 1000 for value in queue.peak_bytes]
            if peaks:
                axis.stairs(peaks, times, fill=True, color="#56B4E9", alpha=0.9, linewidth=0)
            if line is not None:
                axis.axhline(line / 1000, color="#D55E00", linewidth=1, linestyle="--")
            axis.set_title(title)
            axis.set_ylim(bottom=0)
            axis.set_xlim(left=0)
        axes[-1].set_xlabel("time, ms")
        figure.supylabel("bytes waiting, KB", fontsize=9, color=INK)
        return element(figure)


def drops_by_class(runs: Sequence[ReplayResult], labels: Sequence[str]) -> str:
    """Draws two panels of bars, one bar for each run: packets of each class that were dropped early, and that
    were tail-dropped."""
    with styled():
        figure = new_figure(9.5, 0.9 + 0.42 * len(runs))
        early, tail = figure.subplots(1, 2, sharey=True)
        _stacked(early, runs, "early_dropped")
        _stacked(tail, runs, "tail_dropped")
        early.set_title("dropped early by AQM, packets")
        tail.set_title("dropped because the buffer was full, packets")
        early.set_yticks(range(len(runs)), labels)
        early.invert_yaxis()
        handles, names = early.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names))
        return element(figure)


def _stacked(axis: Axes, runs: Sequence[ReplayResult], field: str) -> None:
    left = [0] * len(runs)
    for name in CLASS_NAMES:
        if not any(run.packets[name].sent for run in runs):
            continue
        counts = [int(getattr(run.packets[name], field)) for run in runs]
        axis.barh(range(len(runs)), counts, left=left, height=0.7, color=CLASS_COLOURS[name], label=name)
        left = [a + b for a, b in zip(left, counts, strict=True)]
    for row, total in enumerate(left):
        axis.annotate(f" {total:,}", (total, row), va="center", fontsize=8, color=INK)
    axis.set_xlim(0, max([*left, 1]) * 1.2)
    axis.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axis.grid(axis="y", visible=False)


def latency(runs: Sequence[ReplayResult], labels: Sequence[str]) -> str:
    """Draws the median and 99th percentile of each class, one row per run, in microseconds on a log scale."""
    with styled():
        figure = new_figure(9.5, 0.9 + 0.34 * len(runs))
        axes = figure.subplots(1, len(_TCP), sharey=True, sharex=True, squeeze=False)[0]
        for axis, name in zip(axes, _TCP, strict=True):
            colour = CLASS_COLOURS[name]
            for row, run in enumerate(runs):
                found = run.latency_us[name]
                if found.p50 is None or found.p99 is None:
                    continue
                axis.plot(
                    [found.p50, found.p99], [row, row], color=colour, linewidth=2.5, alpha=0.4, zorder=2
                )
                axis.plot(found.p50, row, "o", color=colour, markersize=5, zorder=3)
                axis.plot(found.p99, row, "|", color=colour, markersize=11, markeredgewidth=2.5, zorder=3)
            axis.set_title(name)
            axis.set_xscale("log")
            axis.set_xlim(*_decades(runs))
            axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.set_xlabel("microseconds")
        axes[0].set_yticks(range(len(runs)), labels)
        axes[0].invert_yaxis()
        return element(figure)


def _decades(runs: Sequence[ReplayResult]) -> tuple[float, float]:
    """Returns powers of ten around all latencies drawn, so that every axis has labels at powers of ten."""
    shown = [
        value
        for run in runs
        for name in _TCP
        for value in (run.latency_us[name].p50, run.latency_us[name].p99)
        if value
    ]
    if not shown:
        return 1.0, 1000.0
    return 10.0 ** math.floor(math.log10(min(shown))), 10.0 ** math.ceil(math.log10(max(shown) * 1.01))


def energy(runs: Sequence[RunResult], labels: Sequence[str]) -> str:
    """Draws the energy used by all links, one bar for each run, split by layer, with a mark for the ideal and
    one for links that never sleep."""
    layer_colours = ("#0072B2", "#56B4E9", "#009E73", "#F0E442")
    with styled():
        figure = new_figure(9.5, 1.0 + 0.36 * len(runs))
        axis = figure.subplots()
        left = [0.0] * len(runs)
        for index, layer in enumerate(runs[0].layers):
            used = [1000 * run.layers[index].energy_joules.used for run in runs]
            colour = layer_colours[index % len(layer_colours)]
            axis.barh(range(len(runs)), used, left=left, height=0.66, color=colour, label=layer.name)
            left = [a + b for a, b in zip(left, used, strict=True)]
        for row, run in enumerate(runs):
            for value, style, name in (
                (run.energy_joules.ideal, ":", "ideal"),
                (run.energy_joules.legacy, "-", "never asleep"),
            ):
                axis.plot(
                    [1000 * value] * 2, [row - 0.42, row + 0.42], style, color="black", linewidth=1.4,
                    label=name if row == 0 else None,
                )  # fmt: skip
        axis.set_yticks(range(len(runs)), labels)
        axis.invert_yaxis()
        axis.set_xlabel("energy of all transmitters over the run, mJ")
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axis.grid(axis="y", visible=False)
        figure.legend(loc="outside lower center", ncols=6)
        return element(figure)
