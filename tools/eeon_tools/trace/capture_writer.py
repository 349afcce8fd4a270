"""Captures of Ethernet frames: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng) files with
nanosecond times."""

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from eeon_tools.errors import TraceError
from eeon_tools.trace import links

_SNAP_BYTES = 65_535
_BUFFER_BYTES = 1 << 18
_NS_PER_S = 1_000_000_000
_PCAP_NANOSECONDS = 0xA1B23C4D
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_TSRESOL, _NANOSECONDS = 9, 9

Options = Iterable[tuple[int, bytes]]
"""Codes and values of a block's options."""


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
        self._is_pcap = path.suffix == ".pcap"
        self._file = path.open("wb", buffering=_BUFFER_BYTES)
        if self._is_pcap:
            header = (_PCAP_NANOSECONDS, 2, 4, 0, 0, _SNAP_BYTES, links.ETHERNET)
            self._file.write(struct.pack("<IHHIIII", *header))
        else:
            self._file.write(section() + interface(_SNAP_BYTES))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, time_ns: int, captured: bytes, frame_bytes: int) -> None:
        """Appends one packet. Times are nanoseconds since the start of the trace and must not go back."""
        if self._is_pcap:
            times = divmod(time_ns, _NS_PER_S)
            self._file.write(struct.pack("<IIII", *times, len(captured), frame_bytes) + captured)
        else:
            self._file.write(packet(0, time_ns, captured, frame_bytes))


def section(options: Options = ()) -> bytes:
    """Returns the block of pcapng that begins a file. Its section ends with the file."""
    return _block(_SECTION, struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1), options)


def interface(snap_bytes: int = 0, options: Options = ()) -> bytes:
    """Returns pcapng's block of an Ethernet interface. `snap_bytes`: 0 for no limit."""
    resolution = (_TSRESOL, bytes([_NANOSECONDS]))
    return _block(_INTERFACE, struct.pack("<HHI", links.ETHERNET, 0, snap_bytes), [*options, resolution])


def packet(index: int, time_ns: int, captured: bytes, frame_bytes: int, options: Options = ()) -> bytes:
    """Returns pcapng's block of a packet at the interface of number `index`."""
    head = struct.pack("<IIIII", index, time_ns >> 32, time_ns & 0xFFFF_FFFF, len(captured), frame_bytes)
    return _block(_PACKET, head + _padded(captured), options)


def _block(kind: int, body: bytes, options: Options) -> bytes:
    written = b"".join(struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options)
    if written:
        body += written + bytes(4)
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
