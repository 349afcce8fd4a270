"""Conservation in a run that ends at an instant: what hosts and switches counted must add up, with what is
still under way named.

Two witnesses that share no code, as for a replay (`replay.packet_counts`): the engine's hosts and the P4
program's counters. A replay ends idle; a closed-loop run ends when the last application has
finished, and packets may still be queued or on the wire then. How many, the engine says; that number must
close every sum.
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
    """Raises ReplayError, naming everything that does not add up, unless

    * of all packets, those that hosts sent and that neither arrived nor were dropped or lost are those under
      way;
    * of no class more arrived, was dropped or was lost than was sent;
    * each switch decided about what it received or made, but for what is inside it;
    * no packet came to a wrong host, and every queue's occupancy is zero where nothing is under way;
    * no transmission began before its PHY was awake: the energy of such a run would be wrong.
    """
    problems = [*_under_way(report, packets), *_switches(report, counters)]
    if report["conservation"]["misdelivered"]:
        problems.append(f"{report['conservation']['misdelivered']} packets came to a wrong host")
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
            f"{missing} packets neither arrived nor were dropped or lost, but {counted['queued']} are under "
            "way"
        )


def _switches(report: Report, counters: FabricCounters) -> Iterator[str]:
    # A frame that a switch makes comes by no port of the topology.
    open_: dict[str, int] = {switch["name"]: switch["copies"] for switch in report["switches"]}
    for entered in counters.received:
        open_[entered.switch] += entered.packets
    for verdict in counters.verdicts:
        open_[verdict.switch] -= verdict.packets
    for switch in report["switches"]:
        if not 0 <= open_[switch["name"]] <= switch["in_flight"]:
            yield (
                f"{switch['name']}: {open_[switch['name']]} packets received and not decided about, "
                f"{switch['in_flight']} inside"
            )
