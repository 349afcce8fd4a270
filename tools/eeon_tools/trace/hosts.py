"""The hosts of a trace: the parts of a topology's hosts that a workload needs."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from eeon_control.topology import Topology


@dataclass(frozen=True, slots=True)
class TraceHost:
    """A sending host: addresses, its leaf and the leaf's MAC, and its link's rate in bit/s."""

    name: str
    mac: bytes
    ipv4: ipaddress.IPv4Address
    ipv6: ipaddress.IPv6Address
    leaf: str
    gateway_mac: bytes
    rate_bps: int


def of_topology(topology: Topology) -> list[TraceHost]:
    """Returns the hosts of a fabric in file order; a host's index in this list is its index throughout a
    trace."""
    return [
        TraceHost(
            name=host.name,
            mac=mac_bytes(host.mac),
            ipv4=host.ipv4,
            ipv6=host.ipv6,
            leaf=host.leaf,
            gateway_mac=mac_bytes(host.gateway_mac),
            rate_bps=int(host.port.rate),
        )
        for host in topology.hosts.values()
    ]


def mac_bytes(mac: str) -> bytes:
    """Returns the bytes of `08:00:00:00:01:11`."""
    return bytes.fromhex(mac.replace(":", ""))
