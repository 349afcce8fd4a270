"""A replay on a live fabric, as a table in a terminal and as a page."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from eeon_tools.replay import html, plots
from eeon_tools.replay.live_result import LiveResult
from eeon_tools.replay.result import CLASS_NAMES
from eeon_tools.replay.table import microseconds, plain

_HEAD = (
    "class",
    "sent",
    "delivered",
    "arrived CE",
    "marked",
    "early drop",
    "tail drop",
    "other drop",
    "lost",
    "mean us",
    "p50 us",
    "p99 us",
)
_FIRST_LOSS, _LAST_LOSS = _HEAD.index("early drop"), _HEAD.index("lost")


def _rows(run: LiveResult) -> Iterator[list[str]]:
    for name in CLASS_NAMES:
        found, latency = run.packets[name], run.latency_us[name]
        if not found.sent:
            continue
        counts = (found.sent, found.delivered, found.arrived_marked, found.marked)
        drops = (found.early_dropped, found.tail_dropped, found.other_dropped, found.lost)
        times = (latency.mean, latency.p50, latency.p99)
        yield [name, *(f"{count:,}" for count in (*counts, *drops)), *map(microseconds, times)]


def by_class(run: LiveResult) -> Table:
    """What became of each class, and how long it took."""
    table = plain(*_HEAD)
    for row in _rows(run):
        table.add_row(*row)
    return table


def remarks(run: LiveResult) -> list[str]:
    """What to know before believing the numbers, in sentences."""
    late, lost = run.lateness, run.losses
    found = [
        f"Frames left their hosts {late.p50_us:,.1f} us (median), {late.p99_us:,.1f} us (99th percentile) "
        f"and at most {late.max_us:,.1f} us after their times."
    ]
    if not run.kept_its_times:
        found.append(
            f"THE TRACE'S TIMES WERE NOT KEPT: {late.late:,} of {run.total().sent:,} frames left more than "
            f"{late.limit_us:,.1f} us late, the time of a full frame on a host's link. Use a lower --speed "
            "or a computer with more cores."
        )
    if run.total().lost:
        found.append(
            f"{run.total().lost:,} packets were lost that no switch has counted as dropped, in buffers of "
            f"the computer: {lost.before_leaves:,} on the way to the first switch's program, "
            f"{lost.between:,} inside the fabric, {lost.after_leaves:,} on the way to hosts."
        )
    counts = (
        (run.refused, "frames were refused by the kernel and not sent"),
        (run.overruns, "frames reached hosts and were lost before they could be counted"),
        (run.foreign, "frames reached hosts that this replay had not sent"),
        (run.misdelivered, "packets reached the wrong host"),
        (run.duplicated, "packets arrived once more than they were sent"),
        (run.untimed, "packets arrived without a latency: others that look the same were lost"),
        (run.skipped_not_ip, "packets of the trace were left out because they are not IP"),
    )
    return found + [f"{count:,} {what}." for count, what in counts if count]


def run_page(run: LiveResult) -> str:
    """What one replay did to each class, and how far it can be believed."""
    total = run.total()
    rows: list[list[html.Cell]] = []
    for row in _rows(run):
        cells: list[html.Cell] = list(row)
        for column in range(_FIRST_LOSS, _LAST_LOSS + 1):
            cells[column] = (row[column], "bad" if row[column] != "0" else "")
        rows.append(cells)
    body = [
        html.paragraph(
            f"{total.sent:,} packets of `{run.trace}` through a live fabric `{run.topology}` of {run.target} "
            f"switches, configured with `{_configured(run)}`: {total.delivered:,} delivered, "
            f"{total.marked:,} marked by switches, {total.early_dropped:,} dropped early by AQM, "
            f"{total.tail_dropped:,} dropped because a buffer was full, {total.lost:,} lost by the computer.",
            "lead",
        ),
        html.paragraph(
            "This is an open-loop replay in real time: hosts send what the trace says and do not react to "
            "drops, marks or delay. Its numbers are those of one run on one computer; energy and queue "
            "depths are not measured, because no PHY is there to sleep."
        ),
        html.verdict(" ".join(remarks(run)), run.kept_its_times),
        html.heading("By class"),
        html.table(_HEAD, rows),
        html.figure(
            plots.drops_by_class([run], [run.name]),
            "Drops at all switches, by the class of the packet that was dropped.",
        ),
        html.figure(
            plots.latency([run], [run.name]),
            "From being sent by its host to the kernel's time of arrival: median (dot) and 99th percentile "
            "(bar).",
        ),
        html.heading("Conditions"),
        html.bullets(_conditions(run)),
    ]
    return html.page(f"Replay {run.name}", body)


def _configured(run: LiveResult) -> str:
    return " + ".join(run.config) or "what was there"


def _conditions(run: LiveResult) -> list[str]:
    seed = "none (no manifest)" if run.trace_seed is None else str(run.trace_seed)
    wakes = "not told by this target" if run.wakes is None else f"{run.wakes:,}"
    return [
        f"Trace `{run.trace}`, SHA-256 `{run.trace_sha256}`, seed {seed}, sent at {run.speed:g} times its "
        f"own speed; {run.real_seconds:,.3f} s from the first packet to the last.",
        f"P4 program `{run.program_digest}`; switch clocks tick every {run.tick_ps / 1000:g} ns; wakes of "
        f"switch ports: {wakes}.",
        "Of every class, what was sent was delivered, counted as dropped by the P4 program, or called lost.",
    ]
