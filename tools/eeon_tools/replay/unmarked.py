"""Explains why a run has marked nothing: because of its packets, its queues, or its settings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from eeon_control.config import FabricConfig
from eeon_control.config.advice import marks
from eeon_control.port_settings import CodelSettings, MarkThresholdSettings, RedSettings
from eeon_control.topology import Port
from eeon_control.units import Packets

from eeon_tools.explain.values import plural, size, time

_SMALLEST_FRAME_BYTES = 60


@dataclass(frozen=True)
class _Queue:
    """A port that marks by depth. `deepest`: bytes; `acts_at`: the smallest depth in bytes at which it may
    mark; `limit`: its threshold in words."""

    port: Port
    deepest: int
    acts_at: int
    limit: str

    @property
    def name(self) -> str:
        return f"{self.port.name} to {self.port.peer.node}"

    @property
    def is_reached(self) -> bool:
        return self.deepest >= self.acts_at

    @property
    def share(self) -> Fraction:
        return Fraction(self.deepest, max(self.acts_at, 1))


def why_unmarked(
    config: FabricConfig, ports: Iterable[Port], by_ecn: Mapping[str, int], depths: Mapping[str, int]
) -> str:
    """Returns why no packet was marked at `ports`, as the end of a sentence.

    `by_ecn`: packets that passed there, by the name of their ECN codepoint. `depths`: the deepest queue of
    each port in bytes, by `leaf1:3`.
    """
    switch_ports = list(ports)
    able = by_ecn["ect_0"] + by_ecn["ect_1"]
    total = sum(by_ecn.values())
    aqms = [aqm for port in switch_ports for aqm in config.settings_of(port).aqms]
    if not any(map(marks, aqms)):
        return f"no port marks; the AQM is {', '.join(sorted({aqm.mode for aqm in aqms}))}"
    if not total:
        return "no packet reaches them"
    if not able:
        with_ce = f"; {by_ecn['ce']:,} arrived with CE, which they keep" if by_ecn["ce"] else ""
        return f"of {plural(total, 'packet')}, none is ECN-capable{with_ce}"
    queues = list(_queues(config, switch_ports, by_ecn, depths))
    if queues:
        return _by_depth(queues, able, total)
    return _by_delay(config, switch_ports)


def _queues(
    config: FabricConfig, ports: Iterable[Port], by_ecn: Mapping[str, int], depths: Mapping[str, int]
) -> Iterator[_Queue]:
    for port, aqm in ((one, aqm) for one in ports for aqm in config.settings_of(one).aqms):
        if not marks(aqm):
            continue
        deepest = depths.get(port.name, 0)
        match aqm.settings_at(port.rate):
            case MarkThresholdSettings() as marking:
                limits = {"ect_0": marking.threshold, "ect_1": marking.l4s_threshold}
                threshold = min(int(limit) for name, limit in limits.items() if by_ecn[name])
                yield _Queue(port, deepest, threshold + 1, size(threshold))
            case RedSettings(min=Packets() as low):
                yield _Queue(port, deepest, int(low) * _SMALLEST_FRAME_BYTES, f"{int(low):,} packets")
            case RedSettings() as red:
                yield _Queue(port, deepest, int(red.min), size(int(red.min)))


def _by_depth(queues: list[_Queue], able: int, total: int) -> str:
    reached = [queue for queue in queues if queue.is_reached]
    if reached:
        most = max(reached, key=lambda queue: queue.share)
        return (
            f"the queue of {most.name} reached {size(most.deepest)}, its threshold is {most.limit}, but it "
            f"marked no ECN-capable packet ({able:,} of {total:,} are ECN-capable)"
        )
    deepest = max(queues, key=lambda queue: queue.deepest)
    lowest = min(queues, key=lambda queue: queue.acts_at)
    if deepest.deepest < lowest.acts_at:
        return (
            f"the deepest queue was {size(deepest.deepest)} ({deepest.name}), "
            f"the lowest threshold is {lowest.limit}"
        )
    nearest = max(queues, key=lambda queue: queue.share)
    return (
        f"no queue exceeded its threshold; the closest was {nearest.name}, {size(nearest.deepest)} of "
        f"{nearest.limit}"
    )


def _by_delay(config: FabricConfig, ports: Iterable[Port]) -> str:
    of_ports = (aqm.settings_at(port.rate) for port in ports for aqm in config.settings_of(port).aqms)
    codel = min(
        (found for found in of_ports if isinstance(found, CodelSettings)), key=lambda found: found.target
    )
    return (
        f"no queue kept ECN-capable packets longer than CoDel's target of {time(int(codel.target))} for an "
        f"interval of {time(int(codel.interval))}"
    )
