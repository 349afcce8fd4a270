"""A replay on a live fabric, as a table in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from eeon_tools.replay.live_result import LiveResult
from eeon_tools.replay.result import CLASS_NAMES
from eeon_tools.replay.table import microseconds, plain

HEAD = (
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
FIRST_LOSS, LAST_LOSS = HEAD.index("early drop"), HEAD.index("lost")


def rows(run: LiveResult) -> Iterator[list[str]]:
    """Yields a row of texts under `HEAD` for each class that was sent."""
    for name in CLASS_NAMES:
        found, latency = run.packets[name], run.latency_us[name]
        if not found.sent:
            continue
        counts = (found.sent, found.delivered, found.arrived_marked, found.marked)
        drops = (found.early_dropped, found.tail_dropped, found.other_dropped, found.lost)
        times = (latency.mean, latency.p50, latency.p99)
        yield [name, *(f"{count:,}" for count in (*counts, *drops)), *map(microseconds, times)]


def by_class(run: LiveResult) -> Table:
    """Returns what became of each class, and how long it took."""
    table = plain(*HEAD)
    for row in rows(run):
        table.add_row(*row)
    return table


def remarks(run: LiveResult) -> list[str]:
    """Returns what to know before believing the numbers, in sentences."""
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
    by_ecn = run.feed.by_ecn
    if run.feed.offered and not by_ecn["ect_0"] + by_ecn["ect_1"]:
        found.append(f"None of {run.feed.offered:,} packets is ECN-capable: switches mark none of them.")
    counts = (
        (run.refused, "frames were refused by the kernel and not sent"),
        (run.overruns, "frames reached hosts and were lost before they could be counted"),
        (run.foreign, "frames reached hosts that this replay had not sent"),
        (run.misdelivered, "packets reached the wrong host"),
        (run.duplicated, "packets arrived once more than they were sent"),
        (run.untimed, "packets arrived without a latency: others that look the same were lost"),
    )
    return found + [f"{count:,} {what}." for count, what in counts if count]
