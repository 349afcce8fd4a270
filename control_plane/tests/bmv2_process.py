"""A simple_switch_grpc process on free ports, without interfaces. For tests only."""

import contextlib
import random
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_START_SECONDS = 60.0


@dataclass(frozen=True)
class Bmv2:
    """A running switch: its P4Runtime and Thrift addresses."""

    address: str
    thrift: str


def free_port() -> int:
    """Returns a TCP port of loopback that is free now.

    It is below Linux's range of ports for clients (32768 and above), so that no client of another test has it
    when a switch starts or restarts.
    """
    while True:
        port = random.SystemRandom().randrange(12_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def start_bmv2(folder: Path, *, program: str = "--no-p4", grpc_options: Sequence[str] = ()) -> Iterator[Bmv2]:
    """Runs a switch in its context, in which both of its ports answer. Its log is in `folder`."""
    found = Bmv2(f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}")
    command = ["simple_switch_grpc", program, "--device-id", "1", "--log-console"]
    command += ["--thrift-port", found.thrift.rpartition(":")[2]]
    command += ["--notifications-addr", f"ipc://{folder}/bmv2.ipc"]
    command += ["--", "--grpc-server-addr", found.address, "--cpu-port", "510", *grpc_options]
    path = folder / "bmv2.log"
    with path.open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            for address in (found.address, found.thrift):
                wait_for(process, address, path)
            yield found
        finally:
            process.terminate()
            process.wait(30)


def wait_for(process: subprocess.Popen[bytes], address: str, log: Path | None = None) -> None:
    """Returns when a process listens on an address; its log is told if it never does."""
    host, _, port = address.rpartition(":")
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
            return
        time.sleep(0.05)
    said = log.read_text()[-2000:] if log else ""
    raise TimeoutError(f"simple_switch_grpc does not listen on {address}: {said}")
