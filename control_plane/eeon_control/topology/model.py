"""The topology for the rest of the project: frozen, complete, checked. Built only by `builder`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from eeon_control.units import Bytes, DataRate, Duration


class SwitchRole(StrEnum):
    """A leaf has hosts, or may have them, and owns an address prefix; a spine only joins switches."""

    LEAF = "leaf"
    SPINE = "spine"


class PortRole(StrEnum):
    """The function of a port, by which configuration is attached. HOST is a host's NIC, not a switch port."""

    HOST_FACING = "host_facing"
    UPLINK = "uplink"
    SPINE = "spine"
    HOST = "host"


@dataclass(frozen=True, order=True)
class Endpoint:
    """One end of a link: a node's name and its port number."""

    node: str
    port: int

    def __str__(self) -> str:
        return f"{self.node}:{self.port}"


@dataclass(frozen=True)
class Link:
    """A full-duplex link. `rate` and `delay` (propagation) hold for each direction.

    `overhead`: bytes that each frame occupies on the wire beyond those that a switch sees: 8 preamble and
    SFD, 4 FCS, 12 inter-frame gap (IEEE 802.3 clauses 3.1.1 and 4.4.2), unless the file has another value.
    """

    a: Endpoint
    b: Endpoint
    rate: DataRate
    delay: Duration
    overhead: Bytes


@dataclass(frozen=True)
class Port:
    """A port that has a link: of a switch, or (role HOST) of a host."""

    node: str
    number: int
    role: PortRole
    peer: Endpoint
    rate: DataRate
    delay: Duration
    overhead: Bytes

    @property
    def name(self) -> str:
        """The name in configuration files: `leaf1:3`."""
        return f"{self.node}:{self.number}"


@dataclass(frozen=True)
class Switch:
    """A switch: its P4Runtime device id (1-based, in file order), MAC, and the ports that have links.

    Leaves have `leaf_number` (1-based, in file order) and the prefixes of their hosts; spines have None.
    """

    name: str
    role: SwitchRole
    device_id: int
    mac: str
    ports: tuple[Port, ...]
    leaf_number: int | None = None
    ipv4_prefix: IPv4Network | None = None
    ipv6_prefix: IPv6Network | None = None


@dataclass(frozen=True)
class Host:
    """A host: its addresses and its attachment.

    It has no gateway address: it sends every frame to `gateway_mac`, its leaf's MAC, including frames to
    hosts of its own rack, because a leaf routes and does not switch.
    """

    name: str
    mac: str
    ipv4: IPv4Address
    ipv6: IPv6Address
    leaf: str
    gateway_mac: str
    port: Port


@dataclass(frozen=True)
class Topology:
    """A fabric. Mappings keep file order; every name in a link is a key of `switches` or `hosts`.

    `document` is the file's content as plain values, from which the topology can be rebuilt. `assumed`: the
    values assumed for a file of another tool, in words; empty without any.
    """

    name: str
    description: str
    switches: Mapping[str, Switch]
    hosts: Mapping[str, Host]
    links: tuple[Link, ...]
    source: str
    document: Mapping[str, object] = field(default_factory=dict, repr=False, compare=False)
    assumed: str = field(default="", compare=False)

    @property
    def leaves(self) -> tuple[Switch, ...]:
        """The switches of role leaf, by leaf number."""
        return tuple(switch for switch in self.switches.values() if switch.role is SwitchRole.LEAF)

    def ports(self) -> tuple[Port, ...]:
        """Returns every switch port that has a link, by switch in file order, then by number."""
        return tuple(port for switch in self.switches.values() for port in switch.ports)

    def port(self, name: str) -> Port | None:
        """Returns the switch port with a name such as `leaf1:3`, or None."""
        node, _, number = name.rpartition(":")
        switch = self.switches.get(node)
        if switch is None or not number.isdecimal():
            return None
        return next((port for port in switch.ports if str(port.number) == number), None)
