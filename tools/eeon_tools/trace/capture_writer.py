"""Captures written with scapy: pcap and pcapng files with nanosecond times."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Protocol

from scapy.utils import RawPcapNgWriter, RawPcapWriter

from eeon_tools.errors import TraceError
from eeon_tools.trace import links

_SNAP_BYTES = 65_535
_BUFFER_BYTES = 1 << 18
_NS_PER_S = 1_000_000_000


class CaptureWriter(Protocol):
    """The interface of both file formats."""

    def write(self, time_ns: int, captured: bytes, frame_bytes: int) -> None:
        """Appends one packet. Times are nanoseconds since the start of the trace and must not go back."""

    def close(self) -> None:
        """Finishes the file; without it the last packets may be missing."""


def open_writer(path: Path) -> CaptureWriter:
    """Returns a writer for `path`, whose suffix selects the format: `.pcap` or `.pcapng`. An existing file is
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
    """Writes nanoseconds into the interface block (if_tsresol = 9); scapy's own writer has microseconds."""

    def __init__(self, filename: str) -> None:
        super().__init__(filename)
        # Timestamps are passed in units of the interface's resolution.
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
