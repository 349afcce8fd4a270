"""Captures: pcap and pcapng files with nanosecond times, one packet at a time; plain, or compressed with gzip
or zstd; files or pipes.

A capture is either read to its last byte or refused, with the packet's number and the offset in the file
(after unpacking). Files are written with scapy. They are read without it, for scapy takes a file that breaks
off for one that ends, and the interfaces of one pcapng section for those of the next.

Packets are (time_ns, frame_bytes, captured): `frame_bytes` is the length that the Ethernet frame had, without
its frame check sequence; `captured` the part of it that was kept.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import shutil
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, TypeAlias, cast

from scapy.utils import RawPcapNgWriter, RawPcapWriter

from eeon_tools.errors import BrokenOffError, TraceError
from eeon_tools.trace import links
from eeon_tools.trace.savefiles import (
    PCAP_MAGICS,
    PCAPNG_MAGIC,
    ExactStream,
    Record,
    Stream,
    read_pcap,
    read_pcapng,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_FRAME_BYTES = 8 * 65_535 + 18
"""Longest frame that is believed: what Linux hands to a NIC at once (GSO_MAX_SIZE), with Ethernet and a VLAN
tag."""
STANDARD_INPUT = Path("-")
_SNAP_BYTES = 65_535
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_NS_PER_S = 1_000_000_000
MAX_TIME_NS = 2**32 * _NS_PER_S - 1
"""Latest time of a packet that is written: a pcap's seconds have 32 bits."""
_BUFFER_BYTES = 1 << 18


OnBreak: TypeAlias = Callable[[BrokenOffError], None]
"""What hears that a capture broke off, where that is to be no error."""


class Packet(NamedTuple):
    """One captured frame. `captured` may be shorter than `frame_bytes`; what is missing counts as zeros."""

    time_ns: int
    frame_bytes: int
    captured: bytes


class CaptureWriter(Protocol):
    """What both file formats offer."""

    def write(self, time_ns: int, captured: bytes, frame_bytes: int) -> None:
        """Appends one packet. Times are nanoseconds since the start of the trace and must not go back."""

    def close(self) -> None:
        """Finish the file; without it the last packets may be missing."""


def open_writer(path: Path) -> CaptureWriter:
    """Returns a writer for `path`, whose suffix says which format: `.pcap` or `.pcapng`. An existing file is
    replaced."""
    check_suffix(path)
    return _PcapWriter(path) if path.suffix == ".pcap" else _PcapNgWriter(path)


def check_suffix(path: Path) -> None:
    """Raises TraceError unless the suffix names one of the two formats."""
    if path.suffix not in (".pcap", ".pcapng"):
        raise TraceError(
            path, "file name", f"suffix {path.suffix or '(none)'!r}: a trace is a .pcap or a .pcapng"
        )


class _PcapWriter:
    def __init__(self, path: Path) -> None:
        self._writer = RawPcapWriter(
            str(path), linktype=links.ETHERNET, nano=True, endianness="<", snaplen=_SNAP_BYTES,
            bufsz=_BUFFER_BYTES,
        )  # fmt: skip
        self._writer.write_header(None)

    def write(self, time_ns: int, captured: bytes, frame_bytes: int) -> None:
        seconds, nanoseconds = divmod(time_ns, _NS_PER_S)
        self._writer.write_packet(captured, sec=seconds, usec=nanoseconds, wirelen=frame_bytes)

    def close(self) -> None:
        self._writer.close()


class _NanosecondPcapNgWriter(RawPcapNgWriter):
    """scapy's writer says microseconds; this one says nanoseconds in the interface block (if_tsresol = 9)."""

    def __init__(self, filename: str) -> None:
        super().__init__(filename)
        # Timestamps are handed over in units of the interface's resolution.
        self.tsresol = 1

    def _write_block_idb(self, linktype: int, ifname: bytes | None = None) -> None:
        body = struct.pack("<HHI", linktype, 0, _SNAP_BYTES)
        if_tsresol = struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0)
        self.f.write(self.build_block(struct.pack("<I", 1), body, options=if_tsresol))


class _PcapNgWriter:
    def __init__(self, path: Path) -> None:
        self._writer = _NanosecondPcapNgWriter(str(path))
        self._writer.linktype = links.ETHERNET
        self._writer.write_header(None)

    def write(self, time_ns: int, captured: bytes, frame_bytes: int) -> None:
        self._writer.write_packet(captured, sec=time_ns, wirelen=frame_bytes)

    def close(self) -> None:
        self._writer.close()


def read_packets(path: Path, on_break: OnBreak | None = None) -> Iterator[Packet]:
    """Yields every packet of a pcap or pcapng file, in file order, one in memory at a time.

    `on_break`: called where the file breaks off, which then ends the packets without an error. Times are
    nanoseconds since the epoch that the file uses. Raises TraceError, naming the packet and the offset, when
    the file is not a capture, breaks off, holds a link type that is not read, or says what cannot be.
    """
    try:
        yield from _all_packets(path)
    except BrokenOffError as error:
        if on_break is None:
            raise
        on_break(error)


def _all_packets(path: Path) -> Iterator[Packet]:
    try:
        raw = path.open("rb", buffering=_BUFFER_BYTES)
    except OSError as error:
        raise TraceError(path, "", f"cannot be read: {error.strerror}") from error
    with raw:
        stream = ExactStream(path, _unpacked(path, raw))
        magic = stream.read_or_end(4)
        if magic in PCAP_MAGICS:
            records = read_pcap(stream, magic)
        elif magic == PCAPNG_MAGIC:
            records = read_pcapng(stream, magic)
        elif not magic:
            raise TraceError(path, "", "the file is empty; a trace starts with a pcap or pcapng header")
        else:
            raise TraceError(path, "offset 0", f"magic {magic.hex()} is neither pcap nor pcapng")
        for record in records:
            yield _packet(stream, record)


def _packet(stream: ExactStream, record: Record) -> Packet:
    """Returns a record as an Ethernet frame without its frame check sequence."""
    time_ns, link_type, fcs_bytes, frame_bytes, captured = record
    if link_type == links.ETHERNET and not fcs_bytes and 14 <= frame_bytes <= MAX_FRAME_BYTES:
        return Packet(time_ns, frame_bytes, captured)
    frame_bytes -= fcs_bytes
    shortest = links.HEADER_BYTES[link_type]
    if not shortest <= frame_bytes <= MAX_FRAME_BYTES:
        raise stream.error(
            f"frame of {frame_bytes} bytes; frames of {links.NAMES[link_type]} have {shortest} to "
            f"{MAX_FRAME_BYTES}"
        )
    if len(captured) > frame_bytes:
        captured = captured[:frame_bytes]
    return Packet(time_ns, *links.as_ethernet(link_type, frame_bytes, captured))


def _unpacked(path: Path, raw: BinaryIO) -> Stream:
    """Returns the bytes of a capture, whether its file is compressed or not."""
    magic = cast(io.BufferedReader, raw).peek(4)[:4]
    if magic[:2] == _GZIP_MAGIC:
        return _Compressed(path, gzip.GzipFile(fileobj=raw))
    if magic == _ZSTD_MAGIC:
        return _Compressed(path, zstd.ZstdFile(raw))
    return raw


class _Compressed:
    """A stream whose compression may be damaged."""

    def __init__(self, path: Path, stream: Stream) -> None:
        self._path = path
        self._stream = io.BufferedReader(cast(io.RawIOBase, stream), _BUFFER_BYTES)

    def read(self, count: int) -> bytes:
        try:
            return self._stream.read(count)
        except EOFError as error:
            raise BrokenOffError(self._path, "", "the compressed file breaks off") from error
        except (OSError, zlib.error, zstd.ZstdError) as error:
            raise TraceError(self._path, "", f"cannot be unpacked: {error}") from error


@contextlib.contextmanager
def seekable(path: Path) -> Iterator[Path]:
    """A file with what `path` holds that can be read more than once: itself, or a copy of what comes out of
    a pipe (`-` is standard input)."""
    if path.is_file():
        yield path
        return
    is_standard_input = path == STANDARD_INPUT
    with tempfile.TemporaryDirectory(prefix="eeon-") as folder:
        copy = Path(folder) / ("stdin" if is_standard_input else path.name)
        with copy.open("wb") as target:
            if is_standard_input:
                shutil.copyfileobj(sys.stdin.buffer, target, _BUFFER_BYTES)
            else:
                with path.open("rb") as source:
                    shutil.copyfileobj(source, target, _BUFFER_BYTES)
        yield copy
