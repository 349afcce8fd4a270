"""A switch that runs as a separate process, beside ptf or a bench: its ports, start and end."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_START_TIMEOUT_SECS = 20.0
_STOP_TIMEOUT_SECS = 10.0


class DidNotStart(Exception):
    """The switch has ended, does not listen, or is not ready for tests. The text says why."""


@contextmanager
def running(
    command: Sequence[str], port: int, output: Path, cwd: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs the switch, from when it listens on `port`; `output` gets its output. Raises DidNotStart."""
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, cwd=cwd)
    try:
        if not _listens(port, process):
            raise DidNotStart(f"{command[0]} did not start:\n{output.read_text(errors='replace')}")
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_SECS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def found(name: str) -> str | None:
    """Returns the path of a command of this environment, or on PATH: a command in the environment runs in the
    Python that has its dependencies, even if the environment is not active."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)


def free_ports(count: int) -> list[int]:
    """Returns TCP ports that are free at present."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _listens(port: int, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + _START_TIMEOUT_SECS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.1)
    return False
