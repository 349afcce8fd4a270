"""Conversion of a run's settings to the engine's fabric specification and workload, as plain values."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from eeon_control import plan
from eeon_control.config import Eee, FabricConfig
from eeon_control.topology import Host, Port, Topology
from eeon_control.units import Duration
from eeon_tools.errors import UnavailableError
from eeon_tools.replay.spec import TICK_PS, fabric_spec
from eeon_tools.trace.frames import ETHERNET_HEADER_BYTES, MTU_BYTES

from eeon_experiments.nic_queue import queue_like
from eeon_experiments.settings import RunSettings

if TYPE_CHECKING:
    from eeon_engine.json_types import FabricSpec, WorkloadSpec


def with_added_delay(topology: Topology, added: Duration) -> Topology:
    """Returns the same fabric with a latency added to each direction of every link.

    The `document` stays that of the file, without the added latency.
    """
    if not added:
        return topology

    def longer(port: Port) -> Port:
        return replace(port, delay=Duration(port.delay + added))

    return replace(
        topology,
        links=tuple(replace(link, delay=Duration(link.delay + added)) for link in topology.links),
        hosts={name: replace(host, port=longer(host.port)) for name, host in topology.hosts.items()},
        switches={
            name: replace(switch, ports=tuple(longer(port) for port in switch.ports))
            for name, switch in topology.switches.items()
        },
    )


def spec_of(settings: RunSettings, topology: Topology, config: FabricConfig, seed: int) -> FabricSpec:
    """Returns the engine's fabric. Raises UnavailableError for settings that a twin cannot have."""
    nics = {host.name: _nic_eee(settings, topology, config, host) for host in topology.hosts.values()}
    spec = fabric_spec(topology, config, seed, nics)
    for host in spec["hosts"]:
        nic = host.get("nic")
        assert nic is not None, "fabric_spec gives each host a NIC"
        if settings.nic.queue == "as_leaf":
            nic.update(queue_like(config, _leaf_port(topology, topology.hosts[host["name"]])))
        elif settings.nic.queue == "fair":
            nic["fair"] = True
        if settings.nic.qcn is not None:
            nic["qcn"] = settings.nic.qcn.engine()
        if settings.nic.dcqcn is not None:
            nic["dcqcn"] = settings.nic.dcqcn.engine()
        if settings.scheduler is not None and nic.get("eee") is not None:
            # The engine does not model sleep between paced frames, so a scheduler's rates would not hold.
            raise UnavailableError(
                f"a scheduler with NICs that sleep, such as the one of {host['name']}, is not modelled: "
                "set nic.eee to `off`, or leave the scheduler out"
            )
    if settings.scheduler is not None:
        spec["scheduler"] = settings.scheduler.engine()
    tx_ps, rx_ps = int(settings.host.tx_delay), int(settings.host.rx_delay)
    if tx_ps or rx_ps:
        spec["host_delay"] = {"tx_ps": tx_ps, "rx_ps": rx_ps}
    if settings.faults:
        spec["faults"] = [fault.engine() for fault in settings.faults]
    if not settings.queue_samples:
        spec["queue_samples"] = {**spec["queue_samples"], "max": 2}  # the engine's minimum
    return spec


def entries_of(topology: Topology, config: FabricConfig) -> str:
    """Returns the first 16 hexadecimal digits of the SHA-256 of all switches' table entries.

    Raises PlanError as `plan.intended` does.
    """
    planned = plan.intended(topology, config, TICK_PS)
    lines = (f"{name} {plan.entries_digest(entries)}\n" for name, entries in planned.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def workload_of(settings: RunSettings, topology: Topology, seed: int) -> WorkloadSpec:
    jitter = settings.start_jitter
    return {
        "seed": seed,
        "tcp": settings.tcp.engine(),
        "applications": settings.workload.engine(
            topology, seed, _frame_time(topology) if jitter is None else jitter
        ),
    }


def _frame_time(topology: Topology) -> Duration:
    """Returns the transmit time of a full frame on the slowest host's link, in picoseconds, rounded up."""
    ports = (host.port for host in topology.hosts.values())
    return Duration(
        max(
            -(-8 * 10**12 * (ETHERNET_HEADER_BYTES + MTU_BYTES + int(port.overhead)) // int(port.rate))
            for port in ports
        )
    )


def _nic_eee(settings: RunSettings, topology: Topology, config: FabricConfig, host: Host) -> Eee:
    port = host.port
    if settings.nic.eee is not None:
        return settings.nic.eee.at(port.rate, config.phy.get(port.rate))
    if config.attached(port, "eee") is not None:
        return config.eee_of(port)
    return config.eee_of(_leaf_port(topology, host))


def _leaf_port(topology: Topology, host: Host) -> Port:
    leaf = topology.port(str(host.port.peer))
    assert leaf is not None, "a host's link ends at a switch port"
    return leaf
