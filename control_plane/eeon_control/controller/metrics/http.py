"""The exporter's HTTP server: one page, for untrusted clients, on the controller's event loop.

The cost of clients is bounded: the number of connections, the times to receive a request and to send an
answer, the size of a request, and the share of time spent on making pages. Connections that wait for their
client are closed in favour of new ones.
"""

import asyncio
import gzip
import io
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socket import AI_PASSIVE, SOCK_STREAM
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder, gzip_accepted

from eeon_control.controller.log import say

PATH = "/metrics"
MAX_CONNECTIONS = 16
MAX_HEAD_BYTES = 16 << 10
GRACE_SECONDS = 0.25
"""Time for which a connection is not closed in favour of others; a client that reads needs less."""
_PART_BYTES = 64 << 10
_BACKLOG = 64


@dataclass
class _Page:
    """The metrics, and the time until which they are served again."""

    headers: dict[str, str]
    body: bytes
    until: float = 0.0


class HttpServer:
    """Serves a registry's metrics at `PATH`, from `start` to `close`.

    `refresh`: awaited before a page is made, in another thread. `checks`: other paths, each answered with
    200, or with 503 and the fault of its check, which is told in one line, and at once. `request_seconds`,
    `answer_seconds`: the limits on a client's times.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        refresh: Callable[[], Awaitable[None]],
        checks: Mapping[str, Callable[[], str]] | None = None,
        request_seconds: float = 5.0,
        answer_seconds: float = 30.0,
    ) -> None:
        self._registry = registry
        self._refresh = refresh
        self._checks = dict(checks or {})
        self._request_seconds = request_seconds
        self._answer_seconds = answer_seconds
        self._connections: dict[asyncio.Task[None], float | None] = {}
        """The time since which the server waits for the client, the longest first; None while it works."""
        self._making = asyncio.Lock()
        self._pages: dict[tuple[str, str], _Page] = {}

    async def start(self, host: str, port: int) -> int:
        """Returns the port that was bound. Raises OSError if the address is not available."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host or None, port, type=SOCK_STREAM, flags=AI_PASSIVE)
        family, *_, address = found[0]
        self._server = await asyncio.start_server(
            self._serve, str(address[0]), port, family=family, backlog=_BACKLOG
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Closes the server and all connections."""
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    # ---- connections

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the one request of a connection, with limits on time and size, or closes it."""
        task = asyncio.current_task()
        assert task is not None
        try:
            if self._make_room():
                self._connections[task] = time.monotonic()
                async with asyncio.timeout(self._request_seconds):
                    head = await _head(reader)
                self._note(task, None)
                parts = await self._answer(head)
                self._note(task, time.monotonic())
                async with asyncio.timeout(self._answer_seconds):
                    await _send(writer, parts)
        except OSError:
            pass  # the client left, or was too slow
        finally:
            self._connections.pop(task, None)
            writer.transport.abort()

    def _make_room(self) -> bool:
        """Returns whether there may be one more connection, if need be after closing another one."""
        if len(self._connections) < MAX_CONNECTIONS:
            return True
        now = time.monotonic()
        for task, since in self._connections.items():
            if since is not None and now - since >= GRACE_SECONDS:
                del self._connections[task]
                task.cancel()
                return True
        return False

    def _note(self, task: asyncio.Task[None], since: float | None) -> None:
        """Records whether a connection waits for its client, at the end, so that the oldest is first."""
        del self._connections[task]
        self._connections[task] = since

    # ---- answers

    async def _answer(self, head: bytes) -> tuple[bytes, bytes]:
        """Returns the head and the body of the answer to a request."""
        request = _Request(head)
        wanted = request.wanted
        if wanted in self._checks:
            fault = self._checks[wanted]()
            status = HTTPStatus.SERVICE_UNAVAILABLE if fault else HTTPStatus.OK
            kind = {"Content-Type": "text/plain; charset=utf-8"}
            return request.answered(status, kind, f"{fault or 'ok'}\n".encode())
        if wanted == PATH:
            try:
                page = await self._page(*(request.headers.get(f"Accept{of}", "") for of in ("", "-Encoding")))
                return request.answered(HTTPStatus.OK, page.headers, page.body)
            except Exception as error:
                say(logging.ERROR, "scrape_failed", reason=f"{type(error).__name__}: {error}")
                request.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)
        elif wanted is not None:
            request.send_error(HTTPStatus.NOT_FOUND, explain=f"metrics are at {PATH}")
        return request.wfile.getvalue(), b""

    async def _page(self, accept: str, encoding: str) -> _Page:
        """Makes one page at a time, and reuses it for as long as it took to make."""
        async with self._making:
            begin = time.monotonic()
            # Few pages can be made before they expire, so that their number stays small.
            self._pages = {key: kept for key, kept in self._pages.items() if kept.until > begin}
            if (accept, encoding) not in self._pages:
                await self._refresh()
                page = await asyncio.to_thread(self._made, accept, encoding)
                page.until = 2 * time.monotonic() - begin
                self._pages[accept, encoding] = page
            return self._pages[accept, encoding]

    def _made(self, accept: str, encoding: str) -> _Page:
        encoder, kind = choose_encoder(accept)
        page = _Page({"Content-Type": kind}, encoder(self._registry))
        if gzip_accepted(encoding):
            page.headers["Content-Encoding"] = "gzip"
            page.body = gzip.compress(page.body)
        return page


async def _head(reader: asyncio.StreamReader) -> bytes:
    """Returns the head of a request; one byte above the limit, if it is longer."""
    head = bytearray()
    while b"\r\n\r\n" not in head and b"\n\n" not in head and len(head) <= MAX_HEAD_BYTES:
        part = await reader.read(MAX_HEAD_BYTES + 1 - len(head))
        if not part:
            raise ConnectionError
        head += part
    return bytes(head)


async def _send(writer: asyncio.StreamWriter, parts: Iterable[bytes]) -> None:
    """Sends an answer in parts, so that a slow client keeps only the present one in memory."""
    for part in parts:
        whole = memoryview(part)
        for start in range(0, len(whole), _PART_BYTES):
            writer.write(whole[start : start + _PART_BYTES])
            await writer.drain()
    writer.close()
    await writer.wait_closed()


class _Request(BaseHTTPRequestHandler):
    """A request, read from its head with the standard library, and the head of its answer, in memory.

    `wanted`: the path, or None if the request was refused; the answer then says why.
    """

    wfile: io.BytesIO

    def __init__(self, head: bytes) -> None:
        self.wanted: str | None = None
        self.requestline, self.request_version, self.command = "", self.default_request_version, ""
        self.wfile = io.BytesIO()
        if len(head) > MAX_HEAD_BYTES:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        self.rfile = io.BufferedReader(io.BytesIO(head))
        self.handle_one_request()

    def do_GET(self) -> None:
        """Takes the path."""
        try:
            self.wanted = urlsplit(self.path).path
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST)

    def do_POST(self) -> None:
        """Refuses a method other than GET."""
        self.answered(HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "GET"}, b"")

    do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = do_POST

    def answered(self, status: HTTPStatus, headers: Mapping[str, str], body: bytes) -> tuple[bytes, bytes]:
        """Returns the head and the body of an answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return self.wfile.getvalue(), body

    def log_message(self, format: str, *arguments: object) -> None:
        """Does nothing: requests are not logged."""
