"""Captures written with scapy: pcap and pcapng files with nanosecond times."""

import struct
from pathlib import Path
from typing import Self

from scapy.utils import RawPcapNgWriter, RawPcapWriter

from eeon_tools.errors import TraceError
from eeon_tools.trace import links

_SNAP_BYTES = 65_535
_BUFFER_BYTES = 1 << 18
_NS_PER_S = 1_000_000_000


def check_suffix(path: Path) -> None:
    """Raises TraceError unless the suffix names one of the two formats."""
    if path.suffix not in (".pcap", ".pcapng"):
        raise TraceError(
            path, "file name", f"suffix {path.suffix or '(none)'!r}: a trace is a .pcap or a .pcapng"
        )


class CaptureWriter:
    """Writes a file, whose suffix selects the format: `.pcap` or `.pcapng`. It replaces an existing file, and
    finishes the new one at the end of its context."""

    def __init__(self, path: Path) -> None:
        check_suffix(path)
        self._writer: RawPcapWriter | RawPcapNgWriter
        if path.suffix == ".pcap":
            self._writer, self._unit_ns = RawPcapWriter(
                str(path), linktype=links.ETHERNET, nano=True, endianness="<", snaplen=_SNAP_BYTES,
                bufsz=_BUFFER_BYTES,
            ), _NS_PER_S  # fmt: skip
        else:
            self._writer, self._unit_ns = _NanosecondPcapNgWriter(str(path)), 1
            self._writer.linktype = links.ETHERNET
        self._writer.write_header(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def write(self, time_ns: int, captured: bytes, frame_bytes: int) -> None:
        """Appends one packet. Times are nanoseconds since the start of the trace and must not go back."""
        whole, nanoseconds = divmod(time_ns, self._unit_ns)
        self._writer.write_packet(captured, sec=whole, usec=nanoseconds, wirelen=frame_bytes)


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
