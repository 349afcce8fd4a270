"""The bytes of a TCP segment in an Ethernet frame, and the packet class of a frame.

Ethernet frames have no preamble and FCS, as switches see them.

`classify` implements the classes of the P4 program, but from their definition and not from the program, so
that each can check the other.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from eeon_control.constants import ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPES_VLAN

ETHERNET_HEADER_BYTES = 14
MTU_BYTES = 1500

PROTOCOL_TCP = 6

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
NOT_ECT, ECT_1, ECT_0, CE = range(4)
ECN_NAMES = ("not_ect", "ect_1", "ect_0", "ce")
"""Names of the ECN codepoints, by their number."""


class PacketClass(IntEnum):
    """The classes by which switches count; the values are those of the P4 program's `class` field."""

    DATA = 0
    ACK = 1
    ACK_ECE = 2
    SYN = 3
    SYN_ACK = 4
    FIN_RST = 5
    OTHER = 6

    @property
    def label(self) -> str:
        """The name used in tables and JSON: `data`, `ack_ece`, ..."""
        return self.name.lower()


CLASSES = tuple(PacketClass)


def tcp_class(flags: int, payload_bytes: int) -> PacketClass:
    """Returns the class of a TCP segment.

    SYN, FIN and RST take precedence over payload: a connection depends on a SYN even if it carries data.
    """
    if flags & SYN:
        return PacketClass.SYN_ACK if flags & ACK else PacketClass.SYN
    if flags & (FIN | RST):
        return PacketClass.FIN_RST
    if payload_bytes > 0:
        return PacketClass.DATA
    if not flags & ACK:
        return PacketClass.OTHER
    return PacketClass.ACK_ECE if flags & ECE else PacketClass.ACK


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """The values that `classify` reads from a frame. If it is not IP, only class and payload are not None."""

    packet_class: PacketClass
    dscp: int | None
    ecn: int | None
    source: bytes | None
    destination: bytes | None
    payload_bytes: int


_NOT_IP = FrameFacts(PacketClass.OTHER, None, None, None, None, 0)


def classify(frame: bytes, frame_bytes: int | None = None) -> FrameFacts:
    """Returns class, DSCP, ECN codepoint, addresses and TCP payload length of a frame, even of a cut one.

    The payload length comes from the IP and TCP headers and not from the frame, which may be padded or
    snapped; only if IP's length is 0, as for segmentation offload beyond 64 KB, from `frame_bytes` if that is
    given. A frame that cannot be parsed is `other`; nothing raises.
    """
    at = 12
    ethertype = int.from_bytes(frame[at : at + 2], "big")
    while ethertype in ETHERTYPES_VLAN and len(frame) >= at + 6:
        at += 4
        ethertype = int.from_bytes(frame[at : at + 2], "big")
    at += 2
    if ethertype == ETHERTYPE_IPV4 and len(frame) >= at + 20:
        header_bytes = (frame[at] & 0xF) * 4
        traffic_class = frame[at + 1]
        source, destination = frame[at + 12 : at + 16], frame[at + 16 : at + 20]
        is_fragment = int.from_bytes(frame[at + 6 : at + 8], "big") & 0x3FFF != 0
        ip_bytes = int.from_bytes(frame[at + 2 : at + 4], "big")
        if not ip_bytes and frame_bytes is not None:
            ip_bytes = frame_bytes - at
        tcp_bytes = ip_bytes - header_bytes
        is_tcp = frame[at + 9] == PROTOCOL_TCP and header_bytes >= 20 and not is_fragment
        at += header_bytes
    elif ethertype == ETHERTYPE_IPV6 and len(frame) >= at + 40:
        traffic_class = int.from_bytes(frame[at : at + 2], "big") >> 4 & 0xFF
        source, destination = frame[at + 8 : at + 24], frame[at + 24 : at + 40]
        tcp_bytes = int.from_bytes(frame[at + 4 : at + 6], "big")
        if not tcp_bytes and frame_bytes is not None:
            tcp_bytes = frame_bytes - at - 40
        is_tcp = frame[at + 6] == PROTOCOL_TCP
        at += 40
    else:
        return _NOT_IP
    dscp, ecn = traffic_class >> 2, traffic_class & 3
    if not is_tcp or len(frame) < at + 14:
        return FrameFacts(PacketClass.OTHER, dscp, ecn, source, destination, 0)
    payload = max(0, tcp_bytes - (frame[at + 12] >> 4) * 4)
    return FrameFacts(tcp_class(frame[at + 13], payload), dscp, ecn, source, destination, payload)


def internet_checksum(data: bytes) -> int:
    """Returns the checksum of RFC 1071 over any number of bytes; 0 for data with their correct checksum."""
    padded = data + b"\0" if len(data) % 2 else data
    total = sum(int(word) for word in struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def with_dscp(frame: bytes, dscp: int) -> bytes:
    """Returns an untagged IP frame of DSCP 0 with another DSCP; an IPv4 header must have no options."""
    made = bytearray(frame)
    if int.from_bytes(frame[12:14], "big") == ETHERTYPE_IPV6:
        made[14:16] = (int.from_bytes(frame[14:16], "big") | dscp << 6).to_bytes(2, "big")
    else:
        made[15] |= dscp << 2
        made[24:26] = bytes(2)
        made[24:26] = internet_checksum(bytes(made[14:34])).to_bytes(2, "big")
    return bytes(made)
