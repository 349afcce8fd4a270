"""Packets of pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng) files.

A file is read to its last byte, or refused with the packet's number and the offset. Every length is checked
before that much is read, so a pipe is read in the same way as a file.
"""

from __future__ import annotations

import gzip
import io
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from eeon_tools.errors import BrokenOffError, TraceError
from eeon_tools.trace import links

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_FRAME_BYTES = 8 * 65_535 + 18
"""Longest frame accepted: the most that Linux hands to a NIC at once (GSO_MAX_SIZE), with Ethernet and a VLAN
tag."""
BUFFER_BYTES = 1 << 18
PCAP_MAGICS = {
    bytes.fromhex("d4c3b2a1"): ("<", 1000),
    bytes.fromhex("a1b2c3d4"): (">", 1000),
    bytes.fromhex("4d3cb2a1"): ("<", 1),
    bytes.fromhex("a1b23c4d"): (">", 1),
}
"""Byte order, and nanoseconds in one unit of the fraction of a timestamp."""
PCAPNG_MAGIC = bytes.fromhex("0a0d0d0a")
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_BYTE_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_MAX_BLOCK_BYTES = 1 << 20
_NS_PER_S = 1_000_000_000
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_READ_BLOCKS = {_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET}
_MAX_INTERFACES = 65_536
_TSRESOL, _FCSLEN, _TSOFFSET = 9, 13, 14
_EPB_FLAGS = 2
_LINK_TYPE_BITS = 0x03FF_FFFF
_FCS_IS_SAID = 0x0400_0000


class Packet(NamedTuple):
    """One captured frame. `frame_bytes`: the original length of the Ethernet frame without its frame check
    sequence. `captured`: the part that was kept; missing bytes count as zeros. `seen_at`: the place where a
    capture of several interfaces saw it; None in a capture of one interface."""

    time_ns: int
    frame_bytes: int
    captured: bytes
    seen_at: bytes | None = None


class _Unpacked(io.RawIOBase):
    """Gives what a compressed file has, so that a buffer loses nothing before the end of a truncated one."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        return self._file.readinto1(buffer)


class ExactStream:
    """The bytes of a capture, decompressed. It returns exactly the requested number of bytes, or raises.

    `packets`: the number read so far, for the position in messages.
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self.offset = 0
        self.packets = 0
        self._stream = file
        magic = cast(io.BufferedReader, file).peek(4)[:4]
        if magic[:2] == _GZIP_MAGIC:
            self._stream = io.BufferedReader(_Unpacked(gzip.GzipFile(fileobj=file)), BUFFER_BYTES)
        elif magic == _ZSTD_MAGIC:
            self._stream = io.BufferedReader(_Unpacked(zstd.ZstdFile(file)), BUFFER_BYTES)

    def read(self, count: int) -> bytes:
        """Returns exactly `count` bytes. Raises BrokenOffError if there are fewer."""
        data = self.read_or_end(count)
        if len(data) < count:
            raise self._broken_off(count, 0)
        return data

    def read_or_end(self, count: int) -> bytes:
        """Returns the same as `read`, but no bytes at the end of the stream, where a record could begin."""
        if count > _MAX_BLOCK_BYTES:
            raise self.error(f"a block of {count} bytes; the limit is {_MAX_BLOCK_BYTES}")
        try:
            data = self._stream.read(count)
        except EOFError as error:
            raise BrokenOffError(self.path, "", "the compressed file is truncated") from error
        except (gzip.BadGzipFile, zlib.error, zstd.ZstdError) as error:
            raise TraceError(self.path, "", f"cannot be decompressed: {error}") from error
        if 0 < len(data) < count:
            raise self._broken_off(count, len(data))
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


def read_pcap(stream: ExactStream, magic: bytes) -> Iterator[Packet]:
    """Yields the packets of a pcap file, whose first four bytes have been read."""
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
        time_ns = seconds * _NS_PER_S + fraction * unit_ns
        yield _as_packet(stream, time_ns, link_type, frame_bytes, fcs_bytes, stream.read(captured_bytes))
        stream.packets += 1


class _Interface(NamedTuple):
    link_type: int
    units_per_s: int
    offset_ns: int
    fcs_bytes: int


def read_pcapng(stream: ExactStream, magic: bytes) -> Iterator[Packet]:
    """Yields the packets of a pcapng file, whose first four bytes have been read. Each section has its own
    byte order and its own interfaces."""
    order = "<"
    interfaces: list[_Interface] = []
    start, kind_bytes = 0, magic
    while kind_bytes:
        length_bytes, head = stream.read(4), b""
        if kind_bytes == PCAPNG_MAGIC:
            head = stream.read(4)
            if head not in _BYTE_ORDERS:
                raise stream.error(f"malformed block: a section's byte order is {head.hex()}", start)
            order, interfaces = _BYTE_ORDERS[head], []
        kind, length = struct.unpack(order + "II", kind_bytes + length_bytes)
        left = length - 12 - len(head)
        if left < 0 or length % 4:
            raise stream.error(f"malformed block: its length is {length}", start)
        if kind not in _READ_BLOCKS:
            stream.skip(left)
            left = 0
        rest = stream.read(left + 4)
        body, (second,) = head + rest[:-4], struct.unpack(order + "I", rest[-4:])
        if second != length:
            raise stream.error(f"malformed block: its two lengths differ, {length} and {second}", start)
        try:
            if kind == _SECTION:
                if (major := struct.unpack_from(order + "IHHq", body)[1]) != 1:
                    raise stream.error(f"a section of version {major}; only version 1 is supported", start)
            elif kind == _INTERFACE:
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
) -> Packet:
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
    link_type, units_per_s, offset_ns, fcs_bytes = interfaces[index]
    _check_link(stream, link_type, start)
    time_ns = offset_ns + (high << 32 | low) * _NS_PER_S // units_per_s
    if time_ns < 0:
        raise ValueError(f"its time is {-time_ns} ns before 1970")
    for code, value in _options(order, body[20 + padded :]):
        if code == _EPB_FLAGS:
            # Bits 5 to 8: its length, 0 if unknown.
            fcs_bytes = struct.unpack(order + "I", value)[0] >> 5 & 0xF or fcs_bytes
    seen_at = index.to_bytes(4, "big") if len(interfaces) > 1 else None
    captured = body[20 : 20 + captured_bytes]
    return _as_packet(stream, time_ns, link_type, frame_bytes, fcs_bytes, captured, seen_at)


def _as_packet(
    stream: ExactStream,
    time_ns: int,
    link_type: int,
    frame_bytes: int,
    fcs_bytes: int,
    captured: bytes,
    seen_at: bytes | None = None,
) -> Packet:
    """Returns a record as an Ethernet frame without its frame check sequence, of `fcs_bytes` at its end."""
    frame_bytes -= fcs_bytes
    shortest = links.HEADER_BYTES[link_type]
    if not shortest <= frame_bytes <= MAX_FRAME_BYTES:
        raise stream.error(
            f"frame of {frame_bytes} bytes; frames of {links.NAMES[link_type]} have {shortest} to "
            f"{MAX_FRAME_BYTES}"
        )
    captured = captured[:frame_bytes]
    within = links.seen_at(link_type, captured)
    if within is not None:
        seen_at = (seen_at or b"") + within
    return Packet(time_ns, *links.as_ethernet(link_type, frame_bytes, captured), seen_at)
