"""From what the engine and the switches say after a run to the columns of a row (see `columns`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from eeon_control.topology import PortRole, Topology
from eeon_control.units import DataRate
from eeon_tools.replay.result import ClassPackets

from eeon_experiments.results import Value
from eeon_experiments.settings import RunSettings
from eeon_experiments.workloads.mapreduce import Cluster

_PS_PER_US = 10**6
_PS_PER_S = 10**12
_SMALL_BYTES = 1_000_000
_SHARES = ("map_share", "shuffle_share", "reduce_share")
_QUANTILES = ("mean", "p50", "p99")
_SPEEDS = {"1g": DataRate(10**9), "10g": DataRate(10**10)}
_QUEUES = {
    PortRole.HOST_FACING: "queue_max_bytes_host_facing",
    PortRole.UPLINK: "queue_max_bytes_uplink",
    PortRole.SPINE: "queue_max_bytes_spine",
}


def measured(
    settings: RunSettings,
    topology: Topology,
    spec: Mapping[str, Any],
    report: Mapping[str, Any],
    packets: Mapping[str, ClassPackets],
    registers: Mapping[tuple[str, int], Mapping[str, int]],
) -> dict[str, Value]:
    """All columns that the run itself decides: the same settings and seed give the same values."""
    return {
        "virtual_seconds": report["elapsed_ps"] / _PS_PER_S,
        "p4_passes": report["p4_passes"],
        "events": report["events"],
        **_jobs(settings, topology, report["workload"]),
        **_latencies(report),
        **_packets(packets),
        **_queues(topology, report),
        **_flows(report["workload"]["flows"]),
        **_rpc(report["workload"]["applications"]),
        **_energy(topology, spec, report),
        "wakes": sum(values["wakes"] for values in registers.values()),
        "reordered": sum(port["reordered"] for switch in report["switches"] for port in switch["ports"]),
        "phy_violations": report["energy"]["total"]["violations"],
    }


def with_nics(packets: Mapping[str, ClassPackets], report: Mapping[str, Any]) -> dict[str, ClassPackets]:
    """What switches marked and dropped together with what hosts' NICs did, where these have an AQM or a
    limit."""
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


def _jobs(settings: RunSettings, topology: Topology, workload: Mapping[str, Any]) -> dict[str, Value]:
    named: list[tuple[str, Mapping[str, Any]]] = [
        (f"{application['name']}/{job['name']}", job)
        for application in workload["applications"]
        if not settings.workload.applications[application["name"]].background
        for job in application.get("jobs") or ()
    ]
    runtime_ps = workload["finished_ps"]
    found: dict[str, Value] = {}
    if named:
        jobs = [job for _, job in named]
        runtime_ps = max(job["arrival_ps"] + job["runtime_ps"] for job in jobs) - min(
            job["arrival_ps"] for job in jobs
        )
        runtimes = {name: job["runtime_ps"] / _PS_PER_S for name, job in named}
        found = {
            "job_runtime_mean_seconds": _mean(runtimes.values()),
            "job_runtimes_json": json.dumps(runtimes),
            **{key: _mean(job[key] for job in jobs) for key in _SHARES},
        }
    bits = 8 * workload["flows"]["bytes_received"] / _workers(settings, topology)
    return {
        "runtime_seconds": runtime_ps / _PS_PER_S,
        **found,
        "throughput_per_node_bps": _ratio(bits * _PS_PER_S, workload["busy_ps"]),
        "goodput_per_node_runtime_bps": _ratio(bits * _PS_PER_S, runtime_ps),
    }


def _workers(settings: RunSettings, topology: Topology) -> int:
    """Hosts that run tasks; all hosts where nothing does."""
    workers: set[str] = set()
    for application in settings.workload.applications.values():
        if isinstance(application, Cluster):
            workers.update(application.worker_hosts(topology))
    return len(workers) or len(topology.hosts)


def _latencies(report: Mapping[str, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    found |= {f"latency_{key}_us": one for key, one in _quantiles(report.get("latency"), _PS_PER_US).items()}
    arrived = [one for one in report["classes"].values() if one["latency"] is not None]
    together_ps = sum(one["delivered"]["packets"] * one["latency"]["mean_ps"] for one in arrived)
    packets = sum(one["delivered"]["packets"] for one in arrived)
    found["latency_mean_us"] = together_ps / packets / _PS_PER_US if packets else None
    for name, one in report["classes"].items():
        for key, value in _quantiles(one["latency"], _PS_PER_US).items():
            found[f"latency_{name}_{key}_us"] = value
    return found


def _packets(packets: Mapping[str, ClassPackets]) -> dict[str, Value]:
    keys = ("sent", "delivered", "marked", "early_dropped", "tail_dropped", "other_dropped")
    return {f"{key}_{name}": getattr(found, key) for name, found in packets.items() for key in keys}


def _queues(topology: Topology, report: Mapping[str, Any]) -> dict[str, Value]:
    roles = {(port.node, port.number): port.role for port in topology.ports()}
    found: dict[str, Value] = {}
    for switch in report["switches"]:
        for port in switch["ports"]:
            column = _QUEUES[roles[switch["name"], port["port"]]]
            found[column] = max(found.get(column, 0), port["max_queue_bytes"])
    return found


def _flows(flows: Mapping[str, Any]) -> dict[str, Value]:
    small = [one for one in flows["by_size"] if one["up_to_bytes"] is not None]
    small = [one for one in small if one["up_to_bytes"] <= _SMALL_BYTES and one["completion_ps"] is not None]
    weights = sum(one["count"] for one in small)
    weighted = sum(one["count"] * one["completion_ps"]["mean_ps"] for one in small)
    below = _quantiles(flows.get("completion_small_ps"), _PS_PER_S)
    counted = (
        "data_segments", "retransmitted_segments", "fast_recoveries", "timeouts", "syn_timeouts",
        "mark_reductions",
    )  # fmt: skip
    return {
        "flows": flows["started"],
        **{f"fct_{key}_seconds": one for key, one in _quantiles(flows["completion_ps"], _PS_PER_S).items()},
        "fct_small_mean_seconds": weighted / weights / _PS_PER_S if weights else None,
        "fct_small_p99_seconds": below["p99"],
        **{key: flows[key] for key in counted},
    }


def _rpc(applications: Iterable[Mapping[str, Any]]) -> dict[str, Value]:
    """Of the first application that has response times."""
    found = next((one["response_ps"] for one in applications if one.get("response_ps")), None)
    return {f"rpc_{key}_us": value for key, value in _quantiles(found, _PS_PER_US).items()}


def _energy(topology: Topology, spec: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Value]:
    total = report["energy"]["total"]
    kinds = ("used", "legacy", "ideal")
    found: dict[str, Value] = {f"energy_{kind}_joules": total[f"{kind}_joules"] for kind in kinds}
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
        found[f"energy_{name}_used_joules"] = sum(one["used_joules"] for one in there)
        found[f"energy_{name}_legacy_joules"] = watts * seconds
        found[f"energy_{name}_ideal_joules"] = watts * (sending + lpi * (seconds - sending))
        found[f"lpi_share_{name}"] = _ratio(sum(one["lpi_ps"] for one in there) / _PS_PER_S, seconds)
    return found


def _rates(topology: Topology) -> dict[tuple[str, str, int], DataRate]:
    """By node, peer and port of a transmitter; a host's port is 0 in the engine."""
    ports = [(port, port.number) for port in topology.ports()]
    ports += [(host.port, 0) for host in topology.hosts.values()]
    return {(port.node, port.peer.node, number): port.rate for port, number in ports}


def _quantiles(distribution: Mapping[str, Any] | None, unit_ps: int) -> dict[str, float | None]:
    if distribution is None:
        return dict.fromkeys(_QUANTILES)
    return {key: distribution[f"{key}_ps"] / unit_ps for key in _QUANTILES}


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


def _ratio(number: float, by: float) -> float | None:
    return number / by if by else None
