"""Results made by hand, for tests of their use."""

from eeon_tools.replay.feed import FeedCounts
from eeon_tools.replay.result import ClassPackets, Energy, Latency, Layer, QueueDepth, RunResult
from eeon_tools.trace.frames import CLASS_NAMES
from eeon_tools.trace.manifest import Manifest

MANIFEST = Manifest.model_construct(
    trace="shuffle.pcap",
    sha256="0" * 64,
    topology="leaf-spine-4",
    seed=1,
    packets={"data": 1000, "ack": 500, "syn": 20},
    duration_ns=10_000_000,
    frame_bytes=1,
    connections=20,
)


def run_result(
    name: str = "one",
    early_acks: int = 0,
    marked: int = 40,
    used: float = 0.5,
    data_p50: float = 100.0,
    tail: int = 3,
) -> RunResult:
    """Returns a plausible replay; the arguments are the values that findings use."""
    packets = {kind: ClassPackets() for kind in CLASS_NAMES}
    latency = {kind: Latency(None, None, None) for kind in CLASS_NAMES}
    packets["data"] = ClassPackets(1000, 1000 - tail, marked, 0, tail, 0)
    packets["ack"] = ClassPackets(500, 500 - early_acks, 0, early_acks, 0, 0)
    packets["syn"] = ClassPackets(20, 20, 0, 0, 0, 0)
    latency["data"] = Latency(data_p50 * 1.2, data_p50, data_p50 * 9)
    latency["ack"] = Latency(60.0, 50.0, 900.0)
    energy = Energy(used, 1.0, 0.2)
    return RunResult(
        name=name,
        topology="leaf-spine-4",
        config=("drop_tail",),
        trace="t.pcap",
        trace_sha256="0" * 64,
        trace_seed=1,
        seed=1,
        speed=1.0,
        target="twin",
        tick_ps=1000,
        program_digest="a" * 64,
        virtual_seconds=0.01,
        common_end_seconds=0.01,
        feed=FeedCounts(),
        packets=packets,
        latency_us=latency,
        energy_joules=energy,
        layers=tuple(Layer(name, 4, energy, 0.4, 0.3, 12) for name in ("host to leaf", "leaf to host")),
        queues=(
            QueueDepth("leaf1", 1, "host_facing", "h1", 10.0, (0, 1500, 90_000, 40_000)),
            QueueDepth("leaf1", 3, "uplink", "spine1", 10.0, (0, 1500)),
        ),
        wakes=24,
        reordered=0,
        control_frames=0,
        phy_violations=0,
        p4_passes=4000,
        wall_seconds=1.25,
    )
