"""The exporter's HTTP server: one page, for untrusted clients.

The cost of clients is bounded: the number of connections and threads, the times to receive a request and to
send an answer, the size of a request, and the share of time spent on making pages. Connections that wait for
their client are closed in favour of new ones.
"""

import contextlib
import io
import logging
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TypeAlias
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, make_wsgi_app

from eeon_control.controller.log import say

PATH = "/metrics"
Check: TypeAlias = Callable[[], str]
"""Returns the fault in one line, or an empty text, within seconds."""
MAX_CONNECTIONS = 16
MAX_THREADS = 2 * MAX_CONNECTIONS
"""Maximum number of threads, including those of closed connections that have not ended yet."""
MAX_HEAD_BYTES = 16 << 10
GRACE_SECONDS = 0.25
"""Time for which a connection is not closed in favour of others; a client that reads needs less."""


@dataclass(frozen=True)
class Limits:
    """The limits on a client's times, in seconds."""

    request: float = 5.0
    answer: float = 30.0


@dataclass
class _Connection:
    """An open connection."""

    since: float
    waits: bool = True
    """Whether the server waits for the client, since `since`."""


@dataclass(frozen=True)
class _Page:
    """An answer, and the time until which it is reused."""

    status: str
    headers: list[tuple[str, str]]
    body: bytes
    until: float


class HttpServer(socketserver.ThreadingTCPServer):
    """Serves a registry's metrics at `PATH`, with `serve_forever`. Raises OSError if it cannot bind.

    `checks`: other paths, each answered with 200, or with 503 and the fault of its check.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self,
        host: str,
        port: int,
        registry: CollectorRegistry,
        limits: Limits | None = None,
        checks: Mapping[str, Check] | None = None,
    ) -> None:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family, address = found[0][0], found[0][4]
        self.limits = limits or Limits()
        self.checks = dict(checks or {})
        self._app = make_wsgi_app(registry)
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, _Connection] = {}
        self._served = 0
        self._making = threading.Lock()
        self._pages: dict[tuple[str, str], _Page] = {}
        super().__init__(address[:2], _Handler)  # type: ignore[arg-type]  # its family's, of two parts or four

    @property
    def port(self) -> int:
        """The port that was bound."""
        return int(self.server_address[1])

    # ---- connections

    def process_request(  # type: ignore[override]  # a socket: it listens on TCP
        self, request: socket.socket, client_address: tuple[str, int]
    ) -> None:
        """Starts a thread for a new connection, or closes it; runs in the accepting thread."""
        with self._lock:
            is_served = self._served < MAX_THREADS and self._make_room()
            if is_served:
                self._served += 1
                self._connections[request] = _Connection(time.monotonic())
        if not is_served:
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            # The thread could not be started.
            self._leave(request)
            raise

    def process_request_thread(  # type: ignore[override] # of TCP sockets only
        self, request: socket.socket, client_address: tuple[str, int]
    ) -> None:
        """Serves a connection; runs in the connection's own thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._leave(request)

    def _leave(self, request: socket.socket) -> None:
        with self._lock:
            self._served -= 1
            self._connections.pop(request, None)

    def handle_error(self, request: object, client_address: object) -> None:
        """Logs the error that ended a connection, unless the client left or was too slow."""
        error = sys.exception()
        if not isinstance(error, OSError):
            say(logging.ERROR, "scrape_failed", reason=f"{type(error).__name__}: {error}")

    def _make_room(self) -> bool:
        if len(self._connections) < MAX_CONNECTIONS:
            return True
        now = time.monotonic()
        for peer, connection in self._connections.items():
            if connection.waits and now - connection.since >= GRACE_SECONDS:
                del self._connections[peer]
                # This ends its thread.
                with contextlib.suppress(OSError):
                    peer.shutdown(socket.SHUT_RDWR)
                return True
        return False

    def note(self, request: socket.socket, *, waits: bool) -> bool:
        """Records whether a connection waits for its client. Returns False if it was closed for others."""
        with self._lock:
            connection = self._connections.pop(request, None)
            if connection is not None:
                # Reinserted at the end, so that the oldest is first.
                self._connections[request] = _Connection(time.monotonic(), waits)
            return connection is not None

    # ---- the page

    def page(self, accept: str, encoding: str) -> tuple[str, list[tuple[str, str]], bytes]:
        """Returns status, headers and body. Makes one page at a time, and reuses it for as long as it took to
        make."""
        with self._making:
            known = self._pages.get((accept, encoding))
            if known is not None and time.monotonic() < known.until:
                return known.status, known.headers, known.body
            begin = time.monotonic()
            page = self._make(accept, encoding)
            end = time.monotonic()
            # Few pages can be made before they expire, so that their number stays small.
            self._pages = {key: kept for key, kept in self._pages.items() if kept.until > end}
            self._pages[accept, encoding] = _Page(*page, until=2 * end - begin)
            return page

    def _make(self, accept: str, encoding: str) -> tuple[str, list[tuple[str, str]], bytes]:
        environment = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": PATH,
            "HTTP_ACCEPT": accept,
            "HTTP_ACCEPT_ENCODING": encoding,
        }
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start(status: str, headers: list[tuple[str, str]]) -> None:
            started.append((status, headers))

        body = b"".join(self._app(environment, start))
        return *started[0], body


class _Handler(BaseHTTPRequestHandler):
    """One connection: one request, one answer."""

    server: HttpServer
    request: socket.socket

    def handle(self) -> None:
        """Reads the head of a request, with limits on time and size, and answers."""
        self.requestline, self.request_version, self.command = "", self.default_request_version, ""
        head = bytearray()
        deadline = time.monotonic() + self.server.limits.request
        while b"\r\n\r\n" not in head and b"\n\n" not in head:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.request.settimeout(left)
            chunk = self.request.recv(MAX_HEAD_BYTES)
            if not chunk:
                return
            head += chunk
            if len(head) > MAX_HEAD_BYTES:
                self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
                return
        self.request.settimeout(self.server.limits.answer)
        self.rfile = io.BufferedReader(io.BytesIO(head))
        self.handle_one_request()
        self.close_connection = True

    def do_GET(self) -> None:
        """Answers with the page, or with the result of a check."""
        try:
            path = urlsplit(self.path).path
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        check = self.server.checks.get(path)
        if check is not None:
            fault = check()
            code = HTTPStatus.SERVICE_UNAVAILABLE if fault else HTTPStatus.OK
            self._answer(code, [("Content-Type", "text/plain; charset=utf-8")], f"{fault or 'ok'}\n".encode())
            return
        if path != PATH:
            self.send_error(HTTPStatus.NOT_FOUND, explain=f"metrics are at {PATH}")
            return
        if not self.server.note(self.request, waits=False):
            return
        try:
            status, headers, body = self.server.page(
                self.headers.get("Accept", ""), self.headers.get("Accept-Encoding", "")
            )
        except Exception as error:
            say(logging.ERROR, "scrape_failed", reason=f"{type(error).__name__}: {error}")
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)
            return
        if not self.server.note(self.request, waits=True):
            return
        self._answer(int(status.partition(" ")[0]), headers, body)

    def _answer(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Refuses a method other than GET."""
        self.send_response(HTTPStatus.METHOD_NOT_ALLOWED)
        self.send_header("Allow", "GET")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = do_POST

    def log_message(self, format: str, *arguments: object) -> None:
        """Does nothing: requests are not logged."""
