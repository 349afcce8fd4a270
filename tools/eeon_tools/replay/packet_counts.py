"""The packet counts of a replay: the packets that hosts sent and received (measured by the engine) against
those that switches counted (P4 counters).

The two share no code: the engine's hosts classify frames by their own parsing of the headers, and the
counters are written by the P4 program and read back over P4Runtime. A replay whose counts do not add up is an
error, never a number in a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from eeon_control.constants import SENT, VERDICTS
from eeon_control.fabric import FabricCounters
from eeon_control.topology import PortRole, Topology

from eeon_tools.errors import ReplayError
from eeon_tools.replay.faults import lost_by_class
from eeon_tools.replay.result import ClassPackets
from eeon_tools.trace.frames import CLASS_NAMES

if TYPE_CHECKING:
    from eeon_engine.json_types import Report, TrafficReport

_LOST: tuple[Literal["misdelivered", "nic_drops", "queued"], ...] = ("misdelivered", "nic_drops", "queued")
_OTHER_VERDICTS = ("no_route", "ttl_expired", "to_cpu", "malformed", "consumed", "not_admitted", "martian")
CONTROL = "control"
_SHOWN = 12


def _of_hosts(packet_class: str) -> str:
    """Returns the hosts' class of a program's class: hosts count MAC control frames as `other`."""
    return "other" if packet_class == CONTROL else packet_class


def class_packets(
    report: Report | TrafficReport, counters: FabricCounters, with_control: bool = False
) -> dict[str, ClassPackets]:
    """Returns packets by the hosts' classes; drops and marks are sums over all switches. `with_control`: MAC
    control frames that switches consumed or lost count as drops of the class `other`, and those that links
    lost count as lost."""
    lost = dict.fromkeys(CLASS_NAMES, 0)
    for name, packets in lost_by_class(report).items():
        if name != CONTROL or with_control:
            lost[_of_hosts(name)] += packets
    verdicts = {name: dict.fromkeys(VERDICTS, 0) for name in CLASS_NAMES}
    for count in counters.verdicts:
        if count.packet_class == CONTROL and not with_control:
            continue
        verdicts[_of_hosts(count.packet_class)][count.verdict] += count.packets
    return {
        name: ClassPackets(
            sent=report["classes"][name]["sent"]["packets"],
            delivered=report["classes"][name]["delivered"]["packets"],
            marked=verdicts[name]["marked"],
            early_dropped=verdicts[name]["early_dropped"],
            tail_dropped=verdicts[name]["tail_dropped"],
            other_dropped=sum(verdicts[name][verdict] for verdict in _OTHER_VERDICTS),
            lost=lost[name],
        )
        for name in CLASS_NAMES
    }


def other_drops(counters: FabricCounters) -> dict[str, int]:
    """Returns the packets in `other_dropped` of all classes, by the program's verdict."""
    found: Counter[str] = Counter()
    for count in counters.verdicts:
        if count.verdict in _OTHER_VERDICTS and count.packet_class != CONTROL:
            found[count.verdict] += count.packets
    return dict(sorted((+found).items()))


def check(
    topology: Topology,
    report: Report,
    counters: FabricCounters,
    registers: Mapping[tuple[str, int], Mapping[str, int]],
    packets: Mapping[str, ClassPackets],
    offered: int,
) -> None:
    """Raises ReplayError with the mismatches, unless

    * every packet of the trace was sent, and of each class what was sent was delivered, dropped or lost;
    * every MAC control frame that a switch made was consumed, dropped or lost, or reached a host's NIC;
    * each switch decided about each packet of each class that it received, exactly once;
    * hosts received the packets that leaf ports sent to them;
    * every queue's occupancy is zero again, in bytes and in packets.
    """
    problems = [
        *_sent(report, packets, offered),
        *_classes(packets),
        *_control(report, counters),
        *_switches(report, counters),
        *deliveries(topology, report, counters, packets),
        *occupancy(registers),
    ]
    refuse(problems, "replay")


def refuse(problems: Sequence[str], what: str) -> None:
    """Raises ReplayError with the first of the problems, if there are any."""
    if problems:
        shown = "\n  ".join(problems[:_SHOWN])
        more = f"\n  and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise ReplayError(f"the packet counts of this {what} do not add up:\n  {shown}{more}")


def _sent(report: Report, packets: Mapping[str, ClassPackets], offered: int) -> Iterable[str]:
    if not report["idle"]:
        yield "the fabric is not idle: packets are still queued or on the wire"
    sent = sum(found.sent for found in packets.values())
    if sent != offered:
        yield f"{offered} packets of the trace were handed to hosts, {sent} were sent"
    counted = report["conservation"]
    for name in _LOST:
        if counted[name]:
            yield f"{counted[name]} packets {name.replace('_', ' ')}"


def made(report: Report) -> int:
    """Returns the number of frames that switches have made (pauses, congestion messages), without those that
    reached hosts. Their verdicts are in the program's class `control`."""
    counted = report["conservation"]
    of_hosts = sum(one["delivered"]["packets"] for one in report["classes"].values())
    return counted["copies"] - (counted["delivered"] - of_hosts)


def _control(report: Report, counters: FabricCounters) -> Iterable[str]:
    ended = (
        sum(
            count.packets
            for count in counters.verdicts
            if count.packet_class == CONTROL and count.verdict not in SENT
        )
        + lost_by_class(report)[CONTROL]
    )
    if made(report) != ended:
        yield (
            f"control: switches made {made(report)} that reached no host, "
            f"{ended} were consumed, dropped or lost"
        )


def _classes(packets: Mapping[str, ClassPackets]) -> Iterable[str]:
    for name, found in packets.items():
        ended = found.delivered + found.dropped + found.lost
        if found.sent != ended:
            yield (
                f"{name}: sent {found.sent}, delivered {found.delivered} + early {found.early_dropped} + "
                f"tail {found.tail_dropped} + other {found.other_dropped} + lost {found.lost} = {ended}"
            )


def _switches(report: Report, counters: FabricCounters) -> Iterable[str]:
    # A frame that a switch makes does not arrive at a port of the topology.
    received = Counter({(one["name"], CONTROL): one["copies"] for one in report["switches"]})
    decided: Counter[tuple[str, str]] = Counter()
    for entered in counters.received:
        received[entered.switch, entered.packet_class] += entered.packets
    for verdict in counters.verdicts:
        decided[verdict.switch, verdict.packet_class] += verdict.packets
    for (switch, name), count in received.items():
        if count != decided[switch, name]:
            yield f"{switch}: received {count} {name}, gave a verdict on {decided[switch, name]}"


def to_hosts(topology: Topology) -> set[tuple[str, int]]:
    """Returns the switches and numbers of host-facing ports."""
    return {(port.node, port.number) for port in topology.ports() if port.role is PortRole.HOST_FACING}


def deliveries(
    topology: Topology, report: Report, counters: FabricCounters, packets: Mapping[str, ClassPackets]
) -> Iterable[str]:
    """Yields the differences between the packets that leaf ports sent to hosts and those that hosts received,
    apart from the losses of their links."""
    ports = to_hosts(topology)
    left = dict.fromkeys(CLASS_NAMES, 0)
    for count in counters.verdicts:
        # Frames that switches make end at NICs, which count them separately.
        made_here = count.packet_class == CONTROL
        if count.verdict in SENT and (count.switch, count.port) in ports and not made_here:
            left[count.packet_class] += count.packets
    for link in report.get("faults", ()):
        if link["peer"] in topology.hosts:
            for name in CLASS_NAMES:
                left[name] -= link["lost"].get(name, 0)
    for name, sent in left.items():
        if sent != packets[name].delivered:
            yield f"{name}: leaves sent {sent} to hosts, hosts got {packets[name].delivered}"


def occupancy(registers: Mapping[tuple[str, int], Mapping[str, int]]) -> Iterable[str]:
    """Yields the queues of an idle fabric that are not empty in the program's account."""
    for (switch, port), values in registers.items():
        for name in ("occupancy_bytes", "occupancy_packets"):
            if values[name]:
                yield f"{switch} port {port}: {name} is {values[name]} on an empty queue"
