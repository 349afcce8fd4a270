"""One client's connection: reads and answers calls. One thread serves it until it ends.

The cost of a client is bounded. Its first call must arrive within `FIRST_CALL_SECONDS`. Between calls it may
be idle while the server has room, but a call must be complete `CALL_SECONDS` after its start, and its answer
must be received within the same time. The server reads only one long call at a time.
"""

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable

from .dispatch import Dispatcher
from .reader import MessageError, Reader

_LOG = logging.getLogger(__name__)

FIRST_CALL_SECONDS = 10.0
CALL_SECONDS = 30.0
LONG_CALL_BYTES = 1 << 20
"""Size from which a call waits for the single place for long calls."""

_CHUNK = 1 << 16
_POLL_SECONDS = 0.5


class _Gone(Exception):
    """The client has closed the connection between calls, or the server is stopping."""


class Connection:
    """A connected client."""

    def __init__(
        self,
        peer: socket.socket,
        name: str,
        dispatcher: Dispatcher,
        long_calls: threading.Lock,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._socket = peer
        self._name = name
        self._dispatcher = dispatcher
        self._long_calls = long_calls
        self._is_stopping = is_stopping
        self._received = bytearray()
        self._taken = 0
        self._deadline = 0.0
        self._is_long = False
        self._has_called = False
        self.quiet_since = time.monotonic()
        """Time at which the last call ended, or the client connected."""

    def run(self) -> None:
        """Answers calls until the client disconnects or the server stops. Raises nothing."""
        try:
            while True:
                self._wait_for_call()
                try:
                    answer = self._dispatcher.answer(Reader(self._read))
                finally:
                    self._end_call()
                if answer is not None:
                    self._socket.settimeout(CALL_SECONDS)
                    self._socket.sendall(answer)
        except _Gone:
            pass
        except MessageError as error:
            _LOG.warning("%s: %s; connection closed", self._name, error)
        except TimeoutError:
            _LOG.warning("%s: call incomplete after %.0f s; connection closed", self._name, CALL_SECONDS)
        except OSError as error:
            _LOG.info("%s: %s; connection closed", self._name, error)
        except Exception:
            _LOG.exception("%s: connection closed", self._name)
        finally:
            self.close()

    def close(self) -> None:
        """Closes the socket, from any thread; `run` ends."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _wait_for_call(self) -> None:
        while not self._received:
            if self._is_stopping():
                raise _Gone
            if not self._has_called and time.monotonic() > self.quiet_since + FIRST_CALL_SECONDS:
                raise MessageError(f"no call in {FIRST_CALL_SECONDS:.0f} s")
            with contextlib.suppress(TimeoutError):
                self._receive_some(_POLL_SECONDS)
        self._deadline = time.monotonic() + CALL_SECONDS

    def _receive_some(self, timeout: float) -> None:
        self._socket.settimeout(timeout)
        chunk = self._socket.recv(_CHUNK)
        if not chunk:
            if self._received or self._taken:
                raise MessageError("the client disconnected during a call")
            raise _Gone
        self._received += chunk

    def _read(self, count: int) -> bytes:
        """Returns exactly `count` bytes, for `Reader`."""
        if not self._is_long and self._taken + count > LONG_CALL_BYTES:
            if not self._long_calls.acquire(timeout=CALL_SECONDS):
                raise MessageError(f"call of more than {LONG_CALL_BYTES} bytes while another is being read")
            self._is_long = True
            self._deadline = time.monotonic() + CALL_SECONDS
        while len(self._received) < count:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._receive_some(left)
        taken = bytes(self._received[:count])
        del self._received[:count]
        self._taken += count
        return taken

    def _end_call(self) -> None:
        self._taken = 0
        self._has_called = True
        self.quiet_since = time.monotonic()
        if self._is_long:
            self._is_long = False
            self._long_calls.release()
