"""The columns of a row, in order: name, type, meaning. They define the table of rows, the row, and the table
in docs/experiments.md. Units are in the names."""

from dataclasses import dataclass
from typing import Literal

from eeon_tools.trace.frames import CLASS_NAMES

Type = Literal["text", "whole", "number", "flag"]
AXIS = "axis_"
ENTRIES = "entries_digest"
SIZE_CLASSES = {
    "": "of all sizes",
    "10kb_": "up to 10 kB",
    "100kb_": "10 to 100 kB",
    "1mb_": "100 kB to 1 MB",
    "10mb_": "1 to 10 MB",
    "above_10mb_": "above 10 MB",
}
"""Part of a column's name, and the sizes that it stands for, in the engine's order."""
SLOWDOWN_PARTS = ("count", "mean", "p50", "p95", "p99", "p999")
OF_THE_MACHINE = ("wall_seconds", "cpu_seconds", "peak_rss_bytes")
"""Columns whose values differ when a run is repeated."""


@dataclass(frozen=True)
class Column:
    """One column. Every value may be missing (None)."""

    name: str
    type: Type
    meaning: str


def _by_class() -> list[Column]:
    found = []
    for name in CLASS_NAMES:
        for key in ("mean", "p50", "p99"):
            found.append(Column(f"latency_{name}_{key}_us", "number", f"the same, {name} packets"))
    meanings = {
        "sent": "packets that hosts sent",
        "delivered": "packets that arrived",
        "marked": "packets set to CE by a switch or a NIC",
        "early_dropped": "packets that the AQM of a switch or a NIC dropped",
        "tail_dropped": "packets that did not fit into a buffer",
        "other_dropped": "packets without route, malformed, not to be forwarded, or sent to the controller",
    }
    for key, meaning in meanings.items():
        found += [Column(f"{key}_{name}", "whole", f"{meaning}: {name}") for name in CLASS_NAMES]
    return found


def _energy() -> list[Column]:
    found = []
    for part, of in (("", "all transmitters"), ("1g_", "those at 1 Gbit/s"), ("10g_", "those at 10 Gbit/s")):
        found += [
            Column(f"energy_{part}used_joules", "number", f"energy over the run, {of}"),
            Column(f"energy_{part}legacy_joules", "number", f"the same without EEE, {of}"),
            Column(f"energy_{part}ideal_joules", "number", f"the same with sleep and wake times of 0, {of}"),
        ]
    return found


def _slowdowns() -> list[Column]:
    found = []
    meanings = {
        "count": "measured flows of the first application `flows`, without one all transfers",
        "mean": "mean of the completion time divided by the least time that the path allows",
        "p50": "median of the same",
        "p95": "95th percentile of the same",
        "p99": "99th percentile of the same",
        "p999": "99.9th percentile of the same",
    }
    for size, of in SIZE_CLASSES.items():
        for key in SLOWDOWN_PARTS:
            kind: Type = "whole" if key == "count" else "number"
            found.append(Column(f"slowdown_{size}{key}", kind, f"{meanings[key]}, {of}"))
    return found


IDENTITY = (
    Column("run_id", "text", "hash of resolved settings, seed, program and engine"),
    Column("experiment", "text", "name of the experiment"),
    Column("quick", "flag", "whether the run is of the scaled-down form"),
    Column("seed", "whole", "seed of the switches' draws and of the workload"),
    Column("commit", "text", "commit of the checkout that made the row"),
    Column("dirty", "flag", "whether tracked files had changed since that commit"),
    Column("program_digest", "text", "SHA-256 of the compiled P4 program"),
    Column("engine_digest", "text", "SHA-256 over the engine's sources"),
)
"""Columns before the axes. The columns of the axes are `axis_NAME`, with text."""

MEASURED = (
    Column(
        "settings_json",
        "text",
        "the run's settings after all overlays; for a long list, its length and digest",
    ),
    Column(
        ENTRIES, "text", "first 16 digits of SHA-256 over all switches' table entries; empty in older rows"
    ),
    Column("status", "text", "`finished` or `failed`"),
    Column("error", "text", "why the run failed"),
    Column("virtual_seconds", "number", "virtual time until the last foreground application finished"),
    Column("wall_seconds", "number", "real time of the run, start-up included"),
    Column("cpu_seconds", "number", "CPU time of the run, start-up included"),
    Column("p4_passes", "whole", "runs of parser and ingress of all switches"),
    Column("events", "whole", "events of the engine"),
    Column("peak_rss_bytes", "whole", "maximum memory of the process during the run"),
    Column(
        "runtime_seconds",
        "number",
        "from the first arrival of a job to the end of the last job, or of the whole workload",
    ),
    Column("job_runtime_mean_seconds", "number", "mean over jobs"),
    Column("job_runtimes_json", "text", "by job, seconds"),
    Column("coflow_completions_json", "text", "by coflow, seconds; null if a transfer failed"),
    Column("map_share", "number", "share of a job's runtime until its last map task ends, mean over jobs"),
    Column("shuffle_share", "number", "share from there until its last fetch ends"),
    Column("reduce_share", "number", "share after that"),
    Column(
        "reducer_shuffle_mean_seconds",
        "number",
        "from a reducer's first fetch over the network to its last byte, mean over reducers, mean over jobs",
    ),
    Column(
        "shuffle_seconds",
        "number",
        "from a job's first fetch over the network until its last reducer has all data, mean over jobs",
    ),
    Column(
        "throughput_per_node_bps",
        "number",
        "payload received by TCP per worker, over the time with transfers",
    ),
    Column("goodput_per_node_runtime_bps", "number", "payload received by TCP per worker, over the runtime"),
    Column("latency_mean_us", "number", "from the NIC to the last bit, all packets that arrived"),
    Column("latency_p50_us", "number", "median of the same"),
    Column("latency_p99_us", "number", "99th percentile of the same"),
    *_by_class(),
    Column("queue_max_bytes_host_facing", "whole", "deepest queue of a leaf's ports to hosts"),
    Column("queue_max_bytes_uplink", "whole", "deepest queue of a leaf's ports to spines"),
    Column("queue_max_bytes_spine", "whole", "deepest queue of a spine's ports"),
    Column(
        "queue_level_share",
        "number",
        "with queue_samples: of the samples above half of the maximum of the deepest host-facing "
        "queue, the share above 0.77 of the maximum",
    ),
    Column(
        "queue_falls",
        "whole",
        "with queue_samples: how often that queue fell from above three quarters of its maximum to "
        "below a half",
    ),
    Column("flows", "whole", "connections that were opened"),
    Column("fct_mean_seconds", "number", "completion time of transfers"),
    Column("fct_p50_seconds", "number", "median of the same"),
    Column("fct_p99_seconds", "number", "99th percentile of the same"),
    Column("fct_small_mean_seconds", "number", "completion time of transfers up to 1 MB"),
    Column("fct_small_p99_seconds", "number", "99th percentile of the same"),
    Column("retransmitted_segments", "whole", "retransmitted segments"),
    Column("data_segments", "whole", "segments with payload, retransmitted ones included"),
    Column("timeouts", "whole", "expirations of retransmission timers, those for SYNs included"),
    Column("syn_timeouts", "whole", "expirations of retransmission timers for SYNs"),
    Column("fast_recoveries", "whole", "losses found by duplicate ACKs"),
    Column("mark_reductions", "whole", "window reductions for marks"),
    Column(
        "offered_load",
        "number",
        "payload that the first application `flows` draws, as a share of the rates of the links that send",
    ),
    Column("flows_measured", "whole", "flows of the first application `flows` between warm-up and cool-down"),
    Column(
        "flows_given_up",
        "whole",
        "measured flows that never ended, because their connection was given up; without such an "
        "application, all transfers; empty if there are none",
    ),
    *_slowdowns(),
    Column("rpc_mean_us", "number", "response time of the requests of the first application `rpc`"),
    Column("rpc_p50_us", "number", "median of the same"),
    Column("rpc_p99_us", "number", "99th percentile of the same"),
    Column("query_mean_us", "number", "from a query of the first `scatter_gather` to its answer"),
    Column("query_p50_us", "number", "median of the same"),
    Column("query_p99_us", "number", "99th percentile of the same"),
    Column("queries_failed", "whole", "queries with a failed part"),
    Column("step_mean_us", "number", "a step of the first application `phases`, computation included"),
    Column("step_p50_us", "number", "median of the same"),
    Column("step_p99_us", "number", "99th percentile of the same"),
    Column("messages_resent", "whole", "messages of `phases` that were resent over a new connection"),
    Column("cnms", "whole", "congestion notification messages that hosts received"),
    Column("cnms_without_effect", "whole", "congestion notification messages that changed no rate"),
    Column("limiters_max", "whole", "maximum number of flows of one NIC that QCN limited at a time"),
    Column("cnps_sent", "whole", "congestion notification packets that receivers sent (DCQCN)"),
    Column("cnps", "whole", "congestion notification packets that senders received"),
    Column("cnp_limiters_max", "whole", "maximum number of flows of one NIC that DCQCN limited at a time"),
    *_energy(),
    Column("lpi_share_1g", "number", "share of the time in low power idle, transmitters at 1 Gbit/s"),
    Column("lpi_share_10g", "number", "the same at 10 Gbit/s"),
    Column("scheduled_flows", "whole", "flows that were announced to the scheduler"),
    Column("scheduler_decisions", "whole", "number of the scheduler's decisions"),
    Column("wakes", "whole", "number of wakes of switch ports, from the P4 program's registers"),
    Column("reordered", "whole", "packets sent after one that was queued later"),
    Column("phy_violations", "whole", "transmissions before the PHY was awake; anything but 0 is a bug"),
    Column(
        "lost_on_links", "whole", "packets that links lost because they were down, control frames included"
    ),
    Column(
        "lossless_dropped",
        "whole",
        "packets of lossless classes that switches dropped because they did not fit",
    ),
)
"""Columns after the axes."""

NUMBERS = tuple(
    column.name
    for column in MEASURED
    if column.type in ("whole", "number") and column.name not in OF_THE_MACHINE
)
"""Columns with numbers that are deterministic."""
MEASURED_NAMES = frozenset(column.name for column in MEASURED)
_TYPES: dict[str, Type] = {column.name: column.type for column in (*IDENTITY, *MEASURED)}


def type_of(name: str) -> Type:
    """Returns the type of a column: text for an unknown one, as for an axis."""
    return _TYPES.get(name, "text")


def columns(axes: list[str]) -> list[Column]:
    """Returns all columns of an experiment's rows, in order."""
    of_axes = (Column(f"{AXIS}{axis}", "text", f"value of the axis {axis}") for axis in axes)
    return [*IDENTITY, *of_axes, *MEASURED]
