"""Segmentation offload: a host captures TCP segments of up to 64 KB, and more (BIG TCP), that no link has
carried: before its NIC has segmented them (TSO), or after they were merged on receipt (GRO, LRO).

They are cut at the MSS: at the smaller one of both ends' SYNs, as far as the trace has them, and else at that
of an MTU of 1,500 bytes. As in Linux (`tcp_gso_segment`), every segment has the headers of the whole, with
its own sequence number, CWR only in the first, FIN and PSH only in the last; only the whole has the option
that makes an IPv6 packet a jumbogram (RFC 2675).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from eeon_tools.trace.frames import CWR, FIN, MTU_BYTES, PSH, SYN, internet_checksum
from eeon_tools.trace.layers import TCP, TCP_FLAGS_END, Transport, tcp_payload, transport

_KNOWN_FLOWS = 65_536
_MIN_SEGMENT_BYTES = 64
"""A smaller MSS counts as damage: one frame would become thousands."""
_MSS_OPTION, _END_OPTION, _NO_OPERATION = 2, 0, 1
_JUMBO_HEADER_BYTES = 8


class Segmenter:
    """Cuts the frames of one trace, which must come in the order of the trace."""

    def __init__(self) -> None:
        self._mss: dict[bytes, int] = {}
        self._least_mss = MTU_BYTES

    def payload_of_segment(
        self, frame: bytes, place: tuple[int, int], frame_bytes: int, found: Transport | None
    ) -> int | None:
        """Returns the payload in bytes of each segment of a frame that must be cut; None for any other frame.
        Learns the MSS from SYNs. `found`: the part after IP."""
        if found is None or found.protocol != TCP or found.is_fragment:
            return None
        if len(frame) < found.at + TCP_FLAGS_END:
            return None
        header = (frame[found.at + 12] >> 4) * 4
        if frame[found.at + 13] & SYN:
            self._learn(frame, place, found, header)
            return None
        payload = tcp_payload(frame, place, found, frame_bytes)
        if header < 20 or payload is None or payload <= _MIN_SEGMENT_BYTES:
            return None
        usual = MTU_BYTES - (found.at - _ip_at(place)) - header
        if _is_jumbogram(frame, place):
            usual += _JUMBO_HEADER_BYTES
        if payload <= min(usual, self._least_mss - (header - 20)):
            return None
        # A host announces what its own link carries, too (RFC 6691).
        ends = (self._mss.get(_flow(frame, place, found, is_reversed)) for is_reversed in (False, True))
        known = [mss - (header - 20) for mss in ends if mss is not None]
        segment = max(min(known, default=usual), _MIN_SEGMENT_BYTES)
        return segment if payload > segment else None

    def _learn(self, frame: bytes, place: tuple[int, int], found: Transport, header: int) -> None:
        at, end = found.at + 20, min(found.at + header, len(frame))
        while at + 1 < end and frame[at] != _END_OPTION:
            if frame[at] == _NO_OPERATION:
                at += 1
                continue
            if frame[at] == _MSS_OPTION and at + 4 <= end:
                if len(self._mss) >= _KNOWN_FLOWS:
                    self._mss.clear()
                mss = int.from_bytes(frame[at + 2 : at + 4], "big")
                self._mss[_flow(frame, place, found, is_reversed=True)] = mss
                self._least_mss = min(self._least_mss, mss)
                return
            at += max(2, frame[at + 1])


def _flow(frame: bytes, place: tuple[int, int], found: Transport, is_reversed: bool = False) -> bytes:
    at, length = place
    one = frame[at : at + length], frame[found.at : found.at + 2]
    other = frame[at + length : at + 2 * length], frame[found.at + 2 : found.at + 4]
    first, second = (other, one) if is_reversed else (one, other)
    return first[0] + second[0] + first[1] + second[1]


def _ip_at(place: tuple[int, int]) -> int:
    return place[0] - (12 if place[1] == 4 else 8)


def _is_jumbogram(frame: bytes, place: tuple[int, int]) -> bool:
    """Returns whether IPv6's first extension header is hop-by-hop with only the jumbo option."""
    ip = _ip_at(place)
    return place[1] == 16 and frame[ip + 6] == 0 and frame[ip + 41 : ip + 44] == b"\x00\xc2\x04"


def cut(
    frame: bytes, place: tuple[int, int], frame_bytes: int, segment_bytes: int
) -> Iterator[tuple[int, bytes]]:
    """Yields the segments of a frame that `payload_of_segment` cuts: their lengths, and their captured bytes.
    Bytes that were not captured, also of TCP's options, count as zeros."""
    ip = _ip_at(place)
    if _is_jumbogram(frame, place):
        after, behind = frame[ip + 40 : ip + 41], frame[ip + 40 + _JUMBO_HEADER_BYTES :]
        frame = frame[: ip + 6] + after + frame[ip + 7 : ip + 40] + behind
        frame_bytes -= _JUMBO_HEADER_BYTES
    found = transport(frame, place)
    assert found is not None, "`payload_of_segment` has found it"
    header = found.at + (frame[found.at + 12] >> 4) * 4
    end = header + (tcp_payload(frame, place, found, frame_bytes) or 0)
    frame = frame[:end].ljust(header, b"\0")
    sequence = int.from_bytes(frame[found.at + 4 : found.at + 8], "big")
    identification = int.from_bytes(frame[ip + 4 : ip + 6], "big")
    flags = frame[found.at + 13]
    for number, offset in enumerate(range(0, end - header, segment_bytes)):
        payload = min(segment_bytes, end - header - offset)
        is_last = header + offset + payload == end
        part = bytearray(frame[:header] + frame[header + offset : header + offset + payload])
        if place[1] == 4:
            part[ip + 2 : ip + 4] = (header - ip + payload).to_bytes(2, "big")
            part[ip + 4 : ip + 6] = (identification + number & 0xFFFF).to_bytes(2, "big")
            part[ip + 10 : ip + 12] = b"\0\0"
            part[ip + 10 : ip + 12] = internet_checksum(bytes(part[ip : found.at])).to_bytes(2, "big")
        else:
            part[ip + 4 : ip + 6] = (header - ip - 40 + payload).to_bytes(2, "big")
        part[found.at + 4 : found.at + 8] = (sequence + offset & 0xFFFF_FFFF).to_bytes(4, "big")
        part[found.at + 13] = flags & ~(0 if is_last else FIN | PSH) & ~(CWR if number else 0)
        part[found.at + 16 : found.at + 18] = b"\0\0"
        pseudo = bytes(frame[place[0] : place[0] + 2 * place[1]])
        pseudo += struct.pack("!II", header - found.at + payload, TCP)
        checksum = internet_checksum(pseudo + bytes(part[found.at :]))
        part[found.at + 16 : found.at + 18] = checksum.to_bytes(2, "big")
        yield header + payload, bytes(part)
