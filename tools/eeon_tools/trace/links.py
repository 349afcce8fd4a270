"""Link types of captures (tcpdump.org/linktypes.html), and their packets' conversion to Ethernet frames.

Captures of `any`, of tunnels and of loopback have no Ethernet header. Their packets get one: zeros as
addresses, which a replay replaces, and the EtherType. Lengths are then those of the Ethernet frame.
"""

import struct

from eeon_control.constants import ETHERTYPE_IPV4, ETHERTYPE_IPV6

NULL, ETHERNET, RAW, LOOP, LINUX_SLL, IPV4, IPV6, LINUX_SLL2 = 0, 1, 101, 108, 113, 228, 229, 276
NAMES = {
    ETHERNET: "Ethernet",
    RAW: "raw IP",
    IPV4: "raw IPv4",
    IPV6: "raw IPv6",
    NULL: "loopback",
    LOOP: "OpenBSD loopback",
    LINUX_SLL: "Linux cooked",
    LINUX_SLL2: "Linux cooked v2",
}
"""Supported link types, with their names."""
ALIASES = {12: RAW, 14: RAW}
"""The numbers of raw IP on BSD and OpenBSD (`DLT_RAW`)."""
NO_ADDRESSES = bytes(12)
"""Destination and source of a frame whose capture had no Ethernet header."""
HEADER_BYTES = {NULL: 4, ETHERNET: 14, RAW: 0, LOOP: 4, LINUX_SLL: 16, IPV4: 0, IPV6: 0, LINUX_SLL2: 20}
_AF_INET = 2
_AF_INET6 = (10, 24, 28, 30)
"""AF_INET6 of Linux, of NetBSD and OpenBSD, of FreeBSD, and of Darwin."""
_OUTGOING = b"\x00\x04"
"""LINUX_SLL_OUTGOING; version 2 has one byte of it."""
_DIRECTIONS = (b"in", b"out")
_NO_ETHERTYPE = 0
"""For packets that are not IP: a value below 0x0600 would be a length."""


def as_ethernet(link_type: int, frame_bytes: int, captured: bytes) -> tuple[int, bytes]:
    """Returns length and bytes of a packet as an Ethernet frame. `frame_bytes`: at least `HEADER_BYTES`."""
    if link_type == ETHERNET or (link_type == NULL and not _is_loopback(frame_bytes, captured)):
        # BMv2 writes Ethernet frames into files with the link type of loopback.
        return frame_bytes, captured
    header = HEADER_BYTES[link_type]
    if link_type == LINUX_SLL:
        ethertype = int.from_bytes(captured[14:16], "big")
    elif link_type == LINUX_SLL2:
        ethertype = int.from_bytes(captured[0:2], "big")
    else:
        ethertype = _of_version(captured[header : header + 1])
    frame = NO_ADDRESSES + ethertype.to_bytes(2, "big") + captured[header:]
    return frame_bytes - header + 14, frame


def seen_at(link_type: int, captured: bytes) -> bytes | None:
    """Returns the place where a capture of all interfaces saw a packet: the interface, if the link type has
    it, and the direction. Returns None for a capture of one interface."""
    if link_type == LINUX_SLL:
        return _DIRECTIONS[captured[0:2] == _OUTGOING]
    if link_type == LINUX_SLL2:
        return captured[4:8] + _DIRECTIONS[captured[10:11] == _OUTGOING[1:]]
    return None


def _of_version(first: bytes) -> int:
    version = first[0] >> 4 if first else 0
    return {4: ETHERTYPE_IPV4, 6: ETHERTYPE_IPV6}.get(version, _NO_ETHERTYPE)


def _is_loopback(frame_bytes: int, captured: bytes) -> bool:
    """Returns whether a packet starts with an address family, in either byte order, and IP of that family."""
    if len(captured) < 12:
        return frame_bytes < 14
    families = struct.unpack_from("<I", captured)[0], struct.unpack_from(">I", captured)[0]
    version = captured[4] >> 4
    if _AF_INET in families:
        return version == 4 and int.from_bytes(captured[6:8], "big") <= frame_bytes - 4
    return any(family in _AF_INET6 for family in families) and version == 6
