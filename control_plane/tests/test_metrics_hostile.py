"""The exporter with slow, silent, many, large or wrong clients: it answers others, in bounded memory."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from eeon_control.controller.metrics import http
from waiting import SECONDS, wait_until

pytestmark = pytest.mark.system

SAMPLES = 10_000
"""A page of a megabyte."""
MEMORY_LIMIT_MB = 160
GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


class Exporter:
    """An exporter in a separate process."""

    def __init__(self, samples: int, request_seconds: float = 30, answer_seconds: float = 60) -> None:
        script = Path(__file__).with_name("metrics_process.py")
        arguments = [str(samples), str(request_seconds), str(answer_seconds)]
        self.process = subprocess.Popen(
            [sys.executable, str(script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.port = int(self.process.stdout.readline())

    def connect(self, content: bytes = b"") -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
        with contextlib.suppress(OSError):
            client.sendall(content)
        return client

    def scrape(self) -> int:
        """Returns the number of bytes for a well-behaved client, which retries when it is refused."""
        end = time.monotonic() + SECONDS
        while True:
            try:
                with urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=SECONDS) as answer:
                    return len(answer.read())
            except OSError:
                assert time.monotonic() < end, "an honest client is not served"

    def status(self, name: str) -> int:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1])

    def connections(self) -> int:
        """Returns the number of sockets besides the listening one and the event loop's own pair."""
        opened = Path(f"/proc/{self.process.pid}/fd").iterdir()
        sockets = 0
        for one in opened:
            with contextlib.suppress(FileNotFoundError):  # closed since the folder was read
                sockets += os.readlink(one).startswith("socket:")
        return sockets - 3

    def end(self) -> None:
        """Ends it on request, even with connected clients."""
        self.process.stdin.close()
        assert self.process.stdout.read() == "ended\n"
        assert self.process.wait(SECONDS) == 0

    def __enter__(self) -> Exporter:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            self.process.kill()


@pytest.fixture
def exporters():
    """Yields a function that starts exporters."""
    with contextlib.ExitStack() as started:
        yield lambda *arguments: started.enter_context(Exporter(*arguments))


@pytest.fixture(scope="module")
def one_sample():
    with Exporter(1) as exporter:
        yield exporter
        exporter.end()


def answer_to(exporter: Exporter, content: bytes) -> bytes:
    """Returns the whole answer."""
    with exporter.connect(content) as client:
        found = b""
        with contextlib.suppress(ConnectionResetError):
            while chunk := client.recv(1 << 16):
                found += chunk
    return found


def test_silent_clients_and_slow_readers_keep_nobody_out_and_cost_bounded_memory(exporters):
    exporter = exporters(SAMPLES)
    size = exporter.scrape()
    assert size > 900_000
    held = []
    for number in range(300):
        held.append(exporter.connect((b"", GET, b"GET /met")[number % 3]))
        if number % 50 == 49:
            assert exporter.scrape() == size
    assert exporter.connections() <= http.MAX_CONNECTIONS
    assert exporter.status("VmHWM") < MEMORY_LIMIT_MB * 1000
    exporter.end()
    for one in held:
        one.close()


def test_a_flood_of_requests_keeps_nobody_out(exporters):
    exporter = exporters(SAMPLES)
    size, stopping = exporter.scrape(), threading.Event()

    def flood() -> None:
        while not stopping.is_set():
            with contextlib.suppress(OSError), exporter.connect(GET) as client:
                client.recv(1000)

    threads = [threading.Thread(target=flood) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            assert exporter.scrape() == size
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    assert exporter.status("VmHWM") < MEMORY_LIMIT_MB * 1000
    exporter.end()


def test_a_request_that_does_not_come_to_its_end_in_time_is_closed(exporters):
    exporter = exporters(1, 0.3)
    with exporter.connect() as client, contextlib.suppress(ConnectionError):
        # An occasional byte does not extend the deadline.
        end = time.monotonic() + SECONDS
        client.settimeout(0.05)
        while time.monotonic() < end:
            client.sendall(b"G")
            with contextlib.suppress(TimeoutError):
                assert client.recv(100) == b""
                return
        raise AssertionError("the connection is still open")


def test_an_answer_that_is_not_taken_in_time_is_given_up(exporters):
    exporter = exporters(8 * SAMPLES, 30, 0.5)  # more than the kernel's buffers of a connection hold
    exporter.scrape()
    assert exporter.connections() == 0
    with exporter.connect(GET):
        wait_until(exporter.connections, "the request is not answered")
        wait_until(lambda: not exporter.connections(), "the answer is not given up")


def test_a_request_of_megabytes_is_refused_at_its_first_kilobytes(exporters):
    exporter = exporters(1)
    sent = 0
    with exporter.connect() as client, contextlib.suppress(ConnectionError):
        client.sendall(b"GET /metrics HTTP/1.1\r\n")
        while sent < 1 << 28:
            client.sendall(b"X-Long: " + bytes(1 << 16).replace(b"\0", b"x") + b"\r\n")
            sent += 1 << 16
    assert sent < 1 << 28
    assert exporter.status("VmHWM") < MEMORY_LIMIT_MB * 1000
    assert b" 431 " in answer_to(exporter, b"GET /metrics HTTP/1.1\r\nX: " + b"x" * http.MAX_HEAD_BYTES)
    assert exporter.scrape() > 0


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET / HTTP/1.1", b"404"),
        (b"GET /metrics/../secret HTTP/1.1", b"404"),
        (b"GET /favicon.ico HTTP/1.1", b"404"),
        (b"POST /metrics HTTP/1.1", b"405"),
        (b"DELETE /metrics HTTP/1.1", b"405"),
        (b"BREW /metrics HTTP/1.1", b"501"),
        (b"GET /metrics HTTP/9.9", b"505"),
        (b"\0\xff\x16\x03", b"400"),
        (b"GET http://x:y:z/metrics HTTP/1.1", b"200"),
        (b"GET http://[/metrics HTTP/1.1", b"400"),
        (b"GET /metrics?name=value HTTP/1.1", b"200"),
    ],
)
def test_requests_for_anything_else_are_answered_as_http_says(one_sample, request_line, status):
    answer = answer_to(one_sample, request_line + b"\r\n\r\n")
    # Garbage is treated as HTTP/0.9, which has no status line.
    assert status in answer.split(b"\r\n")[0] or b"Error code: " + status in answer
    assert (b"sample{" in answer) == (status == b"200")
    assert (b"Allow: GET" in answer) == (status == b"405")
