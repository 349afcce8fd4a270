"""Slowdowns of two runs of the same flows side by side: classes of sizes, bands, tables."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from eeon_control.units import Bytes, DataRate, Duration

CLASSES = (
    (10**4, "up to 10 kB"),
    (10**5, "10 to 100 kB"),
    (10**6, "100 kB to 1 MB"),
    (10**7, "1 to 10 MB"),
    (None, "above"),
)
"""Largest flow of each class in bytes, and its name, as in `eeon_experiments.columns`."""


class FlowRow(TypedDict):
    """One flow as the twin reports it."""

    source: str
    destination: str
    bytes: int
    at_ps: int
    measured: bool
    completion_ps: int | None
    ideal_ps: int


Summary = Mapping[str, float]
"""Slowdowns of one class in one simulator: mean, p50, p99."""


class ClassPair(TypedDict):
    """One class of sizes in both."""

    name: str
    flows: int
    twin: Summary
    ns3: Summary


Whole = Mapping[str, float]
"""What a run came to beside its flows: queue_mean_bytes and queue_max_bytes of the ports to hosts, packets
marked and dropped by switches, retransmissions, timeouts, cpu_seconds."""


class Case(TypedDict):
    """One list of flows under one congestion control."""

    flows: int
    classes: list[ClassPair]
    twin: Whole
    ns3: Whole


class PortDepths(TypedDict):
    """The deepest queue of one port in each period, up to the last in which there was one."""

    switch: str
    port: int
    max_bytes: list[int]


class Depths(TypedDict):
    """The queues of a run over time."""

    period_ps: int
    queues: list[PortDepths]


class Bands(TypedDict):
    """How far the two may be apart, as a share of the larger one: slowdowns by algorithm and statistic, of
    classes with enough flows, and marks by algorithm."""

    least_flows: int
    slowdown: dict[str, dict[str, float]]
    marked: dict[str, float]


def ns3_settings(settings: Mapping[str, Any]) -> list[str]:
    """Returns what the twin is told, a run's settings, as arguments of `flows.cc`."""
    fabric, tcp = settings["topology"]["leaf_spine"], settings["tcp"]
    ports = {}
    for part in settings["config"]:
        if isinstance(part, dict):
            ports.update(part["profiles"]["queue"]["fabric"])
    aqm = ports["aqm"]
    told = {
        "algorithm": tcp["algorithm"],
        "leaves": fabric["leaves"],
        "hosts": fabric["hosts_per_leaf"],
        "spines": fabric["spines"],
        "host_bps": int(DataRate.parse(fabric["host_link"]["rate"])),
        "uplink_bps": int(DataRate.parse(fabric["uplink"]["rate"])),
        "delay_ps": int(Duration.parse(settings["topology"]["defaults"]["delay"])),
        "buffer_bytes": int(Bytes.parse(ports["buffer"])),
        "threshold_bytes": int(Bytes.parse(aqm.get("threshold", aqm.get("max")))),
        "window_bytes": int(Bytes.parse(tcp["receive_buffer"])),
        "min_rto_ps": int(Duration.parse(tcp["min_rto"])),
        "initial_rto_ps": int(Duration.parse(tcp["initial_rto"])),
        "delayed_ack_ps": int(Duration.parse(tcp["delayed_ack"]["timer"])),
        "limit_ps": int(Duration.parse(settings["time_limit"])),
    }
    return [f"{key}={value}" for key, value in told.items()]


def flow_lines(rows: Sequence[FlowRow], hosts: Sequence[str]) -> str:
    """Returns the list as `flows.cc` reads it; hosts become their places in `hosts`. Raises ValueError for
    another host."""
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

    def quantile(share: float) -> float:
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)]

    return {"mean": sum(ordered) / len(ordered), "p50": quantile(0.5), "p99": quantile(0.99)}


def by_class(rows: Sequence[FlowRow], theirs_ps: Sequence[int | None]) -> list[ClassPair]:
    """Returns both summaries of each class that has flows, from the twin's rows and the other completion
    times in their order. The least time of a flow's path is the twin's for both. Raises ValueError where a
    measured flow has not ended, or the numbers of flows differ."""
    if len(rows) != len(theirs_ps):
        raise ValueError(f"{len(rows)} flows in the twin, {len(theirs_ps)} in ns-3")
    found: dict[str, list[tuple[float, float]]] = {name: [] for _, name in CLASSES}
    for number, (row, theirs) in enumerate(zip(rows, theirs_ps, strict=True)):
        if not row["measured"]:
            continue
        ours, ideal = row["completion_ps"], row["ideal_ps"]
        if ours is None or theirs is None:
            where = "the twin" if ours is None else "ns-3"
            raise ValueError(f"flow {number}, {row['bytes']} bytes, has not ended in {where}")
        name = next(name for limit, name in CLASSES if limit is None or row["bytes"] <= limit)
        found[name].append((ours / ideal, theirs / ideal))
    return [
        {
            "name": name,
            "flows": len(pairs),
            "twin": summary([ours for ours, _ in pairs]),
            "ns3": summary([theirs for _, theirs in pairs]),
        }
        for name, pairs in found.items()
        if pairs
    ]


def mean_depth(depths: Depths, ports: Container[tuple[str, int]], count: int, seconds: float) -> float:
    """Returns the mean over `count` ports and all whole periods of a run of the deepest queue of each period,
    in bytes. A port that was always empty is not in `depths`."""
    periods = max(1, int(seconds * 1e12) // depths["period_ps"])
    kept = (one["max_bytes"][:periods] for one in depths["queues"] if (one["switch"], one["port"]) in ports)
    return sum(map(sum, kept)) / count / periods


def apart(one: float, other: float) -> float:
    """Returns by which share of the larger one two numbers differ."""
    return abs(one - other) / max(one, other) if max(one, other) > 0 else 0.0


def outside(cases: Mapping[str, Case], bands: Bands) -> list[str]:
    """Returns what is outside its band, a line each with both numbers and the band."""
    return [line for name, case in cases.items() for line in _outside(name, case, bands)]


def _outside(name: str, case: Case, bands: Bands) -> Iterator[str]:
    for one in case["classes"]:
        if one["flows"] < bands["least_flows"]:
            continue
        for key, band in bands["slowdown"][name.partition("_")[0]].items():
            ours, theirs = one["twin"][key], one["ns3"][key]
            if apart(ours, theirs) > band:
                numbers = f"{key} slowdown {ours:.2f} and {theirs:.2f}"
                yield f"{name}, {one['name']}: {numbers}, more than {band:.0%} apart"
    ours, theirs = case["twin"]["marked"], case["ns3"]["marked"]
    band = bands["marked"][name.partition("_")[0]]
    if apart(ours, theirs) > band:
        yield f"{name}: {ours} and {theirs} packets marked, more than {band:.0%} apart"


def tables(cases: Mapping[str, Case]) -> list[str]:
    """Returns the lines of both tables: slowdowns by class, and the rest of each run."""
    lines = ["| case | flows of | number | mean | median | p99 |", "|---|---|--:|--:|--:|--:|"]
    for name, case in cases.items():
        for one in case["classes"]:
            cells = [_pair(one["twin"][key], one["ns3"][key]) for key in ("mean", "p50", "p99")]
            lines.append(f"| `{name}` | {one['name']} | {one['flows']} | {' | '.join(cells)} |")
    lines += [
        "",
        "| case | queue, mean kB | deepest, kB | marks | dropped | sent again | time-outs | CPU, s |",
        "|---|" + "--:|" * 7,
    ]
    for name, case in cases.items():
        ours, theirs = case["twin"], case["ns3"]
        cells = [
            *(
                f"{ours[key] / 1e3:.1f} / {theirs[key] / 1e3:.1f}"
                for key in ("queue_mean_bytes", "queue_max_bytes")
            ),
            *(f"{ours[key]} / {theirs[key]}" for key in ("marked", "dropped", "retransmissions", "timeouts")),
            f"{ours['cpu_seconds']:.0f} / {theirs['cpu_seconds']:.0f}",
        ]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def _pair(ours: float, theirs: float) -> str:
    return f"{ours:.2f} / {theirs:.2f}"
