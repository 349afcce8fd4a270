"""From a lab's topology to the fabric that the engine builds (the JSON of its `FabricSpec`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eeon_control.constants import DROP_PORT

from eeon_tools.lab.topology import LabTopology

if TYPE_CHECKING:
    from eeon_engine.json_types import EndSpec, FabricSpec

TICK_PS = 1_000_000
"""Timestamps count microseconds, as on BMv2."""
QUEUE_LIMIT_PACKETS = 64
"""Packets that wait at a port of BMv2's `simple_switch` at most."""


def fabric_spec(
    topology: LabTopology, seed: int, queue_limit_packets: int = QUEUE_LIMIT_PACKETS
) -> FabricSpec:
    """Switches as BMv2's are: timestamps of 1 us, a limit in packets at each port, no gate."""
    return {
        "seed": seed,
        "tick_ps": TICK_PS,
        "cpu_port": topology.cpu_port,
        "drop_port": DROP_PORT,
        "queue_limit_packets": queue_limit_packets,
        "switches": [
            {"name": switch.name, "device_id": switch.device_id} for switch in topology.switches.values()
        ],
        "hosts": [
            {"name": host.name, "mac": host.mac, "ipv4": str(host.ipv4.ip)}
            for host in topology.hosts.values()
        ],
        "links": [
            {"a": _end(link.a), "b": _end(link.b), "rate_bps": int(link.rate), "delay_ps": int(link.delay)}
            for link in topology.links
        ],
    }


def _end(end: tuple[str, int]) -> EndSpec:
    return {"node": end[0], "port": end[1]}
