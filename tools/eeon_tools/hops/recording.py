"""A recording of a run: the engine's stream of hops with its fabric, and visits in words.

A visit is one packet at one node: when it arrived, what it found, which numbers decided about it, how long it
was held, when it left. All numbers come from the engine; nothing is computed a second time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from eeon_control.config import PRIORITIES, FabricConfig
from eeon_control.constants import CLASSES, DROPS, VERDICTS
from eeon_control.port_settings import CodelSettings, MarkThresholdSettings, RedSettings
from eeon_control.topology import Port, PortRole, Topology
from eeon_control.units import Bytes, Packets

from eeon_tools.explain.values import plural, size, time

if TYPE_CHECKING:
    from eeon_engine.hops import Flow, Hop, HopFilter, Hops

_META = "scalars.metadata_t."
FIELDS = (
    "verdict",
    "packet_class",
    "ecn",
    "found_bytes",
    "queued_bytes",
    "dequeue_threshold_bytes",
    "egress_port",
    "lossless",
    "ingress_queue",
    "aqm_of_queue",
    "queue",
)
"""Metadata of the P4 program whose values are recorded, in this order."""
DEFAULT_LIMIT = 1 << 22
"""A number of events, which take 270 MB."""
Place = tuple[str, int]
"""A node, and the number of its port."""


def recording_filter(*, limit: int = DEFAULT_LIMIT, snap_bytes: int = 0) -> HopFilter:
    """Returns a filter for all events and fields that this package uses, of all packets."""
    return {
        "fields": [_META + name for name in FIELDS],
        "port_field": _META + "egress_port",
        "limit": limit,
        "snap_bytes": snap_bytes,
    }


@dataclass(slots=True)
class Visit:
    """One packet at one node. Times are picoseconds, or None if the event did not happen.

    `packet`: its number in the order in which hosts offered the packets; `number`: that in the trace, which
    all segments of a frame of segmentation offload share; `label`: that with the segment's own.
    `queue_bytes`, `queue_packets`: the queue of `port` when the packet arrived. `decided_bytes`: the depth
    that the program compared. `ecn`: the codepoint on arrival. `group`: ingress port << 3 | priority, if its
    class is lossless. `compared`: the priority of its queue, if the AQM compares that queue alone and not the
    port. `held_until`: when its port's gate was to open; `paused_until`: when the pause that it found in its
    queue was to end. `left_ps`: its first bit left; `end_ps`: its last."""

    packet: int
    number: int
    label: int | str
    node: str
    arrived_ps: int
    length: int
    flow: str = ""
    port: int = 0
    verdict: str = ""
    ecn: int | None = None
    kind: str = ""
    queue_bytes: int = 0
    queue_packets: int = 0
    left_bytes: int = 0
    decided_bytes: int = 0
    threshold: int = 0
    queued_ps: int | None = None
    group: int | None = None
    compared: int | None = None
    held_until: int | None = None
    paused_until: int | None = None
    left_ps: int | None = None
    end_ps: int | None = None
    dropped: str = ""
    rounds: int = 0
    frame: bytes = b""

    @property
    def place(self) -> str:
        """`leaf1:3`."""
        return f"{self.node}:{self.port}"

    @property
    def lost(self) -> bool:
        """Whether the link lost it after the node had sent it."""
        return self.dropped == "link_down"

    @property
    def waited_ps(self) -> int:
        """From its arrival in the queue to its departure; 0 if it did not depart."""
        if self.queued_ps is None or self.left_ps is None or self.dropped:
            return 0
        return self.left_ps - self.queued_ps

    @property
    def held_ps(self) -> int:
        """The time for which it waited until its link was awake, or until it left if that was earlier."""
        return self._waited_until(self.held_until)

    @property
    def paused_ps(self) -> int:
        """The time for which it waited for the end of the pause that it found in its queue."""
        return self._waited_until(self.paused_until)

    def _waited_until(self, opens: int | None) -> int:
        if opens is None or self.queued_ps is None or self.left_ps is None:
            return 0
        return max(0, min(opens, self.left_ps) - self.queued_ps)


@dataclass(frozen=True)
class Recording:
    """The hops of one run. `numbers`: the packets' numbers in the trace, by the number in which they were
    offered, from 1; empty if these are the same. `name`: of the run."""

    name: str
    hops: Hops
    topology: Topology
    config: FabricConfig
    end_ps: int
    numbers: array[int] = field(default_factory=lambda: array("I"))

    def number(self, packet: int) -> int:
        return self.numbers[packet - 1] if 0 < packet <= len(self.numbers) else packet

    def label(self, packet: int) -> int | str:
        """Returns the number of a packet in its trace; `7.3` for the third segment of packet 7."""
        number = self.number(packet)
        if packet > len(self.numbers):
            return number
        before, last = bisect_left(self.numbers, number), bisect_right(self.numbers, number)
        return number if last - before <= 1 else f"{number}.{packet - before}"

    @cached_property
    def ports(self) -> dict[Place, Port]:
        """All ports by place: hosts', whose number in events is 0, then switches'."""
        hosts = {(name, 0): host.port for name, host in self.topology.hosts.items()}
        return hosts | {(port.node, port.number): port for port in self.topology.ports()}

    @staticmethod
    def name_of(port: Port) -> str:
        """Returns the name of a port in recordings: `leaf1:3`, or `h1`."""
        return port.node if port.role is PortRole.HOST else port.name

    def truncation(self) -> str | None:
        """Returns a description of what is missing; None if the recording is complete."""
        if not self.hops.lost:
            return None
        return (
            f"{self.hops.lost:,} events more than the limit of {self.hops.limit:,} are left out: "
            "the end of the run is missing"
        )

    def visits(self) -> Iterator[Visit]:
        """Yields every visit that has ended, in the order in which they ended."""
        inside: dict[tuple[int, str], Visit] = {}
        for event in self.hops.events():
            if not event.packet:
                continue
            key = (event.packet, event.node)
            visit = inside.get(key)
            if visit is None:
                visit = inside[key] = self._begin(event)
            self._step(visit, event)
            if event.kind in ("sent", "dropped", "delivered"):
                del inside[key]
                if event.kind != "delivered":
                    yield visit

    def _begin(self, event: Hop) -> Visit:
        label = self.label(event.packet)
        number = self.number(event.packet)
        visit = Visit(event.packet, number, label, event.node, event.at_ps, event.length, port=event.port)
        if event.flow is not None:
            visit.flow = self.flow_name(event)
        if event.node in self.topology.hosts:
            visit.queued_ps = event.at_ps
        return visit

    def flow_name(self, event: Hop) -> str:
        """Returns the name of a flow, such as `h1:40000 > h3:50010`."""
        assert event.flow is not None
        return self._flow_names[event.flow]

    @cached_property
    def _flow_names(self) -> dict[Flow, str]:
        hosts = {
            str(address): host.name
            for host in self.topology.hosts.values()
            for address in (host.ipv4, host.ipv6)
        }
        return {
            flow: f"{hosts.get(flow.source, flow.source)}:{flow.source_port}"
            f" > {hosts.get(flow.destination, flow.destination)}:{flow.destination_port}"
            for flow in self.hops.flows
        }

    def _step(self, visit: Visit, event: Hop) -> None:
        match event.kind:
            case "judged":
                self._judge(visit, event)
            case "queued":
                if visit.queued_ps is None:
                    visit.queued_ps = event.at_ps
                    visit.port = event.port
                    visit.queue_bytes, visit.queue_packets = event.queue_bytes, event.queue_packets
            case "held":
                visit.held_until = max(event.until_ps, visit.held_until or 0)
            case "paused":
                visit.paused_until = max(event.until_ps, visit.paused_until or 0)
            case "recirculated":
                visit.rounds += 1
                # A copy recirculates once to become a frame of its own, even if the link is awake.
                if event.packet < _COPIES:
                    visit.held_until = max(event.until_ps, visit.held_until or 0)
            case "sent" | "dropped":
                visit.port = event.port
                visit.left_ps, visit.end_ps = event.at_ps, event.until_ps
                visit.left_bytes = event.queue_bytes
                visit.frame = event.frame
                if event.values:
                    visit.verdict = _verdict(event.values)
                # A MAC control frame ends at the switch that it is addressed to, and is not lost.
                if event.kind == "dropped" and visit.verdict != "consumed":
                    visit.end_ps = event.at_ps
                    if visit.queued_ps is None:
                        visit.queue_packets = event.queue_packets
                        if visit.compared is not None:
                            visit.queue_bytes = event.queue_bytes
                    visit.dropped = visit.verdict if visit.verdict in _DROPS else event.cause
            case _:
                pass

    def _judge(self, visit: Visit, event: Hop) -> None:
        # For a packet that returns by recirculation, the first decision counts.
        if not event.values or visit.verdict:
            return
        # In the order of FIELDS.
        _, kind, visit.ecn, found_bytes, _, threshold, port, is_lossless, group, of_queue, queue = (
            event.values
        )
        visit.verdict = _verdict(event.values)
        visit.kind = CLASSES[kind] if kind < len(CLASSES) else ""
        visit.decided_bytes = visit.queue_bytes = found_bytes
        visit.threshold = threshold
        visit.port = port
        visit.group = group if is_lossless else None
        visit.compared = queue % PRIORITIES if of_queue else None

    def reason(self, visit: Visit) -> str:
        """Returns why a packet was marked, dropped, held or let through, with the numbers compared."""
        parts = [self._decision(visit)]
        if visit.held_ps:
            parts.append(f"held {time(visit.held_ps)}: its link was asleep")
        if visit.paused_ps:
            port = self.ports.get((visit.node, visit.port))
            by = f" by {port.peer.node}" if port is not None else ""
            parts.append(f"waited {time(visit.paused_ps)}: its queue was paused{by}")
        return "; ".join(part for part in parts if part)

    def _decision(self, visit: Visit) -> str:
        port = self.ports.get((visit.node, visit.port))
        if port is not None and visit.lost:
            return f"lost: the link to {port.peer.node} was down"
        if port is None or port.role is PortRole.HOST:
            return f"dropped by {visit.node}'s NIC" if visit.dropped else ""
        settings = self.config.settings_of(port)
        of_queue = "" if visit.compared is None else f" of priority {visit.compared}"
        found = f"queue{of_queue} {size(visit.decided_bytes)}"
        did = {"marked": "marked", "early_dropped": "dropped early"}.get(visit.verdict, "not marked")
        if visit.verdict == "tail_dropped":
            if visit.group is not None:
                return f"{self._group(visit.node, visit.group)}, and it would become larger: dropped"
            buffer = settings.queue.limit().describe()
            if isinstance(settings.queue.buffer, Packets):
                return f"{found} of {buffer}, which is all that fits: dropped, the buffer is full"
            return f"{found} + packet {size(visit.length)} > buffer {buffer}: dropped, the buffer is full"
        if visit.dropped and visit.verdict != "early_dropped":
            return f"dropped: {visit.dropped.replace('_', ' ')}"
        match settings.aqm_at(visit.compared or 0).settings_at(port.rate):
            case MarkThresholdSettings(at_dequeue=True) if visit.threshold:
                sign = ">" if visit.verdict == "marked" else "<="
                left = size(visit.left_bytes) if visit.compared is None else f"bytes of the queue{of_queue}"
                return f"{left} stay behind {sign} threshold {size(visit.threshold)}: {did}"
            case MarkThresholdSettings() as marking:
                threshold = visit.threshold or int(marking.threshold)
                if visit.verdict == "marked":
                    return f"{found} > threshold {size(threshold)}: marked"
                if visit.decided_bytes > threshold:
                    return f"{found} > threshold {size(threshold)}, but it is not ECT or has CE: not marked"
                return f"{found} <= threshold {size(threshold)}: not marked"
            case RedSettings() as red:
                in_packets = isinstance(red.min, Packets)
                unit = " packets" if in_packets else " B"
                depth = found
                if in_packets and visit.compared is None:
                    depth = f"queue {plural(visit.queue_packets, 'packet')}"
                return f"RED, {depth}, min {int(red.min):,}, max {int(red.max):,}{unit}: {did}"
            case CodelSettings() as codel:
                return f"CoDel, {time(visit.waited_ps)} in the queue, target {time(int(codel.target))}: {did}"
            case _:
                if visit.group is not None:
                    return f"{found}: let in"
                return f"{found}, buffer {settings.queue.limit().describe()}: let in"

    def _group(self, node: str, group: int) -> str:
        """Returns the limit of a lossless group, which applies instead of the port's buffer."""
        number, priority = group >> 3, group & 7
        limit = self.config.pfc_at(self.ports[node, number], priority).limit
        return f"the lossless group of port {number}, priority {priority} may have {size(limit)}"


def acts_from(config: FabricConfig, port: Port) -> Bytes | Packets | None:
    """Returns the depth from which the AQM of a switch's port marks or drops; None for an AQM that compares
    another value, and if several queues each have their own depth."""
    found = config.settings_of(port)
    queues = tuple(found.queue_aqms)
    match found.aqm_at(queues[0] if queues else 0).settings_at(port.rate) if len(queues) < 2 else None:
        case MarkThresholdSettings() as marking:
            return marking.threshold
        case RedSettings() as red:
            return red.min
        case _:
            return None


_COPIES = 0x100_0000_0000
"""Numbers of copies start here (`eeon_engine.hops.Hop`)."""
_DROPS = (*DROPS, "to_cpu")


def _verdict(values: tuple[int, ...]) -> str:
    return VERDICTS[values[0]] if values[0] < len(VERDICTS) else str(values[0])
