"""The page about a replay on a live fabric."""

from __future__ import annotations

from eeon_tools import html
from eeon_tools.replay import plots
from eeon_tools.replay.live_result import LiveResult, remarks
from eeon_tools.replay.table import by_class


def run_page(run: LiveResult) -> str:
    """Returns the page about one replay: the fate of each class, and how reliable the numbers are."""
    total = run.total()
    body = [
        html.paragraph(
            f"{total.sent:,} packets of `{run.trace}` through a live fabric `{run.topology}` of {run.target} "
            f"switches, configured with `{_configured(run)}`: {total.delivered:,} delivered, "
            f"{total.marked:,} marked by switches, {total.early_dropped:,} dropped early by AQM, "
            f"{total.tail_dropped:,} dropped because a buffer was full, {total.lost:,} lost by the computer.",
            "lead",
        ),
        html.paragraph(
            "This is an open-loop replay in real time: hosts send the trace's packets and do not react to "
            "drops, marks or delay. The numbers are from one run on one computer. Energy and queue depths "
            "are not measured, because no PHY sleeps."
        ),
        html.outcome(" ".join(remarks(run)), run.kept_its_times),
        html.heading("By class"),
        by_class(run).on_page(),
        html.figure(
            plots.drops_by_class([run], [run.name]),
            "Drops at all switches, by packet class.",
        ),
        html.figure(
            plots.latency([run], [run.name]),
            "From the host's send to the kernel's time of arrival: median (dot) and 99th percentile (bar).",
        ),
        html.heading("Conditions"),
        html.bullets(_conditions(run)),
    ]
    return html.page(f"Replay {run.name}", body)


def _configured(run: LiveResult) -> str:
    return " + ".join(run.config) or "its earlier settings"


def _conditions(run: LiveResult) -> list[str]:
    seed = "none (no manifest)" if run.trace_seed is None else str(run.trace_seed)
    wakes = "this target does not report them" if run.wakes is None else f"{run.wakes:,}"
    return [
        f"Trace `{run.trace}`, SHA-256 `{run.trace_sha256}`, seed {seed}, sent at {run.speed:g} times its "
        f"own speed; {run.real_seconds:,.3f} s from the first packet to the last.",
        f"P4 program `{run.program_digest}`; switch clocks tick every {run.tick_ps / 1000:g} ns; wakes of "
        f"switch ports: {wakes}.",
        "In every class, each sent packet was delivered, counted as dropped by the P4 program, or is lost.",
    ]
