"""Results as tables in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from eeon_tools.replay.result import CLASS_NAMES, ClassPackets, RunResult


def plain(*columns: str, title: str | None = None) -> Table:
    """Returns a table without lines, numbers to the right."""
    table = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 1))
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def microseconds(value: float | None) -> str:
    """Returns a latency with as many digits as it deserves."""
    if value is None:
        return "-"
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def by_class(run: RunResult) -> Table:
    """One replay: what became of each class, and how long it took."""
    table = plain(*class_head(run))
    for name in CLASS_NAMES:
        found, latency = run.packets[name], run.latency_us[name]
        if not found.sent:
            continue
        counts = (found.sent, found.delivered, found.marked, *losses(run, found))
        times = (latency.mean, latency.p50, latency.p99)
        table.add_row(name, *(f"{count:,}" for count in counts), *(microseconds(time) for time in times))
    return table


def class_head(run: RunResult) -> tuple[str, ...]:
    """Returns the columns of a replay by class; `lost` only where links were to fail."""
    lost = ("lost",) if run.faults else ()
    return (
        "class", "sent", "delivered", "marked", "early drop", "tail drop", "other drop", *lost,
        "mean us", "p50 us", "p99 us",
    )  # fmt: skip


def losses(run: RunResult, found: ClassPackets) -> tuple[int, ...]:
    """Returns what did not arrive of a class, by cause, in the order of the columns."""
    lost = (found.lost,) if run.faults else ()
    return (found.early_dropped, found.tail_dropped, found.other_dropped, *lost)


FAULT_HEAD = ("failed link", "down ms", "lost", "control frames lost")


def faulty_links(run: RunResult) -> list[tuple[str, ...]]:
    """Returns a row for each direction of a link that was to fail."""
    return [
        (
            link.name,
            f"{link.down_ms:,.3f}",
            f"{sum(link.lost.values()) - (control := link.lost.get('control', 0)):,}",
            f"{control:,}",
        )
        for link in run.faults
    ]


def overtime(run: RunResult) -> str | None:
    """Returns what to know before comparing this run's joules with another's; None when there is nothing to
    know."""
    if run.overtime_seconds <= 0:
        return None
    return (
        f"Not all was delivered {1000 * run.common_end_seconds:,.3f} ms after the start, so energy was "
        f"measured for {1000 * run.overtime_seconds:,.3f} ms longer: compare its shares with other runs, "
        "not its joules."
    )


def by_layer(run: RunResult) -> Table:
    """One replay: energy and sleep of each kind of transmitter."""
    table = plain(
        "transmitters", "number", "used mJ", "never asleep mJ", "ideal mJ", "busy", "low-power idle", "wakes"
    )
    for layer in run.layers:
        energy = layer.energy_joules
        joules = (energy.used, energy.legacy, energy.ideal)
        table.add_row(
            layer.name,
            f"{layer.transmitters}",
            *(f"{1000 * value:,.2f}" for value in joules),
            f"{100 * layer.busy_share:.1f} %",
            f"{100 * layer.lpi_share:.1f} %",
            f"{layer.wakes:,}",
        )
    return table


def comparison(runs: Sequence[RunResult], labels: Sequence[tuple[str, str]], group_size: int) -> Table:
    """Many replays of one trace, one a row; `labels` are (AQM, EEE). A line after every `group_size` rows."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("AQM", "EEE"):
        table.add_column(heading, no_wrap=True)
    for heading in (
        "marked", "ACK early drop", "SYN early drop", "data early drop", "tail drop", "data us p50",
        "data us p99", "ACK us p99", "queue KB", "energy mJ", "% of legacy", "wakes",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    for number, (run, (aqm, eee)) in enumerate(zip(runs, labels, strict=True), start=1):
        found = run.packets
        acks = found["ack"].early_dropped + found["ack_ece"].early_dropped
        syns = found["syn"].early_dropped + found["syn_ack"].early_dropped
        deepest = run.deepest_queue()
        energy = run.energy_joules
        table.add_row(
            aqm,
            eee,
            f"{run.total().marked:,}",
            _alarm(acks),
            _alarm(syns),
            _alarm(found["data"].early_dropped),
            f"{run.total().tail_dropped:,}",
            microseconds(run.latency_us["data"].p50),
            microseconds(run.latency_us["data"].p99),
            microseconds(run.latency_us["ack"].p99),
            f"{deepest.highest / 1000:,.0f}" if deepest else "-",
            f"{1000 * energy.used:,.0f}",
            f"{100 * energy.used / energy.legacy:.1f}" if energy.legacy else "-",
            f"{run.wakes:,}",
            end_section=number % group_size == 0,
        )
    return table


def _alarm(count: int) -> Text:
    return Text(f"{count:,}", style="bold red" if count else "")
