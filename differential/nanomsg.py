"""A client of nanomsg's PAIR sockets for `simple_switch --packet-in`: frames to and from every port.

The wire format is nanomsg's SP over IPC. The messages are those of BMv2's `bm_sim/dev_mgr_packet_in.cpp`:
type, port and length as 32-bit integers in native byte order, then the frame.
"""

import select
import socket
import struct
import time
from pathlib import Path

GREETING = b"\0SP\0\0\x10\0\0"
LENGTH = struct.Struct(">BQ")
HEADER = struct.Struct("=iii")
PACKET_IN, PACKET_OUT = 3, 4


class Pair:
    """A connection to a switch, which listens."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(str(path))
        self._socket.settimeout(10.0)
        self._socket.sendall(GREETING)
        self._buffer = bytearray()
        while len(self._buffer) < len(GREETING):
            self._buffer += self._socket.recv(64)
        if bytes(self._buffer[: len(GREETING)]) != GREETING:
            raise ConnectionError(f"not a PAIR socket: {bytes(self._buffer)!r}")
        del self._buffer[: len(GREETING)]

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def send(self, port: int, frame: bytes) -> None:
        """Sends a frame that arrives at a port."""
        message = HEADER.pack(PACKET_IN, port, len(frame)) + frame
        self._socket.sendall(LENGTH.pack(1, len(message)) + message)

    def receive(self, count: int, timeout_seconds: float) -> list[tuple[int, bytes]]:
        """Returns frames that have left, as (port, frame): at least `count`, unless the time is over."""
        deadline = time.monotonic() + timeout_seconds
        frames = decoded(self._buffer)
        while True:
            left = deadline - time.monotonic() if len(frames) < count else 0.0
            if not select.select([self._socket], [], [], max(left, 0.0))[0]:
                return frames
            data = self._socket.recv(1 << 16)
            if not data:
                raise ConnectionError("simple_switch has closed its socket")
            self._buffer += data
            frames += decoded(self._buffer)


def decoded(buffer: bytearray) -> list[tuple[int, bytes]]:
    """Removes complete messages from the buffer; returns the frames in them, as (port, frame)."""
    frames: list[tuple[int, bytes]] = []
    at = 0
    while len(buffer) >= at + LENGTH.size:
        length = LENGTH.unpack_from(buffer, at)[1]
        if len(buffer) < at + LENGTH.size + length:
            break
        message = bytes(buffer[at + LENGTH.size : at + LENGTH.size + length])
        at += LENGTH.size + length
        kind, port, _ = HEADER.unpack_from(message)
        if kind == PACKET_OUT:
            frames.append((port, message[HEADER.size :]))
    del buffer[:at]
    return frames
