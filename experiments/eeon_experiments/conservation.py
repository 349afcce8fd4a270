"""Conservation of packets in a run that ends at an instant: the counts of hosts and switches must add up,
including the packets still in the fabric.

It compares two sources that share no code, as for a replay (`replay.packet_counts`): the engine's hosts and
the P4 program's counters. A replay ends idle; a closed-loop run ends when the last application has finished,
and packets may then still be queued or on the wire. The engine reports their number, with which every sum
must agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from eeon_control.fabric import FabricCounters
from eeon_control.topology import Topology
from eeon_tools.replay import packet_counts
from eeon_tools.replay.result import ClassPackets

if TYPE_CHECKING:
    from eeon_engine.json_types import Report


def check(
    topology: Topology,
    report: Report,
    counters: FabricCounters,
    registers: Mapping[tuple[str, int], Mapping[str, int]],
    packets: Mapping[str, ClassPackets],
) -> None:
    """Raises ReplayError with all violated conditions, unless

    * the packets that hosts sent and that neither arrived nor were dropped or lost are as many as those still
      in the fabric;
    * no class has more packets that arrived, were dropped or were lost than packets that were sent;
    * each switch decided about every packet that it received or made, except those inside it;
    * no packet arrived at a wrong host, and every queue's occupancy is zero if no packet is in the fabric;
    * no transmission began before its PHY was awake; the energy of such a run would be wrong.
    """
    problems = [*_under_way(report, packets), *_switches(report, counters)]
    if report["conservation"]["misdelivered"]:
        problems.append(f"{report['conservation']['misdelivered']} packets arrived at the wrong host")
    if violations := report["energy"]["total"]["violations"]:
        problems.append(f"{violations} transmissions began before their PHY was awake")
    if not report["conservation"]["queued"]:
        problems += packet_counts.deliveries(topology, report, counters, packets)
        problems += packet_counts.occupancy(registers)
    packet_counts.refuse(problems, "run")


def _under_way(report: Report, packets: Mapping[str, ClassPackets]) -> Iterator[str]:
    counted = report["conservation"]
    missing = 0
    for name, found in packets.items():
        sent = found.sent + (packet_counts.made(report) if name == "other" else 0)
        gap = sent - found.delivered - found.dropped - found.lost
        if gap < 0:
            yield (
                f"{name}: sent {sent}, delivered {found.delivered}, dropped {found.dropped} and lost "
                f"{found.lost}, {-gap} too many"
            )
        missing += gap
    if missing != counted["queued"]:
        yield (
            f"{missing} packets neither arrived nor were dropped or lost, but {counted['queued']} are in "
            "transit"
        )


def _switches(report: Report, counters: FabricCounters) -> Iterator[str]:
    # A frame that a switch makes arrives on no port of the topology.
    open_: dict[str, int] = {switch["name"]: switch["copies"] for switch in report["switches"]}
    for entered in counters.received:
        open_[entered.switch] += entered.packets
    for verdict in counters.verdicts:
        open_[verdict.switch] -= verdict.packets
    for switch in report["switches"]:
        if not 0 <= open_[switch["name"]] <= switch["in_flight"]:
            yield (
                f"{switch['name']}: {open_[switch['name']]} packets received without a verdict, "
                f"{switch['in_flight']} inside"
            )
