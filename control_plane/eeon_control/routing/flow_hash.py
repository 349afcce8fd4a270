"""The hash by which the P4 program spreads flows over the members of an ECMP group.

A model of `set_ecmp_seed` and of its fields from the parser (p4src/include/control/route.p4, parser.p4). A
test compares it with the program in the engine.
"""

import re
import struct
import zlib
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Self

from eeon_control.errors import EeonError

_PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "icmpv6": 58}
_WITH_PORTS = (6, 17)
_NUMBER = re.compile(r"[0-9]{1,5}", re.ASCII)
_BITS_32 = (1 << 32) - 1
_MURMUR3_FINALIZER = 0x85EBCA6B


@dataclass(frozen=True)
class Flow:
    """The fields that identify a flow, besides addresses. Only TCP and UDP have ports; others have 0."""

    protocol: int
    source_port: int = 0
    destination_port: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses `tcp,40000,5000`, or `icmp`, or a protocol's number. Raises EeonError."""
        name, *ports = (part.strip() for part in text.lower().split(","))
        protocol = _PROTOCOLS.get(name, int(name) if _NUMBER.fullmatch(name) else -1)
        if not 0 <= protocol <= 255:
            raise EeonError(
                f"flow {text}: {name or 'nothing'} is not a protocol; "
                f"write {', '.join(_PROTOCOLS)} or 0 to 255"
            )
        if protocol not in _WITH_PORTS:
            if ports:
                raise EeonError(f"flow {text}: only TCP and UDP have ports; write {name} alone")
            return cls(protocol)
        if len(ports) != 2:
            raise EeonError(f"flow {text}: write {name},SPORT,DPORT, for example {name},40000,5000")
        numbers = [int(port) if _NUMBER.fullmatch(port) else -1 for port in ports]
        for port, number in zip(ports, numbers, strict=True):
            if not 0 <= number <= 65535:
                raise EeonError(f"flow {text}: {port or 'nothing'} is not a port; write 0 to 65535")
        return cls(protocol, *numbers)

    def __str__(self) -> str:
        names = {number: name for name, number in _PROTOCOLS.items()}
        name = names.get(self.protocol, f"protocol {self.protocol}")
        ports = f" {self.source_port} -> {self.destination_port}"
        return name + (ports if self.protocol in _WITH_PORTS else "")


def ecmp_key(
    source: IPv4Address | IPv6Address, destination: IPv4Address | IPv6Address, flow: Flow, seed: int
) -> int:
    """Returns the 16-bit selector key of a switch with this seed: CRC-32 (IEEE 802.3), then mixed."""
    ports = struct.pack(">BHH", flow.protocol, flow.source_port, flow.destination_port)
    mixed = zlib.crc32(source.packed + destination.packed + ports) * seed & _BITS_32
    mixed = (mixed ^ (mixed >> 16)) * _MURMUR3_FINALIZER & _BITS_32
    return mixed >> 16
