"""Results of replays as tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from eeon_tools.replay.live_result import LiveResult
from eeon_tools.replay.pauses import PausedQueue
from eeon_tools.replay.result import RunResult
from eeon_tools.tables import Rows
from eeon_tools.trace.frames import CLASS_NAMES


def microseconds(value: float | None) -> str:
    """Returns a latency in microseconds, with one decimal below 1000."""
    if value is None:
        return "-"
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


_HEADS = {
    "arrived_marked": "arrived CE",
    "early_dropped": "early drop",
    "tail_dropped": "tail drop",
    "other_dropped": "other drop",
}


def by_class(run: RunResult | LiveResult) -> Rows:
    """Returns the outcomes and latencies of each class; `lost` only if packets could be lost."""
    counts, drops = ["sent", "delivered", "marked"], ["early_dropped", "tail_dropped", "other_dropped"]
    if isinstance(run, LiveResult):
        counts.insert(2, "arrived_marked")
    if isinstance(run, LiveResult) or run.faults:
        drops.append("lost")
    rows = []
    for name in CLASS_NAMES:
        found, latency = run.packets[name], run.latency_us[name]
        if found.sent:
            numbers = (getattr(found, key) for key in (*counts, *drops))
            times = (latency.mean, latency.p50, latency.p99)
            rows.append([name, *(f"{number:,}" for number in numbers), *map(microseconds, times)])
    head = ("class", *(_HEADS.get(key, key) for key in (*counts, *drops)), "mean us", "p50 us", "p99 us")
    first = 1 + len(counts)
    return Rows(head, rows, range(first, first + len(drops)))


def faulty_links(run: RunResult) -> Rows:
    """Returns a row for each direction of a link that was to fail."""
    rows = [
        (
            link.name,
            f"{link.down_ms:,.3f}",
            f"{sum(link.lost.values()) - (control := link.lost.get('control', 0)):,}",
            f"{control:,}",
        )
        for link in run.faults
    ]
    return Rows(("failed link", "down ms", "lost", "control frames lost"), rows)


def paused(queues: Iterable[PausedQueue]) -> Rows:
    """Returns a row for each queue that was paused by its neighbour."""
    rows = [
        (
            queue.name,
            f"{queue.priority}",
            f"{queue.pauses:,}",
            f"{100 * queue.paused_share:.1f} %",
            f"{queue.paused_ms:,.3f}",
            f"{queue.longest_ms:,.3f}",
        )
        for queue in queues
    ]
    return Rows(("paused transmitter", "priority", "pauses", "paused", "in all ms", "longest ms"), rows)


def overtime(run: RunResult) -> str | None:
    """Returns a warning about comparing this run's joules with another's; None if they can be compared."""
    longer = run.virtual_seconds - run.common_end_seconds
    if longer <= 0:
        return None
    return (
        f"Not all was delivered {1000 * run.common_end_seconds:,.3f} ms after the start, so energy was "
        f"measured for {1000 * longer:,.3f} ms longer: compare its shares with other runs, "
        "not its joules."
    )


_LAYER_HEAD = (
    "transmitters", "number", "used mJ", "never asleep mJ", "ideal mJ", "busy", "low-power idle", "wakes",
)  # fmt: skip


def by_layer(run: RunResult) -> Rows:
    """Returns the energy and sleep of each kind of transmitter."""
    return Rows(_LAYER_HEAD, list(_layers(run)))


def by_eee_and_layer(runs: Mapping[str, RunResult]) -> Rows:
    """Returns the same of runs that differ in EEE. A line ends each run."""
    rows = [(eee, *row) for eee, run in runs.items() for row in _layers(run)]
    return Rows(("EEE", *_LAYER_HEAD), rows, group_size=len(rows) // len(runs), named=2)


def _layers(run: RunResult) -> Iterator[Sequence[str]]:
    for layer in run.layers:
        energy = layer.energy_joules
        joules = (energy.used, energy.legacy, energy.ideal)
        shares = (layer.busy_share, layer.lpi_share)
        yield (
            layer.name,
            f"{layer.transmitters}",
            *(f"{1000 * value:,.2f}" for value in joules),
            *(f"{100 * share:.1f} %" for share in shares),
            f"{layer.wakes:,}",
        )


def comparison(runs: Sequence[RunResult], labels: Iterable[tuple[str, str]], group_size: int) -> Rows:
    """Returns a table of replays of one trace, one in each row; `labels` are (AQM, EEE). A line ends each
    group."""
    head = (
        "AQM", "EEE", "marked", "ACK early drop", "SYN early drop", "data early drop", "tail drop",
        "data us p50", "data us p99", "ACK us p99", "queue KB", "energy mJ", "% of legacy", "wakes",
    )  # fmt: skip
    rows = []
    for run, label in zip(runs, labels, strict=True):
        early = {name: found.early_dropped for name, found in run.packets.items()}
        deepest, energy = run.deepest_queue(), run.energy_joules
        times = (run.latency_us["data"].p50, run.latency_us["data"].p99, run.latency_us["ack"].p99)
        rows.append(
            (
                *label,
                f"{run.total().marked:,}",
                f"{early['ack'] + early['ack_ece']:,}",
                f"{early['syn'] + early['syn_ack']:,}",
                f"{early['data']:,}",
                f"{run.total().tail_dropped:,}",
                *map(microseconds, times),
                f"{deepest.highest / 1000:,.0f}" if deepest else "-",
                f"{1000 * energy.used:,.0f}",
                f"{100 * energy.used / energy.legacy:.1f}" if energy.legacy else "-",
                f"{run.wakes:,}",
            )
        )
    return Rows(head, rows, range(3, 6), group_size, named=2)
