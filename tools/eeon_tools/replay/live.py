"""One replay on a live fabric, from beginning to end.

1. read the trace into memory
2. let the controller apply the configuration to all switches, if there is one to apply; silence the hosts'
   kernels, read the switches' counters
3. send each frame from its host's namespace at its time and receive the arrivals, in the engine's own thread
4. read the counters again and compare them with what hosts sent and received

Unlike on a twin, loss is not an error here: a machine that is too slow loses packets in its buffers, and the
result has their number and place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from eeon_control import config as configs
from eeon_control import fabric
from eeon_control import program as programs
from eeon_control import topology as topologies
from eeon_control.constants import ETHERTYPES_VLAN, SENT
from eeon_control.errors import FabricError
from eeon_control.fabric import FabricCounters, ReceivedCount, VerdictCount
from eeon_control.fabric.read import Wanted, observe
from eeon_control.fabric.sync import run
from eeon_control.targets import Target
from eeon_control.topology import Topology

from eeon_tools.engine import load_engine
from eeon_tools.errors import ReplayError, TraceError, UnavailableError
from eeon_tools.live import network, state
from eeon_tools.live.plan import HOST_INTERFACE, MTU_BYTES
from eeon_tools.live.silence import silent_hosts
from eeon_tools.replay import packet_counts
from eeon_tools.replay.feed import Offer, flat
from eeon_tools.replay.live_result import Lateness, LivePackets, LiveResult, Losses
from eeon_tools.replay.packet_counts import CONTROL
from eeon_tools.replay.twin_run import ReplaySettings, feed_of, identity_of, latencies
from eeon_tools.trace.frames import CLASS_NAMES

if TYPE_CHECKING:
    from eeon_engine import Traffic
    from eeon_engine.json_types import TrafficReport

TICK_PS = {"engine": 1_000, "bmv2": 1_000_000}
_SLICE_MS = 200
_SETTLE_MS = 1_000
_PS_PER_NS = 1_000
_NS_PER_US = 1_000
_NS_PER_S = 10**9
_ETHERNET_BYTES, _VLAN_BYTES = 14, 4
_Count = TypeVar("_Count", ReceivedCount, VerdictCount)


def replay(
    settings: ReplaySettings,
    record: state.State,
    progress: Callable[[int, int], None] = lambda packets, of: None,
) -> LiveResult:
    """Runs one replay on the live fabric of this record, whose topology is that of the settings; their seed
    and faults are of twins. Without a configuration, the switches keep theirs. `progress` is called with the
    number of packets sent, and the total.

    Raises TraceError, the controller's errors, UnavailableError without such a fabric or without root, and
    ReplayError if the counts contradict each other.
    """
    network.check_possible()
    if not record.is_up:
        raise UnavailableError(f"fabric {record.name} is not up yet; `eeon fabric status` shows its state")
    topology = topologies.load(settings.topology)
    trace_sha256, trace_seed = identity_of(settings.trace)
    feed = feed_of(settings, topology)
    tick_ps = TICK_PS[record.target]
    # BMv2's registers are read over Thrift; the engine has none.
    thrift = {name: f"127.0.0.1:{port}" for name, port in record.thrift_ports.items()}
    targets = {name: Target(address, thrift=thrift.get(name)) for name, address in record.addresses.items()}
    traffic = _open(topology, record.namespaces)
    from eeon_engine.json_documents import traffic_report  # there is an engine

    packets = 0
    for batch in feed.batches():
        _add(traffic, settings.trace, batch)
        packets += len(batch)
        progress(0, packets)
    # A trace that is refused leaves the switches as they are.
    if settings.config:
        fabric.apply_sync(topology, configs.load(*settings.config), targets, tick_ps)
    with silent_hosts(record):
        before, wakes_before, _ = _look(topology, targets)
        while not traffic.run(_SLICE_MS):
            progress(traffic.passed, packets)
        after, wakes_after, waiting = _look(topology, targets)
    # The transmit time of a full frame: frames that leave later than this may be out of order.
    slowest = min(int(host.port.rate) for host in topology.hosts.values())
    limit_ns = (MTU_BYTES + _ETHERNET_BYTES) * 8 * _NS_PER_S // slowest
    report = traffic_report(traffic, limit_ns)
    counted = difference(after, before)
    by_class = live_packets(report, counted)
    waiting = min(waiting, sum(packets.lost for packets in by_class.values()))
    late = report["lateness"]
    return LiveResult(
        name=settings.name,
        topology=record.topology,
        config=settings.config,
        trace=settings.trace.name,
        trace_sha256=trace_sha256,
        trace_seed=trace_seed,
        speed=settings.speed,
        target=record.target,
        tick_ps=tick_ps,
        program_digest=programs.load().digest,
        real_seconds=report["elapsed_ns"] / _NS_PER_S,
        feed=feed.counts,
        packets=by_class,
        latency_us=latencies(report),
        lateness=Lateness(
            p50_us=late["p50_ns"] / _NS_PER_US,
            p99_us=late["p99_ns"] / _NS_PER_US,
            max_us=late["max_ns"] / _NS_PER_US,
            limit_us=limit_ns / _NS_PER_US,
            late=late["late"],
        ),
        losses=losses(topology, counted, by_class, waiting),
        waiting=waiting,
        refused=report["refused"],
        overruns=report["overruns"],
        foreign=report["foreign"],
        pauses=min(report["foreign"], sent_to_hosts(topology, counted, control=True)),
        misdelivered=report["misdelivered"],
        duplicated=report["duplicated"],
        untimed=report["untimed"],
        wakes=None if wakes_before is None or wakes_after is None else wakes_after - wakes_before,
    )


def _open(topology: Topology, namespaces: Mapping[str, str]) -> Traffic:
    engine = load_engine()
    ends = [
        (f"/run/netns/{namespaces[host.name]}", HOST_INTERFACE, [str(host.ipv4), str(host.ipv6)])
        for host in topology.hosts.values()
    ]
    try:
        traffic: Traffic = engine.Traffic(ends, settle_ms=_SETTLE_MS)
    except engine.EngineError as error:
        raise UnavailableError(f"a host cannot send: {error}") from error
    return traffic


def _add(traffic: Traffic, trace: Path, batch: list[Offer]) -> None:
    from eeon_engine import EngineError

    for offer in batch:
        is_tagged = int.from_bytes(offer.captured[12:14], "big") in ETHERTYPES_VLAN
        longest = MTU_BYTES + _ETHERNET_BYTES + (_VLAN_BYTES if is_tagged else 0)
        if offer.frame_bytes > longest:
            why = f"has {offer.frame_bytes} bytes; a live fabric carries up to {longest}; replay it on a twin"
            raise TraceError(trace, f"packet {offer.number}", why)
    try:
        traffic.add(*flat(batch, _PS_PER_NS))
    except EngineError as error:
        raise TraceError(trace, f"packets {batch[0].number} to {batch[-1].number}", str(error)) from error


def _look(topology: Topology, targets: Mapping[str, Target]) -> tuple[FabricCounters, int | None, int]:
    """Returns the counters of all switches; the sum of all ports' wakes; and the packets that wait in queues.
    If registers cannot be read, these are None and 0."""
    seen = run(observe(topology, targets, Wanted(counters=True, registers=("wakes", "occupancy_packets"))))
    if seen.failures:
        raise FabricError("; ".join(seen.failures.values()))
    registers = [found.registers for found in seen.switches.values()]
    wakes: int | None = 0
    for ports in registers:
        wakes = None if ports is None or wakes is None else wakes + sum(v["wakes"] for v in ports.values())
    waiting = sum(values["occupancy_packets"] for ports in registers for values in (ports or {}).values())
    return seen.counters, wakes, waiting


def difference(after: FabricCounters, before: FabricCounters) -> FabricCounters:
    """Returns the counts between two readings of the same fabric. Raises ReplayError if a count went back."""
    return FabricCounters(
        _between(after.received, before.received), _between(after.verdicts, before.verdicts)
    )


def _between(after: Sequence[_Count], before: Sequence[_Count]) -> tuple[_Count, ...]:
    found = []
    for new, old in zip(after, before, strict=True):
        if new.packets < old.packets:
            raise ReplayError(
                f"{new.switch} port {new.port}: a counter decreased during the replay; the switch was "
                "restarted or its counters were reset"
            )
        found.append(replace(new, packets=new.packets - old.packets, bytes=new.bytes - old.bytes))
    return tuple(found)


def live_packets(report: TrafficReport, counted: FabricCounters) -> dict[str, LivePackets]:
    """Returns the hosts' report and the switches' counters by class. Raises ReplayError if more packets were
    counted than sent: then other traffic has used the fabric."""
    found = {}
    for name, packets in packet_counts.class_packets(report, counted).items():
        lost = packets.sent - packets.delivered - packets.dropped
        arrived = report["classes"][name]["arrived_marked"]
        found[name] = LivePackets(**(vars(packets) | {"lost": lost}), arrived_marked=arrived)
    wrong = [f"{name} {-packets.lost} too many" for name, packets in found.items() if packets.lost < 0]
    if wrong:
        raise ReplayError(
            f"more packets were delivered and dropped than hosts sent ({', '.join(wrong)}); something else "
            "used the fabric during the replay"
        )
    return found


def losses(
    topology: Topology, counted: FabricCounters, packets: Mapping[str, LivePackets], waiting: int = 0
) -> Losses:
    """Returns where the lost packets were last seen, without those `waiting` in switches. MAC control frames
    between switches and hosts are no packets of the trace."""
    ports = packet_counts.to_hosts(topology)
    entered = sum(
        count.packets
        for count in counted.received
        if (count.switch, count.port) in ports and count.packet_class != CONTROL
    )
    left = sent_to_hosts(topology, counted, control=False)
    before = sum(packets[name].sent for name in CLASS_NAMES) - entered
    after = left - sum(packets[name].delivered for name in CLASS_NAMES)
    total = sum(packets[name].lost for name in CLASS_NAMES)
    return Losses(before, total - waiting - before - after, after)


def sent_to_hosts(topology: Topology, counted: FabricCounters, *, control: bool) -> int:
    """Returns the number of packets that switches sent to hosts: MAC control frames, or all others."""
    ports = packet_counts.to_hosts(topology)
    return sum(
        count.packets
        for count in counted.verdicts
        if count.verdict in SENT
        and (count.switch, count.port) in ports
        and (count.packet_class == CONTROL) == control
    )
