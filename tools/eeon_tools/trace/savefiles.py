"""Records of pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng) files.

A file is read to its last byte, or refused with the packet's number and the offset. Every length is checked
before that much is read, so a pipe is read in the same way as a file.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from eeon_tools.errors import BrokenOffError, TraceError
from eeon_tools.trace import links

PCAP_MAGICS = {
    bytes.fromhex("d4c3b2a1"): ("<", 1000),
    bytes.fromhex("a1b2c3d4"): (">", 1000),
    bytes.fromhex("4d3cb2a1"): ("<", 1),
    bytes.fromhex("a1b23c4d"): (">", 1),
}
"""Byte order, and nanoseconds in one unit of the fraction of a timestamp."""
PCAPNG_MAGIC = bytes.fromhex("0a0d0d0a")
_MAX_BLOCK_BYTES = 1 << 20
_NS_PER_S = 1_000_000_000
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_READ_BLOCKS = {_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET}
_MAX_INTERFACES = 65_536
_TSRESOL, _FCSLEN, _TSOFFSET = 9, 13, 14
_EPB_FLAGS = 2
_LINK_TYPE_BITS = 0x03FF_FFFF
_FCS_IS_SAID = 0x0400_0000


class Record(NamedTuple):
    """One packet as in the file. `fcs_bytes`: the length of the frame check sequence at its end;
    `frame_bytes` includes it, and `captured` may be shorter. `interface`: its interface's number in a file of
    several."""

    time_ns: int
    link_type: int
    fcs_bytes: int
    frame_bytes: int
    captured: bytes
    interface: int | None = None


class Stream(Protocol):
    """A source of bytes."""

    def read(self, count: int, /) -> bytes: ...


class ExactStream:
    """A stream that returns exactly the requested number of bytes, or raises.

    `packets`: the number read so far, for the position in messages.
    """

    def __init__(self, path: Path, stream: Stream) -> None:
        self.path = path
        self._stream = stream
        self.offset = 0
        self.packets = 0

    def read(self, count: int) -> bytes:
        """Returns exactly `count` bytes. Raises BrokenOffError if there are fewer."""
        data = self.read_or_end(count)
        if not data and count:
            raise self._broken_off(count, 0)
        return data

    def read_or_end(self, count: int) -> bytes:
        """Returns the same as `read`, but no bytes at the end of the stream, where a record could begin."""
        if count > _MAX_BLOCK_BYTES:
            raise self.error(f"a block of {count} bytes; the limit is {_MAX_BLOCK_BYTES}")
        data = self._stream.read(count)
        while 0 < len(data) < count:
            more = self._stream.read(count - len(data))
            if not more:
                raise self._broken_off(count, len(data))
            data += more
        self.offset += len(data)
        return data

    def skip(self, count: int) -> None:
        """Reads and discards `count` bytes."""
        while count:
            piece = min(count, 1 << 16)
            self.read(piece)
            count -= piece

    def error(self, problem: str, offset: int | None = None) -> TraceError:
        """Returns an error about the next packet."""
        return TraceError(self.path, self._place(offset), problem)

    def _broken_off(self, due: int, left: int) -> BrokenOffError:
        return BrokenOffError(
            self.path, self._place(), f"the file is truncated: {due} bytes are expected here, {left} are left"
        )

    def _place(self, offset: int | None = None) -> str:
        return f"packet {self.packets + 1}, offset {self.offset if offset is None else offset}"


def read_pcap(stream: ExactStream, magic: bytes) -> Iterator[Record]:
    """Yields the records of a pcap file, whose first four bytes have been read."""
    order, unit_ns = PCAP_MAGICS[magic]
    header = stream.read(20)
    link = struct.unpack(order + "HHIIII", header)[5]
    first = magic + header[:12]
    # The length of the frame check sequence, in words of 16 bits.
    fcs_bytes = (link >> 28) * 2 if link & _FCS_IS_SAID else 0
    link_type = links.ALIASES.get(link & _LINK_TYPE_BITS, link & _LINK_TYPE_BITS)
    _check_link(stream, link_type, stream.offset)
    record = struct.Struct(order + "IIII")
    while True:
        start = stream.offset
        head = stream.read_or_end(16)
        if not head:
            return
        if head == first:
            raise stream.error("another file begins here; `mergecap -a -w OUT FILES` joins captures", start)
        seconds, fraction, captured_bytes, frame_bytes = record.unpack(head)
        if fraction * unit_ns >= _NS_PER_S:
            unit = "nanoseconds" if unit_ns == 1 else "microseconds"
            raise stream.error(
                f"the fraction of a second is {fraction} {unit}; the file's magic number says {unit}", start
            )
        if captured_bytes > frame_bytes:
            raise stream.error(f"{captured_bytes} bytes captured of a frame of {frame_bytes}", start)
        captured = stream.read(captured_bytes)
        yield Record(seconds * _NS_PER_S + fraction * unit_ns, link_type, fcs_bytes, frame_bytes, captured)
        stream.packets += 1


class _Interface(NamedTuple):
    link_type: int
    units_per_s: int
    offset_ns: int
    fcs_bytes: int

    def time_ns(self, high: int, low: int) -> int:
        return self.offset_ns + (high << 32 | low) * _NS_PER_S // self.units_per_s


def read_pcapng(stream: ExactStream, magic: bytes) -> Iterator[Record]:
    """Yields the records of a pcapng file, whose first four bytes have been read. Each section has its own
    byte order and its own interfaces."""
    order = "<"
    interfaces: list[_Interface] = []
    start, kind_bytes = 0, magic
    while kind_bytes:
        if kind_bytes == PCAPNG_MAGIC:
            order, body = _section(stream, start)
            interfaces = []
            kind = _SECTION
        else:
            kind = struct.unpack(order + "I", kind_bytes)[0]
            body = _body(stream, order, kind, start)
        try:
            if kind == _INTERFACE:
                if len(interfaces) == _MAX_INTERFACES:
                    raise stream.error(f"more than {_MAX_INTERFACES} interfaces in one section", start)
                interfaces.append(_interface(order, body))
            elif kind == _SIMPLE_PACKET:
                raise stream.error(
                    "a simple packet block has no time; enhanced packet blocks are needed", start
                )
            elif kind in (_PACKET, _OLD_PACKET):
                yield _packet(stream, order, kind, body, interfaces, start)
                stream.packets += 1
        except (struct.error, ValueError) as error:
            raise stream.error(f"malformed block: {error}", start) from error
        start = stream.offset
        kind_bytes = stream.read_or_end(4)


def _section(stream: ExactStream, start: int) -> tuple[str, bytes]:
    """Returns the byte order of a section, and the rest of its block's body."""
    head = stream.read(8)
    order = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}.get(head[4:])
    if order is None:
        raise stream.error(f"malformed block: a section's byte order is {head[4:].hex()}", start)
    (length,) = struct.unpack(order + "I", head[:4])
    body = _rest(stream, order, length, 12, start)
    if len(body) < 12:
        raise stream.error(f"malformed block: a section header of {length} bytes", start)
    major = struct.unpack_from(order + "H", body)[0]
    if major != 1:
        raise stream.error(f"a section of version {major}; only version 1 is supported", start)
    return order, body


def _body(stream: ExactStream, order: str, kind: int, start: int) -> bytes:
    """Returns the body of a block, between its two lengths; no bytes for blocks that have no packets."""
    (length,) = struct.unpack(order + "I", stream.read(4))
    if kind in _READ_BLOCKS:
        return _rest(stream, order, length, 8, start)
    if length < 12 or length % 4:
        raise stream.error(f"malformed block: its length is {length}", start)
    stream.skip(length - 12)
    _check_second(stream, order, length, stream.read(4), start)
    return b""


def _rest(stream: ExactStream, order: str, length: int, read: int, start: int) -> bytes:
    if length < read + 4 or length % 4:
        raise stream.error(f"malformed block: its length is {length}", start)
    data = stream.read(length - read)
    _check_second(stream, order, length, data[-4:], start)
    return data[:-4]


def _check_second(stream: ExactStream, order: str, length: int, data: bytes, start: int) -> None:
    (second,) = struct.unpack(order + "I", data)
    if second != length:
        raise stream.error(f"malformed block: its two lengths differ, {length} and {second}", start)


def _options(order: str, data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        code, length = struct.unpack_from(order + "HH", data, at)
        if code == 0:
            return
        if at + 4 + length > len(data):
            raise ValueError(f"option {code} of {length} bytes ends beyond its block")
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4


def _interface(order: str, body: bytes) -> _Interface:
    link_type = struct.unpack_from(order + "HHI", body)[0]
    units_per_s, offset_ns, fcs_bytes = 10**6, 0, 0
    for code, value in _options(order, body[8:]):
        if code == _TSRESOL:
            (resolution,) = struct.unpack("B", value)
            units_per_s = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
        elif code == _TSOFFSET:
            offset_ns = struct.unpack(order + "q", value)[0] * _NS_PER_S
        elif code == _FCSLEN:
            (fcs,) = struct.unpack("B", value)
            # The draft defines bits, but its example, which writers follow, is 4 for four bytes.
            fcs_bytes = fcs // 8 if fcs >= 8 else fcs
    return _Interface(links.ALIASES.get(link_type, link_type), units_per_s, offset_ns, fcs_bytes)


def _check_link(stream: ExactStream, link_type: int, start: int) -> None:
    if link_type not in links.NAMES:
        known = ", ".join(f"{name} ({number})" for number, name in links.NAMES.items())
        raise stream.error(
            f"link type {link_type}; those that are read are {known}. Capture at an Ethernet interface, or "
            "with `tcpdump -i any`",
            start,
        )


def _packet(
    stream: ExactStream, order: str, kind: int, body: bytes, interfaces: list[_Interface], start: int
) -> Record:
    if kind == _PACKET:
        index, high, low, captured_bytes, frame_bytes = struct.unpack_from(order + "IIIII", body)
    else:
        index, _, high, low, captured_bytes, frame_bytes = struct.unpack_from(order + "HHIIII", body)
    if index >= len(interfaces):
        raise ValueError(f"invalid interface id {index}: its section describes {len(interfaces)}")
    padded = (captured_bytes + 3) // 4 * 4
    if captured_bytes > frame_bytes or 20 + padded > len(body):
        raise stream.error(
            f"{captured_bytes} bytes captured of a frame of {frame_bytes}, in a block for {len(body) - 20}",
            start,
        )
    interface = interfaces[index]
    _check_link(stream, interface.link_type, start)
    time_ns = interface.time_ns(high, low)
    if time_ns < 0:
        raise ValueError(f"its time is {-time_ns} ns before 1970")
    fcs_bytes = interface.fcs_bytes
    for code, value in _options(order, body[20 + padded :]):
        if code == _EPB_FLAGS:
            # Bits 5 to 8: its length, 0 if unknown.
            fcs_bytes = struct.unpack(order + "I", value)[0] >> 5 & 0xF or fcs_bytes
    captured = body[20 : 20 + captured_bytes]
    place = index if len(interfaces) > 1 else None
    return Record(time_ns, interface.link_type, fcs_bytes, frame_bytes, captured, place)
