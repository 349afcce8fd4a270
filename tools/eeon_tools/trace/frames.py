"""The bytes of a TCP segment in an Ethernet frame, and which of the seven packet classes a frame is in.

Headers are packed from templates, because a trace has millions of them: what a flow never changes is packed
once. Payloads are zeros, so TCP checksums are right although a trace normally stores headers only. Ethernet
frames are given without preamble and FCS and are padded to 60 bytes, which is how a switch sees them.

`classify` follows the classes of the P4 program, but is written from their definition and not from the
program, so that the two can be held against each other.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass
from enum import IntEnum

from eeon_control.constants import ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPES_VLAN

ETHERNET_HEADER_BYTES = 14
MIN_FRAME_BYTES = 60
"""IEEE 802.3 3.2.7: 64 bytes including the FCS, which a trace leaves out."""
WIRE_OVERHEAD_BYTES = 24
"""What a frame takes on the wire beyond its bytes: preamble and SFD 8, FCS 4, inter-frame gap 12 (IEEE
802.3)."""
MTU_BYTES = 1500

PROTOCOL_TCP = 6

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
NOT_ECT, ECT_1, ECT_0, CE = range(4)
ECN_NAMES = ("not_ect", "ect_1", "ect_0", "ce")
"""Of the codepoints, by their number."""


class PacketClass(IntEnum):
    """The classes that switches count by; the values are those of the P4 program's `class` field."""

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

    SYN and FIN or RST come before payload: a SYN that carries data is still what a connection lives on.
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
    """What `classify` reads out of a frame. All but the class and the payload are None when it is not IP."""

    packet_class: PacketClass
    dscp: int | None
    ecn: int | None
    source: bytes | None
    destination: bytes | None
    payload_bytes: int


_NOT_IP = FrameFacts(PacketClass.OTHER, None, None, None, None, 0)


def classify(frame: bytes, frame_bytes: int | None = None) -> FrameFacts:
    """Reads class, DSCP, ECN codepoint, addresses and TCP payload length of a frame, which may be cut short.

    Payload length comes from the IP and TCP headers, and not from the frame, which may be padded or snapped;
    but where IP says 0, as of segmentation offload beyond 64 KB, from `frame_bytes` if that is given.
    Whatever cannot be read makes the frame `other`; nothing raises.
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
    """RFC 1071, of any number of bytes; 0 over data that holds its own right checksum."""
    return _fold(_ones_complement_sum(data + b"\0" if len(data) % 2 else data))


def _ones_complement_sum(data: bytes) -> int:
    return sum(int(word) for word in struct.unpack(f"!{len(data) // 2}H", data))


def _fold(total: int) -> int:
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


SYN_OPTIONS_BYTES = 12
"""MSS (4), window scale with a NOP (4), SACK permitted with two NOPs (4)."""
WINDOW_SCALE = 7
"""Linux's usual shift; only window fields depend on it."""

_ETHERNET = struct.Struct("!6s6sH")
_IPV4 = struct.Struct("!BBHHHBBH4s4s")
_IPV6 = struct.Struct("!IHBB16s16s")
_TCP = struct.Struct("!HHIIBBHHH")
_IPV4_DONT_FRAGMENT = 0x4000
_TTL = 64


class FlowTemplate:
    """Everything about one direction of one TCP connection that does not change from segment to segment.

    `mss` is the payload of a full segment: 1460 over IPv4 and 1440 over IPv6, for no TCP option is sent after
    the handshake.
    """

    __slots__ = (
        "_addresses",
        "_dscp_bits",
        "_ip_sum",
        "_is_ipv6",
        "_ports",
        "_prefix",
        "_syn_options",
        "_tcp_sum",
        "_window",
    )

    def __init__(
        self,
        source_mac: bytes,
        gateway_mac: bytes,
        source: ipaddress.IPv4Address | ipaddress.IPv6Address,
        destination: ipaddress.IPv4Address | ipaddress.IPv6Address,
        source_port: int,
        destination_port: int,
        window_bytes: int,
        dscp: int = 0,
    ) -> None:
        self._is_ipv6 = source.version == 6
        self._dscp_bits = dscp << 2
        self._addresses = (source.packed, destination.packed)
        self._ports = (source_port, destination_port)
        self._window = min(0xFFFF, window_bytes >> WINDOW_SCALE)
        ethertype = ETHERTYPE_IPV6 if self._is_ipv6 else ETHERTYPE_IPV4
        self._prefix = _ETHERNET.pack(gateway_mac, source_mac, ethertype)
        mss = max_segment_bytes(self._is_ipv6)
        self._syn_options = struct.pack("!BBHBBBBBBBB", 2, 4, mss, 1, 3, 3, WINDOW_SCALE, 1, 1, 4, 2)
        addresses = _ones_complement_sum(source.packed + destination.packed)
        # Constant words of the IPv4 header, all but total length and TOS.
        self._ip_sum = addresses + 0x4500 + _IPV4_DONT_FRAGMENT + (_TTL << 8 | PROTOCOL_TCP)
        self._tcp_sum = addresses + PROTOCOL_TCP + source_port + destination_port

    def headers(self, seq: int, ack: int, flags: int, payload_bytes: int, ecn: int) -> tuple[bytes, int]:
        """Returns the headers of one segment and the length of its frame in bytes, padding included."""
        if flags & SYN:
            options, window = self._syn_options, 0xFFFF
            options_sum = _ones_complement_sum(options)
        else:
            options, window, options_sum = b"", self._window, 0
        tcp_header = 20 + len(options)
        segment = tcp_header + payload_bytes
        traffic_class = self._dscp_bits | ecn
        offset_and_flags = (tcp_header << 10) | flags
        total = (
            self._tcp_sum + segment + (seq >> 16) + (seq & 0xFFFF) + (ack >> 16) + (ack & 0xFFFF)
            + offset_and_flags + window + options_sum
        )  # fmt: skip
        source_port, destination_port = self._ports
        source, destination = self._addresses
        tcp = _TCP.pack(
            source_port, destination_port, seq, ack, tcp_header << 2, flags, window, _fold(total), 0
        )
        if self._is_ipv6:
            ip = _IPV6.pack(6 << 28 | traffic_class << 20, segment, PROTOCOL_TCP, _TTL, source, destination)
        else:
            # RFC 6864: the identification of a datagram that must not be fragmented carries no meaning.
            length = 20 + segment
            ip = _IPV4.pack(
                0x45, traffic_class, length, 0, _IPV4_DONT_FRAGMENT, _TTL, PROTOCOL_TCP,
                _fold(self._ip_sum + length + traffic_class), source, destination,
            )  # fmt: skip
        frame = ETHERNET_HEADER_BYTES + len(ip) + segment
        return self._prefix + ip + tcp + options, max(frame, MIN_FRAME_BYTES)


def max_segment_bytes(ipv6: bool) -> int:
    """TCP payload of a full segment in bytes: MTU less the IP and TCP headers."""
    return MTU_BYTES - (40 if ipv6 else 20) - 20
