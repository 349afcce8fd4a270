"""The result of a replay as plain data with units in the names, and its JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from eeon_tools.replay.faults import FaultyLink
from eeon_tools.replay.feed import FeedCounts
from eeon_tools.replay.pauses import Pauses


@dataclass(frozen=True)
class ClassPackets:
    """Packets of one class, from host to host.

    `marked`: set to CE by a switch. `early_dropped`: by AQM. `tail_dropped`: did not fit into the buffer.
    `other_dropped`: no route, hop limit, malformed, or sent to the controller. `lost`: not in any switch's
    count; in a twin on links that were down, on a live fabric in the machine's buffers. sent = delivered +
    early_dropped + tail_dropped + other_dropped + lost.
    """

    sent: int = 0
    delivered: int = 0
    marked: int = 0
    early_dropped: int = 0
    tail_dropped: int = 0
    other_dropped: int = 0
    lost: int = 0

    @property
    def dropped(self) -> int:
        """All packets dropped by switches."""
        return self.early_dropped + self.tail_dropped + self.other_dropped


def total_of(packets: Mapping[str, ClassPackets]) -> ClassPackets:
    """Returns the sums over all classes, as the kind of counts that the classes have."""
    first, *_ = packets.values()
    parts = [asdict(one) for one in packets.values()]
    return type(first)(**{key: sum(part[key] for part in parts) for key in parts[0]})


@dataclass(frozen=True)
class Latency:
    """From the offer of a frame to its host's NIC until the arrival of its last bit; None if no frame
    arrived."""

    mean: float | None
    p50: float | None
    p99: float | None


@dataclass(frozen=True, kw_only=True)
class ReplayResult:
    """What the results of a twin and of a live fabric have in common."""

    name: str
    topology: str
    config: tuple[str, ...]
    trace: str
    trace_sha256: str
    trace_seed: int | None
    speed: float
    target: str
    tick_ps: int
    program_digest: str
    feed: FeedCounts
    packets: Mapping[str, ClassPackets]
    latency_us: Mapping[str, Latency]

    def total(self) -> ClassPackets:
        return total_of(self.packets)

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Energy:
    """Joules over the run. `legacy`: of PHYs that never sleep. `ideal`: of PHYs that sleep and wake in no
    time."""

    used: float
    legacy: float
    ideal: float


@dataclass(frozen=True)
class RunTotals:
    """The numbers of a whole run that is no replay, for a page about its packets."""

    packets: Mapping[str, ClassPackets]
    latency_us: Mapping[str, Latency]
    energy_joules: Energy
    wakes: int
    config: tuple[str, ...] = ()

    def total(self) -> ClassPackets:
        """Returns the sums over all classes."""
        return total_of(self.packets)


@dataclass(frozen=True)
class Layer:
    """The transmitters of one kind: host NICs, leaf ports to hosts, leaf ports to spines, spine ports.

    `lpi_share`: share of the time in low-power idle, averaged over them. `wakes`: wake-ups. `busy_share`:
    share of the time with a frame on the wire.
    """

    name: str
    transmitters: int
    energy_joules: Energy
    lpi_share: float
    busy_share: float
    wakes: int


@dataclass(frozen=True)
class QueueDepth:
    """Bytes waiting at one switch port: the peak in each period, from the start of the run, without the zeros
    at the end."""

    switch: str
    port: int
    role: str
    peer: str
    period_us: float
    peak_bytes: tuple[int, ...]

    @property
    def name(self) -> str:
        """`leaf1:3 to h3`."""
        return f"{self.switch}:{self.port} to {self.peer}"

    @property
    def highest(self) -> int:
        """Bytes at the deepest moment of the run."""
        return max(self.peak_bytes, default=0)


@dataclass(frozen=True, kw_only=True)
class RunResult(ReplayResult):
    """The result of one replay. All values except `wall_seconds` depend only on the trace and the settings.

    `virtual_seconds`: the time measured; `common_end_seconds`: the time measured for every configuration that
    has delivered the trace by then. `control_frames`: pauses and congestion messages that switches made; they
    do not count as packets of the trace. `faults`: both directions of links that were to fail. `pauses`:
    transmitters that were paused by their neighbours. `unmarked`: why no packet was marked; empty if some
    were, or if no port marks. `other_drops`: packets of `other_dropped` by the program's verdict.
    `lossless_dropped`: tail drops of lossless classes. `transmitters_without_power`: those that no energy
    includes, because the power at their speed is not known."""

    seed: int
    virtual_seconds: float
    common_end_seconds: float
    energy_joules: Energy
    layers: tuple[Layer, ...]
    queues: tuple[QueueDepth, ...]
    wakes: int
    reordered: int
    phy_violations: int
    control_frames: int
    p4_passes: int
    wall_seconds: float
    faults: tuple[FaultyLink, ...] = ()
    pauses: Pauses = field(default_factory=Pauses)
    unmarked: str = ""
    other_drops: Mapping[str, int] = field(default_factory=dict)
    lossless_dropped: int = 0
    transmitters_without_power: int = 0

    def deepest_queue(self, role: str | None = None) -> QueueDepth | None:
        """Returns the queue with the highest peak, of one role or of all; the first if several are equal."""
        queues = [queue for queue in self.queues if role is None or queue.role == role]
        return max(queues, key=lambda queue: queue.highest, default=None)
