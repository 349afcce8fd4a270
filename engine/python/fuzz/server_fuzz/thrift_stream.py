"""The Thrift server's connection in this process: a client's bytes in, its answers out, without a socket.

Reader, dispatcher and calls are the server's own; `Wire` replaces a socket, and provides the bytes in pieces.
"""

import threading
from typing import Any

from eeon_engine import Switch
from eeon_engine.thrift.connection import Connection
from eeon_engine.thrift.interface import SERVICES
from eeon_engine.thrift.server import dispatcher
from thriftpy2.protocol.binary import TBinaryProtocol
from thriftpy2.thrift import TApplicationException, TMessageType
from thriftpy2.transport.memory import TMemoryBuffer

from .world import require

_PORT = 9090


class Wire:
    """The part of a socket that `Connection` uses. After the last piece the client has disconnected."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]
        self.sent = bytearray()

    def settimeout(self, seconds: float) -> None:
        require(seconds > 0, f"a time-out of {seconds} s")

    def recv(self, limit: int) -> bytes:
        if not self._pieces:
            return b""
        piece = self._pieces[0][:limit]
        self._pieces[0] = self._pieces[0][limit:]
        if not self._pieces[0]:
            del self._pieces[0]
        return piece

    def sendall(self, answer: bytes) -> None:
        self.sent += answer

    def shutdown(self, how: int) -> None:
        pass

    def close(self) -> None:
        pass


class Caller:
    """A client of one switch. Each `exchange` uses a new connection."""

    def __init__(self, switch: Switch) -> None:
        self._dispatcher = dispatcher(switch, _PORT)
        self._long_calls = threading.Lock()

    def exchange(self, pieces: list[bytes]) -> bytes:
        """Returns the server's bytes to a client that sends these pieces and disconnects."""
        wire = Wire(pieces)
        Connection(wire, "fuzzer", self._dispatcher, self._long_calls, lambda: False).run()  # type: ignore[arg-type]
        require(not self._long_calls.locked(), "the lock of long calls is not released")
        return bytes(wire.sent)

    def call(self, service: str, name: str, arguments: Any, pieces: int) -> Any:
        """Makes one call, and returns its result or the TApplicationException."""
        sent = message(f"{service}:{name}", arguments)
        length = max(1, len(sent) // max(1, pieces))
        (answer,) = answers(
            self.exchange([sent[at : at + length] for at in range(0, len(sent), length)]), service
        )
        return answer[1]


def message(name: str, arguments: Any) -> bytes:
    """Returns a call in a client's encoding."""
    buffer = TMemoryBuffer()
    protocol = TBinaryProtocol(buffer)
    protocol.write_message_begin(name, TMessageType.CALL, 1)
    arguments.write(protocol)
    protocol.write_message_end()
    return bytes(buffer.getvalue())


def answers(sent: bytes, service: str | None = None) -> list[tuple[str, Any]]:
    """Returns the messages that a server has sent, each with its method's name. Raises `Finding` if the bytes
    are not messages."""
    found = []
    buffer = TMemoryBuffer(sent)
    protocol = TBinaryProtocol(buffer)
    while buffer._pos < len(sent):
        name, kind, _ = protocol.read_message_begin()
        if kind == TMessageType.EXCEPTION:
            outcome: Any = TApplicationException()
        else:
            require(kind == TMessageType.REPLY, f"a message of type {kind} is not an answer")
            of = next(
                s for s in ([service] if service else SERVICES) if hasattr(SERVICES[s], f"{name}_result")
            )
            outcome = getattr(SERVICES[of], f"{name}_result")()
        outcome.read(protocol)
        protocol.read_message_end()
        if isinstance(outcome, TApplicationException):
            require(bool(outcome.message), f"{name}: an exception without a message")
            require("internal error" not in outcome.message, f"{name}: {outcome.message}")
        found.append((name, outcome))
    return found
