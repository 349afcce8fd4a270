"""Headers that a lab's hosts write and read: Ethernet, ARP (RFC 826), IPv4, ICMP echo (RFC 792), UDP.

Written by hand because a stream has many packets; scapy takes 0.1 ms or more for each.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address

from eeon_tools.trace.frames import internet_checksum

BROADCAST = b"\xff" * 6
TYPE_IPV4, TYPE_ARP = 0x0800, 0x0806
PROTOCOL_ICMP, PROTOCOL_UDP = 1, 17
ECHO_REPLY, ECHO_REQUEST = 0, 8
ARP_REQUEST, ARP_REPLY = 1, 2
_ARP = struct.Struct("!HHBBH6s4s6s4s")
_IPV4 = struct.Struct("!BBHHHBBH4s4s")
_ICMP = struct.Struct("!BBHHH")
_UDP = struct.Struct("!HHHH")
_ARP_ETHERNET_IPV4 = (1, TYPE_IPV4, 6, 4)
_TTL = 64


def ethernet(destination: bytes, source: bytes, kind: int, payload: bytes) -> bytes:
    """Returns a frame without FCS."""
    return destination + source + kind.to_bytes(2, "big") + payload


@dataclass(frozen=True)
class Arp:
    """An ARP packet for IPv4 over Ethernet."""

    operation: int
    sender_mac: bytes
    sender_ip: IPv4Address
    target_mac: bytes
    target_ip: IPv4Address

    def encode(self) -> bytes:
        """Returns the packet's 28 bytes."""
        return _ARP.pack(
            *_ARP_ETHERNET_IPV4,
            self.operation,
            self.sender_mac,
            self.sender_ip.packed,
            self.target_mac,
            self.target_ip.packed,
        )

    @classmethod
    def read(cls, payload: bytes) -> Arp | None:
        """Parses an ARP packet for IPv4 over Ethernet; returns None for any other packet."""
        if len(payload) < _ARP.size:
            return None
        *kinds, operation, sender_mac, sender_ip, target_mac, target_ip = _ARP.unpack_from(payload)
        if tuple(kinds) != _ARP_ETHERNET_IPV4:
            return None
        return cls(operation, sender_mac, IPv4Address(sender_ip), target_mac, IPv4Address(target_ip))


def ipv4(source: IPv4Address, destination: IPv4Address, protocol: int, payload: bytes, tos: int = 0) -> bytes:
    """Returns a packet without options. `tos` is the whole byte: DSCP and ECN."""
    header = _IPV4.pack(
        0x45, tos, _IPV4.size + len(payload), 0, 0, _TTL, protocol, 0, source.packed, destination.packed
    )
    return header[:10] + internet_checksum(header).to_bytes(2, "big") + header[12:] + payload


def echo(kind: int, identifier: int, sequence: int, data: bytes) -> bytes:
    header = _ICMP.pack(kind, 0, 0, identifier, sequence)
    return header[:2] + internet_checksum(header + data).to_bytes(2, "big") + header[4:] + data


def udp(source_port: int, destination_port: int, data: bytes) -> bytes:
    """Returns a datagram without checksum, which RFC 768 allows over IPv4."""
    return _UDP.pack(source_port, destination_port, _UDP.size + len(data), 0) + data


@dataclass(frozen=True)
class Packet:
    """A received IPv4 packet. `data` is the part after the header, without the frame's padding."""

    source: IPv4Address
    destination: IPv4Address
    protocol: int
    tos: int
    data: bytes

    @classmethod
    def read(cls, payload: bytes) -> Packet | None:
        """Parses an IPv4 packet; returns None if it is truncated, fragmented, or has a wrong checksum."""
        if len(payload) < _IPV4.size:
            return None
        first, tos, length, _, fragment, _, protocol, _, source, destination = _IPV4.unpack_from(payload)
        header_bytes = (first & 0xF) * 4
        if first >> 4 != 4 or not _IPV4.size <= header_bytes <= length <= len(payload):
            return None
        if fragment & 0x3FFF or internet_checksum(payload[:header_bytes]):
            return None
        return cls(IPv4Address(source), IPv4Address(destination), protocol, tos, payload[header_bytes:length])

    def icmp(self) -> tuple[int, int, int, bytes] | None:
        """Returns type, identifier, sequence number and data of an ICMP echo; None for any other packet."""
        if self.protocol != PROTOCOL_ICMP or len(self.data) < _ICMP.size or internet_checksum(self.data):
            return None
        kind, code, _, identifier, sequence = _ICMP.unpack_from(self.data)
        if code or kind not in (ECHO_REPLY, ECHO_REQUEST):
            return None
        return kind, identifier, sequence, self.data[_ICMP.size :]

    def udp(self) -> tuple[int, int, bytes] | None:
        """Returns ports and data of a datagram; None for any other packet."""
        if self.protocol != PROTOCOL_UDP or len(self.data) < _UDP.size:
            return None
        source_port, destination_port, length, _ = _UDP.unpack_from(self.data)
        if not _UDP.size <= length <= len(self.data):
            return None
        return source_port, destination_port, self.data[_UDP.size : length]
