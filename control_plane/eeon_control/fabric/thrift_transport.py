"""A TCP connection for thriftpy2 with limits on time and size.

thriftpy2 trusts the lengths and element counts that a peer states, and some element types take no bytes. So
an answer is first walked through while it is received, with a deadline and with budgets of bytes and values;
thriftpy2 gets only the parts that have passed.
"""

import socket
import time

from thriftpy2.thrift import TType

_CHUNK_BYTES = 1 << 16
_MAX_DEPTH = 8
_VERSION_1 = b"\x80\x01"  # the first bytes of a message in Thrift's strict binary protocol
_WIDTH = {TType.BOOL: 1, TType.BYTE: 1, TType.DOUBLE: 8, TType.I16: 2, TType.I32: 4, TType.I64: 8}


class NoThrift(Exception):
    """The peer sent something other than a Thrift message, or a message larger than permitted."""


class BoundedTransport:
    """thriftpy2's transport interface over one socket.

    `read` raises OSError (TimeoutError included), EOFError when the peer closes, and NoThrift.
    """

    def __init__(self, host: str, port: int, *, seconds: float, answer_bytes: int) -> None:
        self._seconds = seconds
        self._answer_bytes = answer_bytes
        self._deadline = 0.0
        self._outgoing = bytearray()
        self._received = bytearray()  # the current answer, from its first byte
        self._walked = 0  # the number of its bytes that have passed
        self._given = 0  # the number of its bytes that thriftpy2 has received
        self._values = 0
        self._socket = socket.create_connection((host, port), seconds)

    def write(self, data: bytes) -> None:
        """Buffers data until `flush`."""
        self._outgoing += data

    def flush(self) -> None:
        """Sends a call, and starts its deadline and its answer's budgets."""
        self._deadline = time.monotonic() + self._seconds
        self._received.clear()
        self._walked = self._given = self._values = 0
        self._socket.settimeout(self._seconds)
        self._socket.sendall(self._outgoing)
        self._outgoing.clear()

    def read(self, size: int) -> bytes:
        """Returns exactly `size` bytes of the answer."""
        if not self._walked:
            self._walk_message()
        end = self._given + size
        if size < 0 or end > self._walked:
            raise NoThrift
        taken = bytes(self._received[self._given : end])
        self._given = end
        return taken

    def close(self) -> None:
        self._socket.close()

    def _walk_message(self) -> None:
        if self._take(4)[:2] != _VERSION_1:
            raise NoThrift
        self._take(self._number(4))  # the method's name
        self._take(4)  # the call's number
        self._walk(TType.STRUCT, _MAX_DEPTH)

    def _walk(self, kind: int, depth: int) -> None:
        self._values += 1
        if not depth or self._values > self._answer_bytes:
            raise NoThrift
        match kind:
            case TType.STRING:
                self._take(self._number(4))
            case TType.STRUCT:
                while (field := self._number(1)) != TType.STOP:
                    self._take(2)
                    self._walk(field, depth - 1)
            case TType.LIST | TType.SET:
                element = self._number(1)
                for _ in range(self._count()):
                    self._walk(element, depth - 1)
            case TType.MAP:
                key, value = self._number(1), self._number(1)
                for _ in range(self._count()):
                    self._walk(key, depth - 1)
                    self._walk(value, depth - 1)
            case _ if kind in _WIDTH:
                self._take(_WIDTH[kind])
            case _:
                raise NoThrift

    def _count(self) -> int:
        count = self._number(4)
        if not 0 <= count <= self._answer_bytes:
            raise NoThrift
        return count

    def _number(self, width: int) -> int:
        return int.from_bytes(self._take(width), "big", signed=True)

    def _take(self, size: int) -> bytes:
        end = self._walked + size
        if size < 0 or end > self._answer_bytes:
            raise NoThrift
        while len(self._received) < end:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            chunk = self._socket.recv(_CHUNK_BYTES)
            if not chunk:
                raise EOFError
            self._received += chunk
        taken = bytes(self._received[self._walked : end])
        self._walked = end
        return taken
