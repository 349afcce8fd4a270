"""Captures: pcap and pcapng files with nanosecond times, one packet at a time; plain, or compressed with gzip
or zstd; files or pipes.

A capture is either read to its last byte or refused, with the packet's number and the offset in the file
(after decompression). It is not read with scapy, which treats a truncated file as complete, and applies the
interfaces of one pcapng section to the next.
"""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from eeon_tools.errors import BrokenOffError, TraceError
from eeon_tools.trace.savefiles import (
    BUFFER_BYTES,
    PCAP_MAGICS,
    PCAPNG_MAGIC,
    ExactStream,
    Packet,
    read_pcap,
    read_pcapng,
)

STANDARD_INPUT = Path("-")
_PACKERS = {
    b"BZh": "bzip2",
    b"\xfd7zX": "xz",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
}

OnBreak: TypeAlias = Callable[[BrokenOffError], None]
"""Is called when a capture is truncated, if that is not an error."""


def read_packets(path: Path, on_break: OnBreak | None = None) -> Iterator[Packet]:
    """Yields every packet of a pcap or pcapng file, in file order, one in memory at a time.

    `on_break`: called if the file is truncated, which then ends the packets without an error. Times are
    nanoseconds since the epoch that the file uses. Raises TraceError, naming the packet and the offset, if
    the file is not a capture, is truncated, has an unsupported link type, or contains impossible values.
    """
    try:
        with path.open("rb", buffering=BUFFER_BYTES) as file:
            yield from _all_packets(ExactStream(path, file))
    except BrokenOffError as error:
        if on_break is None:
            raise
        on_break(error)
    except OSError as error:
        raise TraceError(path, "", f"cannot be read: {error.strerror}") from error


def _all_packets(stream: ExactStream) -> Iterator[Packet]:
    magic = stream.read_or_end(4)
    if magic in PCAP_MAGICS:
        yield from read_pcap(stream, magic)
    elif magic == PCAPNG_MAGIC:
        yield from read_pcapng(stream, magic)
    elif not magic:
        raise TraceError(stream.path, "", "the file is empty; a trace starts with a pcap or pcapng header")
    elif packer := next((name for start, name in _PACKERS.items() if magic.startswith(start)), None):
        raise TraceError(
            stream.path, "", f"is compressed with {packer}; decompress it first, or use gzip or zstd"
        )
    else:
        raise TraceError(
            stream.path,
            "offset 0",
            f"magic {magic.hex()} is neither pcap nor pcapng; `editcap -F pcapng` converts what "
            "Wireshark reads",
        )


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
        pipe = contextlib.nullcontext(sys.stdin.buffer) if is_standard_input else path.open("rb")
        with pipe as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target, BUFFER_BYTES)
        try:
            yield copy
        except TraceError as error:
            if error.name != str(copy):
                raise
            raise type(error)(shown(path), error.place, error.problem) from error


def shown(path: Path) -> Path | str:
    """Returns the name of a capture in messages."""
    return "standard input" if path == STANDARD_INPUT else path
