"""The offsets of the headers in a frame."""

from __future__ import annotations

from typing import NamedTuple

from eeon_control.constants import ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPES_VLAN

TCP, UDP, DCCP, ICMPV6, UDP_LITE = 6, 17, 33, 58, 136
TCP_FLAGS_END = 14
CHECKSUM_AT = {TCP: 16, UDP: 6, UDP_LITE: 6, DCCP: 6, ICMPV6: 2}
"""Offsets of the checksums that cover IP addresses (in IPv4, ICMP's does not)."""
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
        """Returns whether it starts with TCP's header."""
        return self.protocol == TCP and self.is_first


def source_place(frame: bytes) -> tuple[int, int] | None:
    """Returns the offset and the length of the source address, or None if the frame is not IP.

    The length is 0 if the frame is cut before its type is known.
    """
    at, ethertype = _ethertype(frame)
    if len(frame) < at:
        return at, 0
    if ethertype == ETHERTYPE_IPV4:
        return at + 12, 4
    if ethertype == ETHERTYPE_IPV6:
        return at + 8, 16
    return None


def _ethertype(frame: bytes) -> tuple[int, int]:
    """Returns the offset after the EtherType, which follows the VLAN tags, and the EtherType."""
    at = 12
    ethertype = int.from_bytes(frame[at : at + 2], "big")
    while ethertype in ETHERTYPES_VLAN:
        at += 4
        ethertype = int.from_bytes(frame[at : at + 2], "big")
    return at + 2, ethertype


def protocol_name(frame: bytes) -> str:
    """Returns the name of the protocol in a frame that is not IP."""
    ethertype = _ethertype(frame)[1]
    if ethertype < _LEAST_ETHERTYPE:
        return "IEEE 802.2"
    return _ETHERTYPES.get(ethertype, f"EtherType 0x{ethertype:04x}")


def ecn_of(frame: bytes, place: tuple[int, int]) -> int:
    """Returns the ECN codepoint of a frame whose source address is at `place`."""
    source_at, length = place
    if length == 4:
        return frame[source_at - 11] & 3
    return frame[source_at - 7] >> 4 & 3


def transport(frame: bytes | bytearray, place: tuple[int, int]) -> Transport | None:
    """Returns the part after IP in a frame whose source address is at `place`; None if it is cut off."""
    source_at, length = place
    if length == 4:
        ip = source_at - 12
        if len(frame) < ip + 10:
            return None
        fragment = int.from_bytes(frame[ip + 6 : ip + 8], "big")
        at = ip + (frame[ip] & 0xF) * 4
        return Transport(frame[ip + 9], at, not fragment & 0x1FFF, bool(fragment & 0x3FFF), False)
    ip = source_at - 8
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


def headers_end(place: tuple[int, int], found: Transport | None) -> int | None:
    """Returns the end of the headers by which switches and hosts classify a frame: IP's addresses, IPv4's
    options, TCP's flags. None if they are cut before the end is known."""
    source_at, length = place
    if not length or found is None:
        return None
    addresses_end = source_at + 2 * length
    if found.is_tcp:
        return max(addresses_end, found.at + TCP_FLAGS_END)
    return max(addresses_end, found.at) if length == 4 else addresses_end


def tcp_payload(
    frame: bytes, place: tuple[int, int], found: Transport | None, frame_bytes: int
) -> int | None:
    """Returns the payload length of a TCP segment in bytes, by its headers; None if they are missing.

    What follows IP's packet does not count: padding, a frame check sequence. IP's length is 0 in frames of
    segmentation offload beyond 64 KB: then the frame's length counts. An IP header with a version other than
    the EtherType's, or shorter than the minimum, is not accepted.
    """
    if found is None or not found.is_tcp or len(frame) < found.at + TCP_FLAGS_END:
        return None
    source_at, length = place
    if length == 4:
        ip = source_at - 12
        is_ip = frame[ip] >> 4 == 4 and found.at >= ip + 20
    else:
        is_ip = frame[source_at - 8] >> 4 == 6
    if not is_ip:
        return None
    return max(0, ip_end(frame, place, frame_bytes) - found.at - (frame[found.at + 12] >> 4) * 4)


def ip_end(frame: bytes, place: tuple[int, int], frame_bytes: int) -> int:
    """Returns the end of IP's packet by its header. If that has no length, or a longer one than the frame,
    it is the frame's end."""
    source_at, length = place
    headers_at, at = (source_at - 12, source_at - 10) if length == 4 else (source_at + 32, source_at - 4)
    told = int.from_bytes(frame[at : at + 2], "big")
    return min(headers_at + told, frame_bytes) if told else frame_bytes
