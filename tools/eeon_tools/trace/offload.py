"""Segmentation offload: a host captures TCP segments of up to 64 KB, and more (BIG TCP), that no link has
carried: before its NIC has segmented them (TSO), or after they were merged on receipt (GRO, LRO).

They are cut at the MSS: at the smaller one of both ends' SYNs, as far as the trace has them, and else at that
of an MTU of 1,500 bytes. As in Linux (`tcp_gso_segment`), every segment has the headers of the whole, with
its own sequence number, CWR only in the first, FIN and PSH only in the last; only the whole has the option
that makes an IPv6 packet a jumbogram (RFC 2675).
"""

import struct
from collections.abc import Iterator

from eeon_tools.trace.frames import CWR, FIN, MTU_BYTES, PSH, SYN, internet_checksum
from eeon_tools.trace.layers import JUMBO_HEADER_BYTES, TCP, TCP_FLAGS_END, IpFrame, Transport

_KNOWN_FLOWS = 65_536
_MIN_SEGMENT_BYTES = 64
"""A smaller MSS counts as damage: one frame would become thousands."""
_MSS_OPTION, _END_OPTION, _NO_OPERATION = 2, 0, 1


class Segmenter:
    """Cuts the frames of one trace, which must come in the order of the trace."""

    def __init__(self) -> None:
        self._mss: dict[bytes, int] = {}
        self._least_mss = MTU_BYTES

    def payload_of_segment(self, ip: IpFrame) -> int | None:
        """Returns the payload in bytes of each segment of a frame that must be cut; None for any other frame.
        Learns the MSS from SYNs."""
        found, frame = ip.transport, ip.captured
        if found is None or found.protocol != TCP or found.is_fragment:
            return None
        if len(frame) < found.at + TCP_FLAGS_END:
            return None
        header = (frame[found.at + 12] >> 4) * 4
        if frame[found.at + 13] & SYN:
            self._learn(ip, found, header)
            return None
        payload = ip.tcp_payload
        if header < 20 or payload is None or payload <= _MIN_SEGMENT_BYTES:
            return None
        usual = MTU_BYTES - (found.at - ip.ip_at) - header
        if ip.is_jumbogram:
            usual += JUMBO_HEADER_BYTES
        if payload <= min(usual, self._least_mss - (header - 20)):
            return None
        # A host announces what its own link carries, too (RFC 6691).
        ends = (self._mss.get(_flow(ip, found, is_reversed)) for is_reversed in (False, True))
        known = [mss - (header - 20) for mss in ends if mss is not None]
        segment = max(min(known, default=usual), _MIN_SEGMENT_BYTES)
        return segment if payload > segment else None

    def _learn(self, ip: IpFrame, found: Transport, header: int) -> None:
        frame = ip.captured
        at, end = found.at + 20, min(found.at + header, len(frame))
        while at + 1 < end and frame[at] != _END_OPTION:
            if frame[at] == _NO_OPERATION:
                at += 1
                continue
            if frame[at] == _MSS_OPTION and at + 4 <= end:
                if len(self._mss) >= _KNOWN_FLOWS:
                    self._mss.clear()
                mss = int.from_bytes(frame[at + 2 : at + 4], "big")
                self._mss[_flow(ip, found, is_reversed=True)] = mss
                self._least_mss = min(self._least_mss, mss)
                return
            at += max(2, frame[at + 1])


def _flow(ip: IpFrame, found: Transport, is_reversed: bool) -> bytes:
    ports = ip.captured[found.at : found.at + 4]
    if is_reversed:
        return ip.destination + ip.source + ports[2:] + ports[:2]
    return ip.source + ip.destination + ports


def without_jumbo_option(whole: IpFrame) -> IpFrame:
    """Returns the frame as its segments have it, without the option that makes it a jumbogram."""
    if not whole.is_jumbogram:
        return whole
    frame, ip = whole.captured, whole.ip_at
    after, behind = frame[ip + 40 : ip + 41], frame[ip + 40 + JUMBO_HEADER_BYTES :]
    frame = frame[: ip + 6] + after + frame[ip + 7 : ip + 40] + behind
    return IpFrame(frame, whole.frame_bytes - JUMBO_HEADER_BYTES, ip, 6)


def cut(whole: IpFrame, segment_bytes: int) -> Iterator[IpFrame]:
    """Yields the segments of a frame that `payload_of_segment` cuts. Bytes that were not captured, also of
    TCP's options, count as zeros."""
    whole = without_jumbo_option(whole)
    found, ip = whole.transport, whole.ip_at
    assert found is not None, "`payload_of_segment` has found it"
    header = found.at + (whole.captured[found.at + 12] >> 4) * 4
    end = header + (whole.tcp_payload or 0)
    frame = whole.captured[:end].ljust(header, b"\0")
    sequence = int.from_bytes(frame[found.at + 4 : found.at + 8], "big")
    identification = int.from_bytes(frame[ip + 4 : ip + 6], "big")
    flags = frame[found.at + 13]
    for number, offset in enumerate(range(0, end - header, segment_bytes)):
        payload = min(segment_bytes, end - header - offset)
        is_last = header + offset + payload == end
        part = bytearray(frame[:header] + frame[header + offset : header + offset + payload])
        if whole.version == 4:
            part[ip + 2 : ip + 4] = (header - ip + payload).to_bytes(2, "big")
            part[ip + 4 : ip + 6] = (identification + number & 0xFFFF).to_bytes(2, "big")
            part[ip + 10 : ip + 12] = b"\0\0"
            part[ip + 10 : ip + 12] = internet_checksum(bytes(part[ip : found.at])).to_bytes(2, "big")
        else:
            part[ip + 4 : ip + 6] = (header - ip - 40 + payload).to_bytes(2, "big")
        part[found.at + 4 : found.at + 8] = (sequence + offset & 0xFFFF_FFFF).to_bytes(4, "big")
        part[found.at + 13] = flags & ~(0 if is_last else FIN | PSH) & ~(CWR if number else 0)
        part[found.at + 16 : found.at + 18] = b"\0\0"
        pseudo = whole.source + whole.destination + struct.pack("!II", header - found.at + payload, TCP)
        checksum = internet_checksum(pseudo + bytes(part[found.at :]))
        part[found.at + 16 : found.at + 18] = checksum.to_bytes(2, "big")
        yield IpFrame(bytes(part), header + payload, ip, whole.version)
