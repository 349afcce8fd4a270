"""The hosts that send a trace: those of the fabric with the engine's TCP, on a network that only delays
packets.

The network is the fabric's, changed so that frames wait only in NICs and before receivers' links: links
between switches take almost no time, those of hosts have the one-way delay, and buffers are deep. A port to a
receiver marks above a threshold. docs/models/shuffle.md has the figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eeon_control import config as configs
from eeon_control.config import FabricConfig
from eeon_control.topology import Topology
from eeon_control.units import Bytes

from eeon_tools.errors import ToolsError
from eeon_tools.replay.spec import LONGEST_RUN_PS, fabric_spec
from eeon_tools.replay.twin import RunningTwin
from eeon_tools.trace.frames import ETHERNET_HEADER_BYTES, MTU_BYTES

if TYPE_CHECKING:
    from eeon_engine.hops import Hops
    from eeon_engine.json_types import FabricSpec, TcpSpec

MIN_WINDOW_SEGMENTS = 2
"""Minimum window: with less, a receiver would wait in vain for a second segment to acknowledge."""
BUFFER_BYTES = Bytes(4_000_000_000)
"""Of each switch port; the P4 program's maximum is slightly larger."""
_CORE_BPS = 100 * 10**12
# Between switches: a full frame takes 0.1 ns.
_RTO_PS = 10**15
# Nothing is lost, so a timer would only resend segments that are still waiting.
_TIME_WAIT_PS = 10**9
# No segment arrives late.
_FRAMES_AT_A_TIME = 1 << 15
# Full frames of all hosts, which are in memory together with their ACKs.
_IDLE_STEPS = 16
# Maximum factor by which a part becomes longer in time after parts without frames.
_MAX_RECORDED = 16_000_000
# More than the shortest frames that all hosts can send in the longest part.
_LONGEST_HEADERS_BYTES = 128
_PS_PER_S = 10**12


@dataclass(frozen=True, slots=True)
class SenderSettings:
    """How hosts send, and the network between them. One object for each trace; written into the manifest."""

    one_way_delay_ns: int = 30_000
    """From the first bit of a full frame leaving its host to the receiver's access queue, at least the
    frame's transmit time on the host's link. Default: four hops of a leaf-spine with one full frame each at
    1, 10, 10 Gbit/s, and about 15 us in the hosts' own stacks."""
    window_bytes: int = 65_536
    """Maximum number of bytes that a sender has in flight. The thesis uses 64 KB (Hadoop's default buffers)
    and 1 MB (tuned), section 4.2."""
    ce_threshold_bytes: int = 97_500
    """Depth of the receiver's access queue above which ECN-capable packets get CE. Default: 65 frames of 1500
    bytes, the setting of DCTCP's authors for 10 Gbit/s, which is 780 us at 1 Gbit/s."""
    ecn: bool = True
    """Whether connections negotiate ECN; without it no packet is ECT or has ECE."""
    ipv6: bool = False
    """IPv6 instead of IPv4."""
    dscps: tuple[int, ...] = (0,)
    """DSCPs (RFC 2474) that connections take in turn as they begin; both directions of one have the same."""

    def tcp(self) -> TcpSpec:
        mss = MTU_BYTES - (60 if self.ipv6 else 40)
        return {
            "algorithm": "ecn" if self.ecn else "newreno",
            "mss": mss,
            "receive_buffer_bytes": max(self.window_bytes, MIN_WINDOW_SEGMENTS * mss),
            "initial_rto_ps": _RTO_PS,
            "min_rto_ps": _RTO_PS,
            "max_rto_ps": _RTO_PS,
            "time_wait_ps": _TIME_WAIT_PS,
        }

    def config(self) -> FabricConfig:
        threshold = Bytes(min(self.ce_threshold_bytes, BUFFER_BYTES))
        marked = {"mode": "mark_threshold", "threshold": str(threshold)}
        queues = {
            name: {"buffer": str(BUFFER_BYTES), "aqm": aqm}
            for name, aqm in (("receiver", marked), ("core", {"mode": "drop_tail"}))
        }
        roles = {"host_facing": "receiver", "uplink": "core", "spine": "core"}
        return configs.from_value(
            {"profiles": {"queue": queues}, "roles": {role: {"queue": name} for role, name in roles.items()}},
            "<trace>",
        )

    def fabric(self, topology: Topology, seed: int) -> FabricSpec:
        spec = fabric_spec(topology, self.config(), seed)
        for link in spec["links"]:
            if link["a"]["node"] in topology.hosts or link["b"]["node"] in topology.hosts:
                frame = ETHERNET_HEADER_BYTES + MTU_BYTES + link["overhead_bytes"]
                wire_ps = 8 * _PS_PER_S * frame // link["rate_bps"]
                link["delay_ps"] = max(0, self.one_way_delay_ns * 1000 - wire_ps) // 2
            else:
                link["rate_bps"], link["delay_ps"] = _CORE_BPS, 0
        if self.ipv6:
            for host in spec["hosts"]:
                del host["ipv4"]
        return spec


def sent(twin: RunningTwin, topology: Topology) -> Iterator[Hops]:
    """Runs until no event is left. Yields the frames that hosts' NICs put on their links, in order of time,
    one part at a time."""
    step_ps = (
        8 * _PS_PER_S * _FRAMES_AT_A_TIME * (ETHERNET_HEADER_BYTES + MTU_BYTES)
        // sum(int(host.port.rate) for host in topology.hosts.values())
    )  # fmt: skip
    until_ps, steps, is_over = 0, 1, False
    while not is_over:
        if until_ps > LONGEST_RUN_PS:
            raise ToolsError("the trace takes more than 26 days, which no twin runs for; take a part of it")
        until_ps += steps * step_ps
        twin.record(
            {
                "kinds": ["sent"],
                "ports": [(host, 0) for host in topology.hosts],
                "snap_bytes": _LONGEST_HEADERS_BYTES,
                "limit": _MAX_RECORDED,
            }
        )
        is_over = twin.engine.run_to_idle(until_ps)
        found = twin.recorded()
        assert found is not None, "hops have been recorded since the last part"
        if len(found):
            yield found
        steps = 1 if len(found) else min(2 * steps, _IDLE_STEPS)
