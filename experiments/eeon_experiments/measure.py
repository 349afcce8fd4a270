"""The columns of a row (`columns`), computed from the reports of the engine and the switches after a run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from eeon_control.topology import PortRole, Topology
from eeon_control.units import DataRate
from eeon_tools.replay.result import ClassPackets

from eeon_experiments.columns import SIZE_CLASSES, SLOWDOWN_PARTS
from eeon_experiments.results import Value
from eeon_experiments.settings import RunSettings
from eeon_experiments.workloads.flows import Flows
from eeon_experiments.workloads.mapreduce import Cluster

if TYPE_CHECKING:
    from eeon_engine.json_types import (
        ApplicationReport,
        Distribution,
        FabricSpec,
        Report,
        SlowdownReport,
        TransfersReport,
        WorkloadReport,
    )

_T = TypeVar("_T")
_CNMS = {
    "cnms": ("messages",),
    "cnms_without_effect": ("malformed", "unknown_flow", "without_effect", "without_limiter"),
}
_CNPS = {"cnps_sent": ("cnps_sent",), "cnps": ("cnps",)}
"""The counts of a host's reaction points in each column, for QCN and for DCQCN."""

_PS_PER_US = 10**6
_PS_PER_S = 10**12
_SMALL_BYTES = 1_000_000
_SPEEDS = {"1g": DataRate(10**9), "10g": DataRate(10**10)}
_QUEUES = {
    PortRole.HOST_FACING: "queue_max_bytes_host_facing",
    PortRole.UPLINK: "queue_max_bytes_uplink",
    PortRole.SPINE: "queue_max_bytes_spine",
}


def measured(
    settings: RunSettings,
    topology: Topology,
    spec: FabricSpec,
    report: Report,
    packets: Mapping[str, ClassPackets],
    registers: Mapping[tuple[str, int], Mapping[str, int]],
) -> dict[str, Value]:
    """Returns all columns that are deterministic: the same settings and seed give the same values."""
    workload = workload_report(report)
    applications, scheduler = workload["applications"], workload.get("scheduler")
    return {
        "virtual_seconds": report["elapsed_ps"] / _PS_PER_S,
        "p4_passes": report["p4_passes"],
        "events": report["events"],
        **_jobs(settings, topology, workload),
        **_latencies(report),
        **_packets(packets),
        **_queues(topology, report),
        **(_shape(topology, report) if settings.queue_samples else dict.fromkeys(_SHAPE)),
        **_flows(workload["flows"]),
        **_slowdowns(settings, workload),
        **_times(applications),
        **_limiters(report, "qcn", "limiters_max", _CNMS),
        **_limiters(report, "dcqcn", "cnp_limiters_max", _CNPS),
        **_coflows(settings, applications),
        "scheduled_flows": None if scheduler is None else scheduler["flows"],
        "scheduler_decisions": None if scheduler is None else scheduler["decisions"],
        **_energy(topology, spec, report),
        "wakes": sum(values["wakes"] for values in registers.values()),
        "reordered": sum(port["reordered"] for switch in report["switches"] for port in switch["ports"]),
        "lost_on_links": report["conservation"]["link_drops"],
        "phy_violations": report["energy"]["total"]["violations"],
    }


def workload_report(report: Report) -> WorkloadReport:
    """Returns the applications' part of the report, which every run of an experiment has."""
    workload = report.get("workload")
    assert workload is not None, "the engine reports on the workload that it was given"
    return workload


def flow_rows(report: Report) -> list[Mapping[str, object]]:
    """Returns each flow of the applications that record flows, with the application's name and DSCP."""
    return [
        {"application": one["name"], "dscp": one.get("dscp", 0), **row}
        for one in workload_report(report)["applications"]
        if one["kind"] == "flows"
        for row in one.get("rows") or ()
    ]


def with_nics(packets: Mapping[str, ClassPackets], report: Report) -> dict[str, ClassPackets]:
    """Returns the packet counts with the marks and drops of hosts' NICs added to the switches', if NICs have
    an AQM or a limit."""
    found = {}
    for name, one in packets.items():
        nics = report["nic_queues"][name]
        found[name] = replace(
            one,
            marked=one.marked + nics["marked"],
            early_dropped=one.early_dropped + nics["early_dropped"],
            tail_dropped=one.tail_dropped + nics["tail_dropped"],
        )
    return found


def _jobs(settings: RunSettings, topology: Topology, workload: WorkloadReport) -> dict[str, Value]:
    named = [
        (f"{application['name']}/{job['name']}", job)
        for application in workload["applications"]
        if application["kind"] == "mapreduce"
        and not settings.workload.applications[application["name"]].background
        for job in application["jobs"]
    ]
    runtime_ps = _known(workload["finished_ps"])
    found: dict[str, Value] = {}
    if named:
        jobs = [job for _, job in named]
        runtime_ps = max(job["arrival_ps"] + _known(job["runtime_ps"]) for job in jobs) - min(
            job["arrival_ps"] for job in jobs
        )
        runtimes = {name: _known(job["runtime_ps"]) / _PS_PER_S for name, job in named}
        found = {
            "job_runtime_mean_seconds": _mean(runtimes.values()),
            "job_runtimes_json": json.dumps(runtimes),
            "map_share": _mean(_known(job["map_share"]) for job in jobs),
            "shuffle_share": _mean(_known(job["shuffle_share"]) for job in jobs),
            "reduce_share": _mean(_known(job["reduce_share"]) for job in jobs),
            "reducer_shuffle_mean_seconds": _mean(
                fetched["mean_ps"] / _PS_PER_S
                for job in jobs
                if (fetched := job["reducer_shuffle_ps"]) is not None
            ),
            "shuffle_seconds": _mean(
                (_known(job["last_fetch_end_ps"]) - first) / _PS_PER_S
                for job in jobs
                if (first := job["first_fetch_start_ps"]) is not None
            ),
        }
    bits = 8 * workload["flows"]["bytes_received"] / _workers(settings, topology)
    return {
        "runtime_seconds": runtime_ps / _PS_PER_S,
        **found,
        "throughput_per_node_bps": _ratio(bits * _PS_PER_S, workload["busy_ps"]),
        "goodput_per_node_runtime_bps": _ratio(bits * _PS_PER_S, runtime_ps),
    }


def _workers(settings: RunSettings, topology: Topology) -> int:
    """Returns the number of hosts that run tasks; of all hosts without tasks."""
    workers: set[str] = set()
    for application in settings.workload.applications.values():
        if isinstance(application, Cluster):
            workers.update(application.worker_hosts(topology))
    return len(workers) or len(topology.hosts)


def _latencies(report: Report) -> dict[str, Value]:
    found = _quantiles("latency_{}_us", report.get("latency"))
    arrived = [
        (one["delivered"]["packets"], one["latency"]["mean_ps"])
        for one in report["classes"].values()
        if one["latency"] is not None
    ]
    together_ps = sum(count * mean_ps for count, mean_ps in arrived)
    packets = sum(count for count, _ in arrived)
    found["latency_mean_us"] = together_ps / packets / _PS_PER_US if packets else None
    for name, one in report["classes"].items():
        found |= _quantiles(f"latency_{name}_{{}}_us", one["latency"])
    return found


def _packets(packets: Mapping[str, ClassPackets]) -> dict[str, Value]:
    keys = ("sent", "delivered", "marked", "early_dropped", "tail_dropped", "other_dropped")
    return {f"{key}_{name}": getattr(found, key) for name, found in packets.items() for key in keys}


def _queues(topology: Topology, report: Report) -> dict[str, Value]:
    roles = {(port.node, port.number): port.role for port in topology.ports()}
    deepest: dict[str, int] = {}
    for switch in report["switches"]:
        for port in switch["ports"]:
            column = _QUEUES[roles[switch["name"], port["port"]]]
            deepest[column] = max(deepest.get(column, 0), port["max_queue_bytes"])
    return dict(deepest)


_OF_TCP = (
    *("data_segments", "retransmitted_segments", "fast_recoveries", "timeouts", "syn_timeouts"),
    "mark_reductions",
)
_SHAPE = ("queue_level_share", "queue_falls")
_HALF, _HIGH, _LEVEL = 0.5, 0.75, 0.77


def _shape(topology: Topology, report: Report) -> dict[str, Value]:
    """Returns the shape, step or sawtooth, of the deepest of the queues of leaves' ports to hosts."""
    roles = {(port.node, port.number): port.role for port in topology.ports()}
    host_facing = (
        queue["max_bytes"]
        for queue in report["queue_depth"]["queues"]
        if roles[queue["switch"], queue["port"]] is PortRole.HOST_FACING
    )
    depths = max(host_facing, key=max, default=[])
    deepest = max(depths, default=0)
    above = [depth for depth in depths if depth > _HALF * deepest]
    if not above:
        return dict.fromkeys(_SHAPE)
    falls, is_high = 0, False
    for depth in depths:
        if depth > _HIGH * deepest:
            is_high = True
        elif is_high and depth < _HALF * deepest:
            falls, is_high = falls + 1, False
    return {
        "queue_level_share": sum(depth > _LEVEL * deepest for depth in above) / len(above),
        "queue_falls": falls,
    }


def _flows(flows: TransfersReport) -> dict[str, Value]:
    small = [
        (one["count"], one["completion_ps"]["mean_ps"])
        for one in flows["by_size"]
        if one["up_to_bytes"] is not None
        and one["up_to_bytes"] <= _SMALL_BYTES
        and one["completion_ps"] is not None
    ]
    weights = sum(count for count, _ in small)
    weighted = sum(count * mean_ps for count, mean_ps in small)
    below = _quantiles("{}_seconds", flows.get("completion_small_ps"))
    parts = cast("Mapping[str, Value]", flows)
    return {
        "flows": flows["started"],
        **_quantiles("fct_{}_seconds", flows["completion_ps"]),
        "fct_small_mean_seconds": weighted / weights / _PS_PER_S if weights else None,
        "fct_small_p99_seconds": below["p99_seconds"],
        **{key: parts[key] for key in _OF_TCP},
    }


def _slowdowns(settings: RunSettings, workload: WorkloadReport) -> dict[str, Value]:
    """Returns the slowdowns of the first application with flows, or of all transfers if there is none."""
    for one in workload["applications"]:
        if one["kind"] == "flows":
            application = settings.workload.applications[one["name"]]
            # A list has no time in which its flows could start.
            is_drawn = isinstance(application, Flows) and application.listed is None
            return {
                "offered_load": one["load"] if is_drawn else None,
                "flows_measured": one["measured"],
                "flows_given_up": one["failed"],
                **_slowdown_columns(one["slowdown"], one["slowdown_by_size"]),
            }
    flows = workload["flows"]
    return {
        **dict.fromkeys(("offered_load", "flows_measured")),
        "flows_given_up": flows["given_up"] or None,
        **_slowdown_columns(flows["slowdown"], flows["slowdown_by_size"]),
    }


def _slowdown_columns(whole: SlowdownReport, by_size: list[SlowdownReport]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for size, one in zip(SIZE_CLASSES, (whole, *by_size), strict=True):
        parts = cast("Mapping[str, Value]", one)
        found |= {f"slowdown_{size}{key}": parts[key] for key in SLOWDOWN_PARTS}
    return found


def _times(applications: Iterable[ApplicationReport]) -> dict[str, Value]:
    """Returns the times of the first application with responses, with queries, and with phases."""
    responses = (one["response_ps"] for one in applications if one["kind"] == "rpc" and one["response_ps"])
    queries = next((one for one in applications if one["kind"] == "scatter_gather"), None)
    phases = next((one for one in applications if one["kind"] == "phases"), None)
    return {
        **_quantiles("rpc_{}_us", next(responses, None)),
        **_quantiles("query_{}_us", queries and queries["query_ps"]),
        "queries_failed": queries and queries["failed"],
        **_quantiles("step_{}_us", phases and phases["step_ps"]),
        "messages_resent": phases and phases["resent"],
    }


def _limiters(report: Report, kind: str, most: str, sums: Mapping[str, Sequence[str]]) -> dict[str, Value]:
    """Returns sums of some counts over all hosts with reaction points of a kind; in the column `most`, the
    maximum number of a host's limiters."""
    hosts = (cast("Mapping[str, Mapping[str, int] | None]", host).get(kind) for host in report["hosts"])
    found = [one for one in hosts if one is not None]
    if not found:
        return dict.fromkeys((*sums, most))
    totals = {column: sum(one[count] for one in found for count in counts) for column, counts in sums.items()}
    return {**totals, most: max(one["max_limiters"] for one in found)}


def _coflows(settings: RunSettings, applications: Iterable[ApplicationReport]) -> dict[str, Value]:
    completions = {
        f"{application['name']}/{coflow['name']}": (
            coflow["completion_ps"] / _PS_PER_S if coflow["completion_ps"] is not None else None
        )
        for application in applications
        if application["kind"] == "coflows"
        and not settings.workload.applications[application["name"]].background
        for coflow in application["coflows"]
    }
    return {"coflow_completions_json": json.dumps(completions) if completions else None}


def _energy(topology: Topology, spec: FabricSpec, report: Report) -> dict[str, Value]:
    total = report["energy"]["total"]
    found: dict[str, Value] = {
        "energy_used_joules": total["used_joules"],
        "energy_legacy_joules": total["legacy_joules"],
        "energy_ideal_joules": total["ideal_joules"],
    }
    rates = _rates(topology)
    for name, rate in _SPEEDS.items():
        phy = next((one for one in spec["phy"] if one["rate_bps"] == rate), None)
        there = [
            one
            for one in report["energy"]["transmitters"]
            if rates[one["node"], one["peer"], one["port"]] == rate
        ]
        if phy is None or not there:
            continue
        watts, lpi = phy["watts"], phy["lpi_fraction"]
        seconds = len(there) * report["elapsed_ps"] / _PS_PER_S
        sending = sum(one["transmitting_ps"] for one in there) / _PS_PER_S
        found[f"energy_{name}_used_joules"] = math.fsum(one["used_joules"] for one in there)
        found[f"energy_{name}_legacy_joules"] = watts * seconds
        found[f"energy_{name}_ideal_joules"] = watts * (sending + lpi * (seconds - sending))
        found[f"lpi_share_{name}"] = _ratio(sum(one["lpi_ps"] for one in there) / _PS_PER_S, seconds)
    return found


def _rates(topology: Topology) -> dict[tuple[str, str, int], DataRate]:
    """Returns rates by the transmitter's node, peer and port; the engine numbers a host's port 0."""
    ports = [(port, port.number) for port in topology.ports()]
    ports += [(host.port, 0) for host in topology.hosts.values()]
    return {(port.node, port.peer.node, number): port.rate for port, number in ports}


def _quantiles(column: str, distribution: Distribution | None) -> dict[str, Value]:
    """Returns the columns of a distribution, in the unit at the end of their names; {} is the quantile."""
    unit_ps = _PS_PER_US if column.endswith("_us") else _PS_PER_S
    found = cast("Mapping[str, int] | None", distribution)
    return {
        column.format(key): None if found is None else found[f"{key}_ps"] / unit_ps
        for key in ("mean", "p50", "p99")
    }


def _known(value: _T | None) -> _T:
    """Returns a value that the engine reports for everything that has finished."""
    assert value is not None, "a run ends when all that is not in the background has finished"
    return value


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return math.fsum(found) / len(found) if found else None


def _ratio(number: float, by: float) -> float | None:
    return number / by if by else None
