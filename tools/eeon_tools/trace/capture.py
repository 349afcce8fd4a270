"""Captures: pcap and pcapng files with nanosecond times, read and written with scapy, one packet at a time.

scapy is lenient: a file that breaks off looks to it like one that ends. Here a capture is either read to its
last byte or refused, with the packet's number and the offset in the file. For that the file is handed to
scapy through `_ExactFile`, which knows when bytes that were asked for are not there, and scapy's own warnings
become errors.

Only Ethernet is read (link type 1). Packets are (time_ns, frame_bytes, captured): `frame_bytes` is the length
that the frame had, `captured` the part of it that was kept.
"""

from __future__ import annotations

import contextlib
import logging
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol, TypeAlias

from scapy.error import Scapy_Exception
from scapy.utils import RawPcapNgReader, RawPcapNgWriter, RawPcapReader, RawPcapWriter

from eeon_tools.errors import BrokenOffError, TraceError

ETHERNET_LINKTYPE = 1
MAX_FRAME_BYTES = 65_535
"""Longest frame that is believed; the largest jumbo frames have about 9000 bytes."""
PCAP_MAGICS = {bytes.fromhex(magic) for magic in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1")}
PCAPNG_MAGIC = bytes.fromhex("0a0d0d0a")
_NS_PER_S = 1_000_000_000
MAX_TIME_NS = 2**32 * _NS_PER_S - 1
"""Latest time of a packet that is written: a pcap's seconds have 32 bits."""
_MAX_BLOCK_BYTES = 1 << 20
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
        """Append one packet. Times are nanoseconds since the start of the trace and must not go back."""

    def close(self) -> None:
        """Finish the file; without it the last packets may be missing."""


def open_writer(path: Path) -> CaptureWriter:
    """A writer for `path`, whose suffix says which format: `.pcap` or `.pcapng`. An existing file is
    replaced."""
    check_suffix(path)
    return _PcapWriter(path) if path.suffix == ".pcap" else _PcapNgWriter(path)


def check_suffix(path: Path) -> None:
    """Raise TraceError unless the suffix names one of the two formats."""
    if path.suffix not in (".pcap", ".pcapng"):
        raise TraceError(
            path, "file name", f"suffix {path.suffix or '(none)'!r}: a trace is a .pcap or a .pcapng"
        )


class _PcapWriter:
    def __init__(self, path: Path) -> None:
        self._writer = RawPcapWriter(
            str(path), linktype=ETHERNET_LINKTYPE, nano=True, endianness="<", snaplen=MAX_FRAME_BYTES,
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
        body = struct.pack("<HHI", linktype, 0, MAX_FRAME_BYTES)
        if_tsresol = struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0)
        self.f.write(self.build_block(struct.pack("<I", 1), body, options=if_tsresol))


class _PcapNgWriter:
    def __init__(self, path: Path) -> None:
        self._writer = _NanosecondPcapNgWriter(str(path))
        self._writer.linktype = ETHERNET_LINKTYPE
        self._writer.write_header(None)

    def write(self, time_ns: int, captured: bytes, frame_bytes: int) -> None:
        self._writer.write_packet(captured, sec=time_ns, wirelen=frame_bytes)

    def close(self) -> None:
        self._writer.close()


class _BlockReader(RawPcapNgReader):
    """Tells its file where each block begins; blocks that hold no packet come and go inside one call of
    scapy's."""

    def _read_block(self, size: int = MAX_FRAME_BYTES) -> tuple[bytes, RawPcapNgReader.PacketMetadata] | None:
        file: object = self.f
        assert isinstance(file, _ExactFile), "`_opened` gives no other"
        file.between_records = True
        return super()._read_block(size)


class _ExactFile:
    """A file that refuses to be read past its end in the middle of something, and to be read too far at once.

    Only between two records may a read find nothing, for that is how a reader finds the end.
    `between_records` says that the next read starts a record.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self.name = str(path)
        self.offset = 0
        self.packets = 0
        self.between_records = False

    def read(self, count: int) -> bytes:
        if count > self._size - self.offset:
            left = self._size - self.offset
            if left or not self.between_records:
                raise BrokenOffError(
                    self._path,
                    self.place(),
                    f"the file breaks off: {count} bytes are due here and {left} are left",
                )
            return b""
        self.between_records = False
        if count > _MAX_BLOCK_BYTES:
            raise TraceError(
                self._path, self.place(), f"a block of {count} bytes; at most {_MAX_BLOCK_BYTES} are believed"
            )
        data = self._file.read(count)
        self.offset += len(data)
        return data

    def place(self) -> str:
        return f"packet {self.packets + 1}, offset {self.offset}"

    def close(self) -> None:
        self._file.close()


class _FirstWarning(logging.Handler):
    """Remembers the first warning that scapy logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.message: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.message is None:
            self.message = record.getMessage()


@contextlib.contextmanager
def _scapy_warnings() -> Iterator[_FirstWarning]:
    logger = logging.getLogger("scapy.runtime")
    handler = _FirstWarning()
    before = logger.handlers[:], logger.filters[:], logger.propagate
    # Its filter lets a warning pass only now and then.
    logger.handlers, logger.filters, logger.propagate = [handler], [], False
    try:
        yield handler
    finally:
        logger.handlers, logger.filters, logger.propagate = before


def read_packets(path: Path, on_break: OnBreak | None = None) -> Iterator[Packet]:
    """Every packet of a pcap or pcapng file, in file order, one in memory at a time.

    `on_break`: called where the file breaks off, which then ends the packets and is no error. Times are
    nanoseconds since the epoch that the file uses. Raises TraceError, naming the packet and the offset, when
    the file is not a capture, breaks off, holds another link type than Ethernet, or says what cannot be.
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
    with raw, _scapy_warnings() as warnings:
        magic = raw.read(4)
        raw.seek(0)
        file = _ExactFile(path, raw)
        if magic in PCAP_MAGICS:
            yield from _read_pcap(path, file, warnings)
        elif magic == PCAPNG_MAGIC:
            yield from _read_pcapng(path, file, warnings)
        elif not magic:
            raise TraceError(path, "", "the file is empty; a trace starts with a pcap or pcapng header")
        else:
            raise TraceError(path, "offset 0", f"magic {magic.hex()} is neither pcap nor pcapng")


def _read_pcap(path: Path, file: _ExactFile, warnings: _FirstWarning) -> Iterator[Packet]:
    reader = _opened(path, RawPcapReader, file, warnings)
    _check_linktype(path, "file header", reader.linktype)
    to_ns = 1 if reader.nano else 1000
    start = file.offset
    for captured, meta in _packets(path, reader, file, warnings):
        if meta.usec * to_ns >= _NS_PER_S:
            unit = "nanoseconds" if reader.nano else "microseconds"
            raise TraceError(
                path,
                f"packet {file.packets + 1}, offset {start}",
                f"time has {meta.usec} {unit} beyond its second",
            )
        _check_lengths(path, file, start, meta.caplen, len(captured), meta.wirelen)
        yield Packet(meta.sec * _NS_PER_S + meta.usec * to_ns, meta.wirelen, captured)
        file.packets += 1
        start = file.offset


def _read_pcapng(path: Path, file: _ExactFile, warnings: _FirstWarning) -> Iterator[Packet]:
    reader = _opened(path, _BlockReader, file, warnings)
    start = file.offset
    for captured, meta in _packets(path, reader, file, warnings):
        place = f"packet {file.packets + 1}, offset {start}"
        _check_linktype(path, place, meta.linktype)
        if meta.tshigh is None:
            raise TraceError(
                path, place, "a simple packet block has no time; enhanced packet blocks are needed"
            )
        time_ns = (meta.tshigh << 32 | meta.tslow) * _NS_PER_S // meta.tsresol
        _check_lengths(path, file, start, len(captured), len(captured), meta.wirelen)
        yield Packet(time_ns, meta.wirelen, captured)
        file.packets += 1
        start = file.offset


def _opened(
    path: Path, reader_class: type[RawPcapReader], file: _ExactFile, warnings: _FirstWarning
) -> RawPcapReader:
    # The metaclass of scapy's readers guesses formats and swallows errors; the class itself does neither.
    reader = object.__new__(reader_class)
    try:
        # scapy asks for a whole IO, and reads and closes it.
        reader_class.__init__(reader, str(path), file, file.read(4))  # type: ignore[arg-type]
    except (Scapy_Exception, EOFError) as error:
        problem = warnings.message or str(error)
        raise TraceError(path, f"file header, offset {file.offset}", problem) from error
    return reader


def _packets(
    path: Path, reader: RawPcapReader, file: _ExactFile, warnings: _FirstWarning
) -> Iterator[tuple[bytes, Any]]:  # scapy says of both formats' metadata that they are pcap's
    packets = iter(reader)
    while True:
        problem: str | None = None
        file.between_records = True
        try:
            item = next(packets, None)
        except (Scapy_Exception, EOFError, struct.error, IndexError, ValueError, ArithmeticError) as error:
            item, problem = None, f"malformed block ({error})"
        problem = warnings.message or problem
        if problem is None and item is None and not file.between_records:
            problem = "malformed block: its two lengths differ"
        if problem is not None:
            raise TraceError(path, file.place(), problem)
        if item is None:
            return
        yield item


def _check_linktype(path: Path, place: str, linktype: int) -> None:
    if linktype != ETHERNET_LINKTYPE:
        raise TraceError(
            path, place, f"link type {linktype}; only Ethernet ({ETHERNET_LINKTYPE}) can be replayed"
        )


def _check_lengths(
    path: Path, file: _ExactFile, start: int, said: int, captured_bytes: int, frame_bytes: int
) -> None:
    place = f"packet {file.packets + 1}, offset {start}"
    if not 14 <= frame_bytes <= MAX_FRAME_BYTES:
        raise TraceError(
            path, place, f"frame of {frame_bytes} bytes; Ethernet frames have 14 to {MAX_FRAME_BYTES}"
        )
    if said > frame_bytes or captured_bytes != said:
        raise TraceError(path, place, f"{said} bytes captured of a frame of {frame_bytes}")
