"""Comparison of the slowdowns in two runs of the same flows: size classes, bands, tables."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from eeon_control.units import Bytes, DataRate, Duration
from eeon_engine.json_types import FlowRow, QueueDepthReport
from eeon_tools.quantiles import by_rank

CLASSES = (
    (10**4, "up to 10 kB"),
    (10**5, "10 to 100 kB"),
    (10**6, "100 kB to 1 MB"),
    (10**7, "1 to 10 MB"),
    (None, "above"),
)
"""The largest flow of each class in bytes, and its name, as in `eeon_experiments/columns.csv`."""


Summary = Mapping[str, float]
"""Slowdowns of one class in one run: mean, p50, p99."""


class ClassPair(TypedDict):
    """One size class in all runs of the twin and in ns-3's run."""

    name: str
    flows: int
    twin: list[Summary]
    ns3: Summary


Whole = Mapping[str, float]
"""Results of a run besides its flows: queue_mean_bytes and queue_max_bytes of the ports to hosts, packets
marked and dropped by switches, retransmissions, timeouts (except those of SYNs), cpu_seconds."""


class Case(TypedDict):
    """One list of flows with one congestion control."""

    flows: int
    classes: list[ClassPair]
    twin: list[Whole]
    ns3: Whole


Bands = Mapping[str, Mapping[str, float]]
"""Maximum distances of ns-3's numbers from the range of the twin's runs, as a share of the larger number, by
the first word of the case's name: for statistics of slowdowns in classes with `least_flows`, and `marked`."""


def ns3_settings(settings: Mapping[str, Any]) -> list[str]:
    """Converts the settings of the twin's run to arguments of `flows.cc`."""
    fabric, tcp = settings["topology"]["leaf_spine"], settings["tcp"]
    ports: dict[str, Any] = {"aqm": {"threshold": "0B"}}
    for part in settings["config"]:
        if isinstance(part, dict):
            ports.update(part["profiles"]["queue"]["fabric"])
    told = {
        "algorithm": tcp["algorithm"],
        "leaves": fabric["leaves"],
        "hosts": fabric["hosts_per_leaf"],
        "spines": fabric["spines"],
        "host_bps": int(DataRate.parse(fabric["host_link"]["rate"])),
        "uplink_bps": int(DataRate.parse(fabric["uplink"]["rate"])),
        "delay_ps": int(Duration.parse(settings["topology"]["defaults"]["delay"])),
        "buffer_bytes": int(Bytes.parse(ports["buffer"])),
        # With DCTCP no packet is Not-ECT; ns-3's RED needs this setting.
        "drop_not_ect": int(tcp["algorithm"] == "dctcp"),
        "threshold_bytes": int(Bytes.parse(ports["aqm"]["threshold"])),
        "window_bytes": int(Bytes.parse(tcp["receive_buffer"])),
        "min_rto_ps": int(Duration.parse(tcp["min_rto"])),
        "initial_rto_ps": int(Duration.parse(tcp["initial_rto"])),
        "delayed_ack_ps": int(Duration.parse(tcp["delayed_ack"]["timer"])),
        "limit_ps": int(Duration.parse(settings["time_limit"])),
    }
    return [f"{key}={value}" for key, value in told.items()]


def flow_lines(rows: Sequence[FlowRow], hosts: Sequence[str]) -> str:
    """Returns the list in the format of `flows.cc`; hosts become indices in `hosts`. Raises ValueError for an
    unknown host."""
    place = {name: number for number, name in enumerate(hosts)}
    unknown = {row[end] for row in rows for end in ("source", "destination")} - place.keys()
    if unknown:
        raise ValueError(f"{sorted(unknown)[0]} is not one of the {len(hosts)} hosts")
    lines = []
    for row in rows:
        ends = f"{place[row['source']]} {place[row['destination']]}"
        lines.append(f"{ends} {row['bytes']} {row['at_ps']} {int(row['measured'])}\n")
    return "".join(lines)


def summary(slowdowns: Sequence[float]) -> Summary:
    """Returns mean and nearest-rank quantiles of at least one slowdown."""
    ordered = sorted(slowdowns)
    mean = math.fsum(ordered) / len(ordered)
    return {"mean": mean, "p50": by_rank(ordered, 0.5), "p99": by_rank(ordered, 0.99)}


def slowdowns(
    rows: Sequence[FlowRow], completions_ps: Sequence[int | None], where: str
) -> dict[str, list[float]]:
    """Returns the slowdowns of measured flows by class, relative to the twin's minimum time for their paths.
    Raises ValueError if such a flow has no end, or if the numbers of flows differ; `where` names the run."""
    if len(rows) != len(completions_ps):
        raise ValueError(f"{len(rows)} flows in the list, {len(completions_ps)} in {where}")
    found: dict[str, list[float]] = {name: [] for _, name in CLASSES}
    for number, (row, time) in enumerate(zip(rows, completions_ps, strict=True)):
        if not row["measured"]:
            continue
        ideal = row["ideal_ps"]
        if time is None or ideal is None:
            raise ValueError(f"flow {number}, {row['bytes']} bytes, has not ended in {where}")
        name = next(name for limit, name in CLASSES if limit is None or row["bytes"] <= limit)
        found[name].append(time / ideal)
    return found


def by_class(runs: Sequence[Sequence[FlowRow]], theirs_ps: Sequence[int | None]) -> list[ClassPair]:
    """Returns each class with flows, from runs of the twin with one list and ns-3's completion times in the
    list's order. Raises ValueError as `slowdowns` does."""
    ours = [slowdowns(rows, [row["completion_ps"] for row in rows], "the twin") for rows in runs]
    theirs = slowdowns(runs[0], theirs_ps, "ns-3")
    return [
        {
            "name": name,
            "flows": len(found),
            "twin": [summary(run[name]) for run in ours],
            "ns3": summary(found),
        }
        for name, found in theirs.items()
        if found
    ]


def mean_depth(depths: QueueDepthReport, ports: Collection[tuple[str, int]], seconds: float) -> float:
    """Returns the mean of each period's maximum depth, over `ports` and all whole periods of a run, in
    bytes. A port that was always empty is not in `depths`."""
    periods = max(1, int(seconds * 1e12) // depths["period_ps"])
    kept = (one["max_bytes"][:periods] for one in depths["queues"] if (one["switch"], one["port"]) in ports)
    return sum(map(sum, kept)) / len(ports) / periods


def beyond(ours: Sequence[float], theirs: float) -> float:
    """Returns the distance of `theirs` from the range of `ours`, as a share of the larger of it and the
    range's nearer end; 0 within the range."""
    nearest = min(max(theirs, min(ours)), max(ours))
    return abs(theirs - nearest) / max(theirs, nearest) if theirs != nearest else 0.0


def outside(cases: Mapping[str, Case], bands: Bands) -> list[str]:
    """Returns a line for each number outside its band, with the range, the number and the band."""
    return [line for name, case in cases.items() for line in _outside(name, case, bands)]


def _outside(name: str, case: Case, bands: Bands) -> Iterator[str]:
    own = bands[name.partition("_")[0]]
    judged = [
        (f"{one['name']}: {key} slowdown", [run[key] for run in one["twin"]], one["ns3"][key], own[key])
        for one in case["classes"]
        if one["flows"] >= own["least_flows"]
        for key in ("mean", "p50", "p99")
        if key in own
    ]
    if "marked" in own:
        marked = [run["marked"] for run in case["twin"]]
        judged.append(("packets marked", marked, case["ns3"]["marked"], own["marked"]))
    for what, ours, theirs, band in judged:
        if beyond(ours, theirs) > band:
            number = ".0f" if theirs > 1000 else ".2f"
            numbers = f"{min(ours):{number}} to {max(ours):{number}} and {theirs:{number}}"
            yield f"{name}, {what} {numbers}, more than {band:.0%} apart"


def tables(cases: Mapping[str, Case]) -> list[str]:
    """Returns the lines of both tables: slowdowns by class, and the other results of each run. A number of
    the twin is the mean over its runs, with minimum and maximum."""
    lines = [
        "| case | flows of | number | mean: twin | ns-3 | median: twin | ns-3 | p99: twin | ns-3 |",
        "|---|---|" + "--:|" * 7,
    ]
    for name, case in cases.items():
        for one in case["classes"]:
            cells = []
            for key in ("mean", "p50", "p99"):
                cells += [_range([run[key] for run in one["twin"]], 2), f"{one['ns3'][key]:.2f}"]
            lines.append(f"| `{name}` | {one['name']} | {one['flows']} | {' | '.join(cells)} |")
    lines.append("")
    lines.append("| case | in | " + " | ".join(title for title, _, _ in _WHOLE) + " |")
    lines.append("|---|---|" + "--:|" * len(_WHOLE))
    for name, case in cases.items():
        ours = [_range([run[key] * scale for run in case["twin"]], scale < 1) for _, key, scale in _WHOLE]
        theirs = [f"{case['ns3'][key] * scale:.{int(scale < 1)}f}" for _, key, scale in _WHOLE]
        lines.append(f"| `{name}` | twin | {' | '.join(ours)} |")
        lines.append(f"| `{name}` | ns-3 | {' | '.join(theirs)} |")
    return lines


_WHOLE = (
    ("queue, mean kB", "queue_mean_bytes", 1e-3),
    ("deepest, kB", "queue_max_bytes", 1e-3),
    ("marks", "marked", 1),
    ("dropped", "dropped", 1),
    ("sent again", "retransmissions", 1),
    ("time-outs", "timeouts", 1),
    ("CPU, s", "cpu_seconds", 1),
)


def _range(values: Sequence[float], digits: int) -> str:
    low, mean, high = (
        f"{one:.{int(digits)}f}" for one in (min(values), math.fsum(values) / len(values), max(values))
    )
    return mean if low == high else f"{mean} ({low} to {high})"
