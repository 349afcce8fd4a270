"""The parts of a live fabric: names of namespaces and interfaces, addresses, rates. Pure.

Switches run in the namespace of the caller that brings the fabric up, on interfaces of their own (`eeon1p3`:
port 3 of the switch with device id 1). Each host is a namespace (`eeon-h1`) with one interface, `eth0`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from eeon_control import topology as topologies
from eeon_control.topology import Host, Switch, Topology

from eeon_tools.errors import InputError

HOST_INTERFACE = "eth0"
MTU_BYTES = 1500
GATEWAY_IPV4 = "169.254.0.1"
"""The leaf's address in a host's routes; its MAC is a static neighbour, so it is never resolved."""
GATEWAY_IPV6 = "fe80::1"
NAME = re.compile(r"[a-z][a-z0-9]{0,3}")
"""A fabric's name is short, because the name of an interface has at most 15 characters."""


def check_name(fabric: str) -> None:
    """Raises InputError for a name that a fabric cannot have."""
    if not NAME.fullmatch(fabric):
        raise InputError(
            "--name", fabric, "a fabric's name is a lowercase letter, then up to 3 more or digits"
        )


def namespaces(fabric: str, topology: Topology) -> dict[str, str]:
    return {host: f"{fabric}-{host}" for host in topology.hosts}


def interfaces(fabric: str, switch: Switch) -> dict[int, str]:
    """Returns the names of the interfaces of a switch's ports: at most 4 + 5 digits + p + 3 digits."""
    return {port.number: f"{fabric}{switch.device_id}p{port.number}" for port in switch.ports}


@dataclass(frozen=True)
class End:
    """One end of a veth pair. `namespace` None: where the switches run."""

    namespace: str | None
    interface: str
    mac: str


def with_rates(topology: Topology, factor: Fraction) -> tuple[Topology, str]:
    """Returns the topology with every rate multiplied, and the text of its file.

    Raises InputError if a rate becomes less than one bit per second.
    """
    lines = [f"name: {topology.name}", f"description: rates x {factor}", "nodes:"]
    lines += [f"  {s.name}: {{kind: switch, role: {s.role.value}}}" for s in topology.switches.values()]
    lines += [f"  {name}: {{kind: host}}" for name in topology.hosts]
    lines.append("links:")
    for link in topology.links:
        rate = int(link.rate * factor)
        if rate < 1:
            raise InputError("--rate-scale", str(factor), f"makes the rate of {link.a} - {link.b} zero")
        values = f"rate: {rate}bps, delay: {link.delay}, overhead: {link.overhead}"
        lines.append(f"  - {{endpoints: ['{link.a}', '{link.b}'], {values}}}")
    text = "\n".join(lines) + "\n"
    return topologies.from_text(text, f"{topology.name} x {factor}"), text


def pairs(topology: Topology, fabric: str) -> Iterator[tuple[End, End]]:
    """Yields a veth pair for each link; a switch's end comes first."""
    hosts = namespaces(fabric, topology)

    def end(node: str, port: int) -> End:
        if node in topology.hosts:
            return End(hosts[node], HOST_INTERFACE, topology.hosts[node].mac)
        switch = topology.switches[node]
        return End(None, interfaces(fabric, switch)[port], switch.mac)

    for link in topology.links:
        ends = [end(each.node, each.port) for each in (link.a, link.b)]
        first, second = sorted(ends, key=lambda each: each.namespace is not None)
        yield first, second


def host_commands(host: Host) -> list[str]:
    """Returns the `ip -batch` commands for a host's namespace with its interface."""
    ours, mac = HOST_INTERFACE, host.gateway_mac
    return [
        "link set lo up",
        f"link set {ours} up",
        f"address add {host.ipv4}/32 dev {ours}",
        f"address add {host.ipv6}/128 dev {ours} nodad",
        f"neighbour replace {GATEWAY_IPV4} lladdr {mac} dev {ours} nud permanent",
        f"neighbour replace {GATEWAY_IPV6} lladdr {mac} dev {ours} nud permanent",
        f"route add default via {GATEWAY_IPV4} dev {ours} onlink src {host.ipv4}",
        f"route add default via {GATEWAY_IPV6} dev {ours} onlink src {host.ipv6}",
    ]


HOST_SETTINGS = {
    "net.ipv4.tcp_ecn": "1",
    f"net.ipv6.conf.{HOST_INTERFACE}.accept_ra": "0",
    f"net.ipv6.conf.{HOST_INTERFACE}.router_solicitations": "0",
    f"net.ipv6.conf.{HOST_INTERFACE}.addr_gen_mode": "1",
}
"""sysctls of a host: TCP requests ECN (RFC 3168); IPv6 sends no packets of its own."""

ANSWER_MARKS = ("dctcp", "cubic", "reno")
"""Linux' congestion controls that reduce their window when a mark is echoed; those with the shortest queues
first."""
