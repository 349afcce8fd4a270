"""The IP packet in a frame: where its headers are, and what they say.

The packet classes are those of the P4 program, but by their definition and not from the program, so that each
can check the other.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from eeon_control.constants import ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPES_VLAN

from eeon_tools.trace.frames import ACK, ECE, FIN, RST, SYN

TCP, UDP, DCCP, ICMPV6, UDP_LITE = 6, 17, 33, 58, 136
TCP_FLAGS_END = 14
CHECKSUM_AT = {TCP: 16, UDP: 6, UDP_LITE: 6, DCCP: 6, ICMPV6: 2}
"""Offsets of the checksums that cover IP addresses (in IPv4, ICMP's does not)."""
JUMBO_HEADER_BYTES = 8
_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AUTHENTICATION, _DESTINATION = 0, 43, 44, 51, 60


_ETHERTYPES = {
    0x0806: "ARP",
    0x8847: "MPLS",
    0x8863: "PPPoE",
    0x8864: "PPPoE",
    0x88CC: "LLDP",
    0x88E5: "MACsec",
}
_LEAST_ETHERTYPE = 0x0600
_ADDRESSES = {0: (0, 0), 4: (4, 12), 6: (16, 8)}
"""The length of addresses and the offset of the source's in an IP header, by version; 0: not known."""


class Transport(NamedTuple):
    """The part after the IP header and IPv6's extension headers.

    `at`: its offset, which may be beyond the end of the frame. `is_first`: whether it starts with the
    protocol's header, which only the first fragment of a datagram has. `is_fragment`: whether there are
    others. `is_routed`: whether a routing header has the final destination, which the checksum then covers.
    """

    protocol: int
    at: int
    is_first: bool
    is_fragment: bool
    is_routed: bool

    @property
    def is_tcp(self) -> bool:
        return self.protocol == TCP and self.is_first


class IpFrame:
    """An Ethernet frame of IP, of which perhaps only the beginning was captured.

    `version`: 4 or 6; 0 if the frame is cut before it is known. `ip_at`, `source_at`,
    `destination_at`, `addresses_end`: offsets of the IP header and of its addresses. `transport`: the part
    after IP; None if it is cut off.
    """

    def __init__(self, captured: bytes, frame_bytes: int, ip_at: int, version: int) -> None:
        self.captured = captured
        self.frame_bytes = frame_bytes
        self.version = version
        self.ip_at = ip_at
        address_bytes, before_source = _ADDRESSES[version]
        self.source_at = ip_at + before_source
        self.destination_at = self.source_at + address_bytes
        self.addresses_end = self.destination_at + address_bytes
        self.transport = _transport(captured, ip_at, version) if version else None

    @classmethod
    def of(cls, captured: bytes, frame_bytes: int) -> IpFrame | None:
        """Returns the parsed frame, or None if it is not IP. Nothing raises."""
        at, ethertype = _ethertype(captured)
        if len(captured) < at:
            return cls(captured, frame_bytes, at, 0)
        if ethertype == ETHERTYPE_IPV4:
            return cls(captured, frame_bytes, at, 4)
        return cls(captured, frame_bytes, at, 6) if ethertype == ETHERTYPE_IPV6 else None

    @property
    def has_addresses(self) -> bool:
        """Whether both addresses were captured."""
        return self.version > 0 and self.addresses_end <= len(self.captured)

    @property
    def source(self) -> bytes:
        return self.captured[self.source_at : self.destination_at]

    @property
    def destination(self) -> bytes:
        return self.captured[self.destination_at : self.addresses_end]

    @property
    def traffic_class(self) -> int:
        """IPv4's byte of DSCP and ECN, and IPv6's traffic class."""
        if self.version == 4:
            return self.captured[self.ip_at + 1]
        return int.from_bytes(self.captured[self.ip_at : self.ip_at + 2], "big") >> 4 & 0xFF

    @property
    def headers_end(self) -> int | None:
        """The end of the headers by which switches and hosts classify a frame: IP's addresses, IPv4's
        options, TCP's flags. None if they are cut before the end is known."""
        found = self.transport
        if found is None:
            return None
        if found.is_tcp:
            return max(self.addresses_end, found.at + TCP_FLAGS_END)
        return max(self.addresses_end, found.at) if self.version == 4 else self.addresses_end

    @property
    def ip_end(self) -> int:
        """The end of IP's packet by its header. If that has no length, or a longer one than the frame, it is
        the frame's end."""
        headers_at, at = (self.ip_at, 2) if self.version == 4 else (self.ip_at + 40, 4)
        told = int.from_bytes(self.captured[self.ip_at + at : self.ip_at + at + 2], "big")
        return min(headers_at + told, self.frame_bytes) if told else self.frame_bytes

    @cached_property
    def tcp_payload(self) -> int | None:
        """The payload length of a TCP segment in bytes, by its headers; None if they are missing.

        What follows IP's packet does not count: padding, a frame check sequence. IP's length is 0 in frames
        of segmentation offload beyond 64 KB: then the frame's length counts. An IP header with a version
        other than the EtherType's, or shorter than the minimum, is not accepted.
        """
        found, frame = self.transport, self.captured
        if found is None or not found.is_tcp or len(frame) < found.at + TCP_FLAGS_END:
            return None
        version = frame[self.ip_at] >> 4
        if not (version == 6 if self.version == 6 else version == 4 and found.at >= self.ip_at + 20):
            return None
        return max(0, self.ip_end - found.at - (frame[found.at + 12] >> 4) * 4)

    @property
    def is_jumbogram(self) -> bool:
        """Whether IPv6's first extension header is hop-by-hop with only the jumbo option."""
        ip = self.ip_at
        has_option = self.captured[ip + 41 : ip + 44] == b"\x00\xc2\x04"
        return self.version == 6 and has_option and self.captured[ip + 6] == _HOP_BY_HOP

    @property
    def packet_class(self) -> str:
        """The class by which switches count the frame.

        SYN, FIN and RST take precedence over payload: a connection depends on a SYN even if it carries data.
        TCP in fragments, or after IPv6's extension headers, is not looked for.
        """
        found, payload = self.transport, self.tcp_payload
        if found is None or payload is None or found.is_fragment:
            return "other"
        if self.version == 6 and found.at != self.ip_at + 40:
            return "other"
        flags = self.captured[found.at + 13]
        if flags & SYN:
            return "syn_ack" if flags & ACK else "syn"
        if flags & (FIN | RST):
            return "fin_rst"
        if payload > 0:
            return "data"
        if not flags & ACK:
            return "other"
        return "ack_ece" if flags & ECE else "ack"


def protocol_name(frame: bytes) -> str:
    """Returns the name of the protocol in a frame that is not IP."""
    ethertype = _ethertype(frame)[1]
    if ethertype < _LEAST_ETHERTYPE:
        return "IEEE 802.2"
    return _ETHERTYPES.get(ethertype, f"EtherType 0x{ethertype:04x}")


def _ethertype(frame: bytes) -> tuple[int, int]:
    """Returns the offset after the EtherType, which follows the VLAN tags, and the EtherType."""
    at = 12
    ethertype = int.from_bytes(frame[at : at + 2], "big")
    while ethertype in ETHERTYPES_VLAN:
        at += 4
        ethertype = int.from_bytes(frame[at : at + 2], "big")
    return at + 2, ethertype


def _transport(frame: bytes, ip: int, version: int) -> Transport | None:
    if version == 4:
        if len(frame) < ip + 10:
            return None
        fragment = int.from_bytes(frame[ip + 6 : ip + 8], "big")
        at = ip + (frame[ip] & 0xF) * 4
        return Transport(frame[ip + 9], at, not fragment & 0x1FFF, bool(fragment & 0x3FFF), False)
    if len(frame) < ip + 7:
        return None
    protocol, at = frame[ip + 6], ip + 40
    is_first, is_fragment, is_routed = True, False, False
    while protocol in (_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AUTHENTICATION, _DESTINATION):
        if len(frame) < at + 4:
            return None
        after = frame[at]
        if protocol == _FRAGMENT:
            offset = int.from_bytes(frame[at + 2 : at + 4], "big")
            is_first, is_fragment = offset < 8, is_fragment or bool(offset & 0xFFF9)
            size = 8
        elif protocol == _AUTHENTICATION:
            size = (frame[at + 1] + 2) * 4
        else:
            is_routed |= protocol == _ROUTING and frame[at + 3] > 0
            size = (frame[at + 1] + 1) * 8
        protocol, at = after, at + size
        if not is_first:
            break
    return Transport(protocol, at, is_first, is_fragment, is_routed)
