"""Captures: pcap and pcapng files with nanosecond times, one packet at a time; plain, or compressed with gzip
or zstd; files or pipes.

A capture is either read to its last byte or refused, with the packet's number and the offset in the file
(after decompression). It is not read with scapy, which treats a truncated file as complete, and applies the
interfaces of one pcapng section to the next.

Packets are (time_ns, frame_bytes, captured, seen_at): `frame_bytes` is the original length of the Ethernet
frame without its frame check sequence; `captured` is the part that was kept.
"""

import contextlib
import gzip
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias, cast

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
"""Longest frame accepted: the most that Linux hands to a NIC at once (GSO_MAX_SIZE), with Ethernet and a VLAN
tag."""
STANDARD_INPUT = Path("-")
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_PACKERS = {
    b"BZh": "bzip2",
    b"\xfd7zX": "xz",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
}
_BUFFER_BYTES = 1 << 18


OnBreak: TypeAlias = Callable[[BrokenOffError], None]
"""Is called when a capture is truncated, if that is not an error."""


class Packet(NamedTuple):
    """One captured frame. `captured` may be shorter than `frame_bytes`; missing bytes count as zeros.
    `seen_at`: the place where a capture of several interfaces saw it; None in a capture of one interface."""

    time_ns: int
    frame_bytes: int
    captured: bytes
    seen_at: bytes | None = None


def read_packets(path: Path, on_break: OnBreak | None = None) -> Iterator[Packet]:
    """Yields every packet of a pcap or pcapng file, in file order, one in memory at a time.

    `on_break`: called if the file is truncated, which then ends the packets without an error. Times are
    nanoseconds since the epoch that the file uses. Raises TraceError, naming the packet and the offset, if
    the file is not a capture, is truncated, has an unsupported link type, or contains impossible values.
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
        elif packer := next((name for start, name in _PACKERS.items() if magic.startswith(start)), None):
            raise TraceError(
                path, "", f"is compressed with {packer}; decompress it first, or use gzip or zstd"
            )
        else:
            raise TraceError(
                path,
                "offset 0",
                f"magic {magic.hex()} is neither pcap nor pcapng; `editcap -F pcapng` converts what "
                "Wireshark reads",
            )
        for record in records:
            yield _packet(stream, record)


def _packet(stream: ExactStream, record: Record) -> Packet:
    """Returns a record as an Ethernet frame without its frame check sequence."""
    time_ns, link_type, fcs_bytes, frame_bytes, captured, interface = record
    seen_at = None if interface is None else interface.to_bytes(4, "big")
    if link_type == links.ETHERNET and not fcs_bytes and 14 <= frame_bytes <= MAX_FRAME_BYTES:
        return Packet(time_ns, frame_bytes, captured, seen_at)
    frame_bytes -= fcs_bytes
    shortest = links.HEADER_BYTES[link_type]
    if not shortest <= frame_bytes <= MAX_FRAME_BYTES:
        raise stream.error(
            f"frame of {frame_bytes} bytes; frames of {links.NAMES[link_type]} have {shortest} to "
            f"{MAX_FRAME_BYTES}"
        )
    if len(captured) > frame_bytes:
        captured = captured[:frame_bytes]
    within = links.seen_at(link_type, captured)
    if within is not None:
        seen_at = (seen_at or b"") + within
    return Packet(time_ns, *links.as_ethernet(link_type, frame_bytes, captured), seen_at)


def _unpacked(path: Path, raw: BinaryIO) -> Stream:
    """Returns the bytes of a capture, decompressed if its file is compressed."""
    magic = cast(io.BufferedReader, raw).peek(4)[:4]
    if magic[:2] == _GZIP_MAGIC:
        return _Compressed(path, gzip.GzipFile(fileobj=raw))
    if magic == _ZSTD_MAGIC:
        return _Compressed(path, zstd.ZstdFile(raw))
    return raw


class _Compressed:
    """A compressed stream, which may be damaged."""

    def __init__(self, path: Path, stream: Stream) -> None:
        self._path = path
        self._stream = io.BufferedReader(cast(io.RawIOBase, stream), _BUFFER_BYTES)

    def read(self, count: int) -> bytes:
        try:
            return self._stream.read(count)
        except EOFError as error:
            raise BrokenOffError(self._path, "", "the compressed file is truncated") from error
        except (OSError, zlib.error, zstd.ZstdError) as error:
            raise TraceError(self._path, "", f"cannot be decompressed: {error}") from error


@contextlib.contextmanager
def seekable(path: Path) -> Iterator[Path]:
    """Yields a file with the contents of `path` that can be read more than once: itself, or a copy of a
    pipe's output (`-` is standard input), whose errors name the pipe."""
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
        try:
            yield copy
        except TraceError as error:
            if error.name != str(copy):
                raise
            raise type(error)(shown(path), error.place, error.problem) from error


def shown(path: Path) -> Path | str:
    """Returns the name of a capture in messages."""
    return "standard input" if path == STANDARD_INPUT else path
