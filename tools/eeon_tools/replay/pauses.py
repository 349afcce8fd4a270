"""The pauses of a replay: which transmitters were paused by their neighbours, how often and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eeon_control.topology import Topology

from eeon_tools.replay.faults import Transmitter

if TYPE_CHECKING:
    from eeon_engine.json_types import PausedQueueReport, Report


@dataclass(frozen=True)
class PausedQueue(Transmitter):
    """One priority of a transmitter. `pauses`: the number that the peer sent and the node received, obeyed or
    not, without XON frames. `paused_share`: of the time of the run. `longest_ms`: the longest time without a
    gap, over any number of pauses."""

    peer_port: int | None
    priority: int
    pauses: int
    paused_ms: float
    paused_share: float
    longest_ms: float


@dataclass(frozen=True)
class Pauses:
    """`transmitters`: two for each link of the fabric. `paused`: the number that were ever paused. `queues`:
    those that received pauses."""

    transmitters: int = 0
    paused: int = 0
    queues: tuple[PausedQueue, ...] = ()

    @classmethod
    def of(cls, report: Report, topology: Topology) -> Pauses:
        queues = tuple(_queue(one, report["elapsed_ps"], topology) for one in report.get("pauses", ()))
        paused = {queue.name for queue in queues if queue.paused_ms}
        return cls(2 * len(topology.links), len(paused), queues)

    def by_time(self) -> list[PausedQueue]:
        """Returns the queues, those with the longest total pause first."""
        return sorted(self.queues, key=lambda queue: -queue.paused_ms)

    def summary(self) -> str:
        """Returns a summary in one sentence."""
        received = sum(queue.pauses for queue in self.queues)
        share = self.paused / self.transmitters if self.transmitters else 0.0
        return (
            f"{received:,} pauses; {self.paused} of {self.transmitters} transmitters ({100 * share:.0f} %) "
            "were paused"
        )


def _queue(report: PausedQueueReport, elapsed_ps: int, topology: Topology) -> PausedQueue:
    def port(node: str, number: int) -> int | None:
        return None if node in topology.hosts else number

    return PausedQueue(
        node=report["node"],
        port=port(report["node"], report["port"]),
        peer=report["peer"],
        peer_port=port(report["peer"], report["peer_port"]),
        priority=report["priority"],
        pauses=report["pauses"],
        paused_ms=report["paused_ps"] / 10**9,
        paused_share=report["paused_ps"] / elapsed_ps if elapsed_ps else 0.0,
        longest_ms=report["longest_ps"] / 10**9,
    )
