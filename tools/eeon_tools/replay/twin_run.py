"""One replay from beginning to end.

1. build the twin of the topology and serve each of its switches over P4Runtime on loopback
2. let the controller apply the configuration to all of them, at virtual time zero
3. feed the trace in order of time, one bounded batch at a time, and advance virtual time with it
4. run until no event is left, then on to the common end of the measurement
5. read counters and registers back over P4Runtime, check the packet counts, and compute the result
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eeon_control import config as configs
from eeon_control import program as programs
from eeon_control import topology as topologies
from eeon_control.config.advice import marks
from eeon_control.topology import Topology

from eeon_tools.errors import ReplayError, TraceError
from eeon_tools.hops.recording import Recording, recording_filter
from eeon_tools.replay import packet_counts
from eeon_tools.replay.faults import Fault, FaultyLink
from eeon_tools.replay.feed import AS_A_NIC, Feed, ReadFeed, SendRules
from eeon_tools.replay.pauses import Pauses
from eeon_tools.replay.result import Energy, Latency, Layer, QueueDepth, RunResult, total_of
from eeon_tools.replay.spec import TICK_PS, fabric_spec, transmitters_without_power
from eeon_tools.replay.twin import running_twin
from eeon_tools.replay.unmarked import why_unmarked
from eeon_tools.trace import manifest as manifests
from eeon_tools.trace.capture import OnBreak
from eeon_tools.trace.frames import CLASS_NAMES

if TYPE_CHECKING:
    from eeon_engine.hops import HopFilter
    from eeon_engine.json_types import LayerEnergy, Report, TrafficReport

SETTLE_PS = 5_000_000_000
"""Picoseconds after the last offer at which the measurement of energy ends, so that a configuration that
delivers later is not charged for more time. One that has not delivered everything by then (holds of 10 ms at
four hops, buffers of megabytes) is measured until it has; compare shares of such runs, not joules."""
IDLE_LIMIT_PS = 3_600 * 10**12
"""Picoseconds; a fabric that is not idle an hour after the end of the trace never will be."""
_PS_PER_US = 10**6
_PS_PER_S = 10**12
_REGISTERS = ("occupancy_bytes", "occupancy_packets", "wakes")
LAYER_NAMES = {
    "host_nic": "host to leaf",
    "leaf_to_host": "leaf to host",
    "leaf_to_spine": "leaf to spine",
    "spine_to_leaf": "spine to leaf",
    "leaf_to_leaf": "leaf to leaf",
    "spine_to_spine": "spine to spine",
}


@dataclass(frozen=True)
class ReplaySettings:
    """One replay as data; equal settings give the same result.

    `config`: configuration files or names of examples that ship, later ones over earlier ones. `speed`: the
    factor by which the trace is sent faster than its own times. `seed`: of the switches' random draws.
    `faults`: links that fail, at times of the twin.
    """

    name: str
    trace: Path
    topology: str
    config: tuple[str, ...]
    speed: float = 1.0
    seed: int = 1
    rules: SendRules = AS_A_NIC
    on_break: OnBreak | None = None
    faults: tuple[Fault, ...] = ()


def replay(
    settings: ReplaySettings,
    progress: Callable[[int], None] = lambda packets: None,
    recorded: Callable[[Recording], None] | None = None,
    hops: HopFilter | None = None,
    feed: ReadFeed | None = None,
) -> RunResult:
    """Runs one replay. `progress` is called with the number of packets fed. `recorded` is called with the
    events at each hop that `hops` selects (by default all, up to a limit); without it nothing is recorded.
    `feed`: the trace's, if it has been read already.

    Raises TraceError, the controller's errors, UnavailableError without an engine, and ReplayError if the
    packet counts do not add up."""
    started = time.monotonic()
    topology = topologies.load(settings.topology)
    config = configs.load(*settings.config)
    program = programs.load()
    trace_sha256, trace_seed = identity_of(settings.trace)
    offers = feed or feed_of(settings, topology)
    spec = fabric_spec(topology, config, settings.seed)
    if settings.faults:
        spec["faults"] = [fault.engine() for fault in settings.faults]
    with running_twin(topology, program, spec) as twin:
        twin.apply(config)
        if recorded is not None:
            twin.record(recording_filter() if hops is None else hops)
        numbers = array("I")
        for batch in offers.batches():
            if recorded is not None:
                numbers.extend(offer.number for offer in batch)
            twin.send(batch)
            twin.engine.run_until(batch[-1].at_ps)
            progress(offers.counts.offered)
        if not twin.engine.run_to_idle(offers.counts.last_ps + IDLE_LIMIT_PS):
            raise ReplayError(f"{settings.name}: packets are still in transit an hour after the trace's end")
        twin.engine.run_until(offers.counts.last_ps + SETTLE_PS)
        report = twin.report()
        counters = twin.counters()
        lossless_dropped = twin.lossless_dropped() if config.lossless else 0
        registers = twin.registers(_REGISTERS)
        found = twin.recorded()
    packets = packet_counts.class_packets(report, counters)
    packet_counts.check(topology, report, counters, registers, packets, offers.counts.offered)
    if recorded is not None and found is not None:
        recorded(Recording(settings.name, found, topology, config, report["elapsed_ps"], numbers))
    queues = _queues(topology, report)
    ports = topology.ports()
    unmarked = ""
    if not total_of(packets).marked and any(
        marks(aqm) for port in ports for aqm in config.settings_of(port).aqms
    ):
        depths = {f"{queue.switch}:{queue.port}": queue.highest for queue in queues}
        unmarked = why_unmarked(config, ports, offers.counts.by_ecn, depths)
    return RunResult(
        name=settings.name,
        topology=topology.name,
        config=settings.config,
        trace=settings.trace.name,
        trace_sha256=trace_sha256,
        trace_seed=trace_seed,
        seed=settings.seed,
        speed=settings.speed,
        target="twin",
        tick_ps=TICK_PS,
        program_digest=program.digest,
        virtual_seconds=report["elapsed_ps"] / _PS_PER_S,
        common_end_seconds=(offers.counts.last_ps + SETTLE_PS) / _PS_PER_S,
        feed=offers.counts,
        packets=packets,
        latency_us=latencies(report),
        energy_joules=energy_of(report["energy"]["total"]),
        layers=_layers(report),
        queues=queues,
        wakes=sum(values["wakes"] for values in registers.values()),
        reordered=sum(port["reordered"] for switch in report["switches"] for port in switch["ports"]),
        control_frames=report["conservation"]["copies"],
        phy_violations=report["energy"]["total"]["violations"],
        p4_passes=report["p4_passes"],
        wall_seconds=time.monotonic() - started,
        faults=tuple(FaultyLink.of(link, topology) for link in report.get("faults", ())),
        pauses=Pauses.of(report, topology),
        unmarked=unmarked,
        other_drops=packet_counts.other_drops(counters),
        lossless_dropped=lossless_dropped,
        transmitters_without_power=transmitters_without_power(spec),
    )


def feed_of(settings: ReplaySettings, topology: Topology) -> Feed:
    """Returns the packets of a replay's trace, as its hosts offer them."""
    hosts = list(topology.hosts.values())
    return Feed(settings.trace, hosts, settings.speed, settings.rules, settings.on_break)


def identity_of(trace: Path) -> tuple[str, int | None]:
    """Returns a trace's SHA-256, and the seed in its manifest if it has one. Raises TraceError if the
    manifest belongs to another file."""
    digest, manifest = manifests.digest(trace), manifests.read(trace)
    if manifest is None:
        return digest, None
    if digest != manifest.sha256:
        why = "belongs to another file; make the trace again or remove it"
        raise TraceError(manifests.manifest_path(trace), "$.sha256", why)
    return digest, manifest.seed


def latencies(report: Report | TrafficReport) -> dict[str, Latency]:
    """Returns the latencies of each class, from a report of hosts."""
    found = {}
    for name in CLASS_NAMES:
        measured = report["classes"][name]["latency"]
        if measured is None:
            found[name] = Latency(None, None, None)
        else:
            found[name] = Latency(
                mean=measured["mean_ps"] / _PS_PER_US,
                p50=measured["p50_ps"] / _PS_PER_US,
                p99=measured["p99_ps"] / _PS_PER_US,
            )
    return found


def energy_of(layer: LayerEnergy) -> Energy:
    return Energy(layer["used_joules"], layer["legacy_joules"], layer["ideal_joules"])


def _layers(report: Report) -> tuple[Layer, ...]:
    layers = report["energy"]["layers"]
    return tuple(
        Layer(
            name=shown,
            transmitters=layers[key]["transmitters"],
            energy_joules=energy_of(layers[key]),
            lpi_share=layers[key]["lpi_share"],
            busy_share=layers[key]["transmitting_share"],
            wakes=layers[key]["wakes"],
        )
        for key, shown in LAYER_NAMES.items()
        if key in layers
    )


def _queues(topology: Topology, report: Report) -> tuple[QueueDepth, ...]:
    depth = report["queue_depth"]
    found = []
    for queue in depth["queues"]:
        port = topology.port(f"{queue['switch']}:{queue['port']}")
        assert port is not None, "the engine was given the ports of this topology and no others"
        found.append(
            QueueDepth(
                switch=queue["switch"],
                port=queue["port"],
                role=port.role.value,
                peer=port.peer.node,
                period_us=depth["period_ps"] / _PS_PER_US,
                peak_bytes=tuple(queue["max_bytes"]),
            )
        )
    return tuple(found)
