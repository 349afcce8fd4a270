"""Live fabrics for tests: whether they are possible, and a fabric that another process has brought up."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from eeon_tools.errors import UnavailableError
from eeon_tools.live import network, state

from control_plane.tests.eeon_command import eeon as in_this_process

EEON = (sys.executable, "-m", "eeon_control")
PEER = Path(__file__).with_name("tcp_over_fabric.py")
SECS = 120.0
HAS_BMV2 = shutil.which("simple_switch_grpc") is not None

MARKING = """
profiles:
  queue: {shallow: {buffer: 300KB, aqm: {mode: mark_threshold, threshold: 15KB}}}
roles: {host_facing: {queue: shallow}, uplink: {queue: shallow}, spine: {queue: shallow}}
"""


def why_not() -> str | None:
    """Returns the reason why no live fabric can be created here; None if there is none."""
    try:
        network.check_possible()
    except UnavailableError as error:
        return str(error)
    if shutil.which("ss") is None:
        return "ss (package iproute2) is not on PATH"
    probe = f"eeonprobe{os.getpid() % 100_000}"
    made = subprocess.run(("ip", "netns", "add", probe), check=False, capture_output=True, text=True)
    if made.returncode == 0:
        subprocess.run(("ip", "netns", "delete", probe), check=True)
        return None
    return f"no network namespace can be made: {made.stderr.strip()}"


_why_not = why_not()
NEEDS_FABRIC = [
    pytest.mark.system,
    pytest.mark.skipif(_why_not is not None, reason=f"a live fabric: {_why_not}"),
]
"""The marks of a test that brings a fabric up."""


@dataclass
class Fabric:
    """A fabric that another process has brought up."""

    name: str
    targets: Path
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def topology(self) -> Path:
        return state.folder(self.name) / "topology.yaml"

    @staticmethod
    def eeon(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run((*EEON, *words), check=False, capture_output=True, text=True, timeout=SECS)
        assert not check or done.returncode == 0, done.stderr + done.stdout
        return done

    def apply(self, *configs: str) -> None:
        given = [word for config in configs for word in ("-c", config)]
        place = ("-t", str(self.topology), "-T", str(self.targets), "--state", str(self.folder / "state"))
        in_this_process("config", "apply", *place, *given, code=0)

    def show(self, what: str) -> list[dict[str, Any]]:
        place = ("-t", str(self.topology), "-T", str(self.targets))
        shown = in_this_process("show", what, *place, "-o", "json", code=0)
        return json.loads(shown.stdout)["rows"]

    def transfer(self, source: str, destination: str, address: str, count: int) -> dict[str, Any]:
        """Sends `count` bytes; returns the sender's report after the receiver has reported the same sum."""
        inside = (*EEON, "fabric", "exec", "--name", self.name)
        command = (*inside, destination, "--", sys.executable, str(PEER), "receive", address, str(count))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as receiver:
            try:
                assert receiver.stdout.readline() == "listening\n"
                sender = self.eeon(
                    *("fabric", "exec", "--name", self.name, source, "--"),
                    *(sys.executable, str(PEER), "send", address, str(count)),
                )
                received = json.loads(receiver.stdout.readline())
            finally:
                receiver.kill()
        sent = json.loads(sender.stdout)
        assert (received["sha256"], received["bytes"]) == (sent["sha256"], count)
        return sent


def until(condition: Callable[[], bool], why: str = "") -> None:
    """Waits for a condition; `why` is what is wrong if it never holds."""
    deadline = time.monotonic() + SECS
    while not condition():
        assert time.monotonic() < deadline, why
        time.sleep(0.1)


def _bring_up(folder: Path, name: str, *options: str, target: str = "engine") -> Fabric:
    """Starts `eeon fabric up` and waits until the fabric is up."""
    targets = folder / "targets.yaml"
    command = (*EEON, "fabric", "up", "leaf-spine-4", "--target", target, "--name", name, *options)
    with (folder / "up.txt").open("wb") as output:
        process = subprocess.Popen(
            (*command, "--targets", str(targets)),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def is_up() -> bool:
        assert process.poll() is None, (folder / "up.txt").read_text()
        return targets.exists() and "switches:" in targets.read_text()

    until(is_up)
    return Fabric(name, targets, folder, process)


def remains(name: str) -> list[str]:
    """Returns the namespaces and interfaces with a fabric's names."""
    found = [path.name for path in Path("/run/netns").glob(f"{name}-*")]
    return found + [path.name for path in Path("/sys/class/net").glob(f"{name}[0-9]*p*")]


@contextlib.contextmanager
def brought_up(folder: Path, name: str, *options: str, **settings: Any) -> Iterator[Fabric]:
    """Yields a fabric; at the end of the block it must end without an error and leave nothing behind."""
    up = _bring_up(folder, name, *options, **settings)
    try:
        yield up
    finally:
        up.process.send_signal(signal.SIGTERM)
        status = up.process.wait(SECS)
        left = remains(up.name)
        up.eeon("fabric", "down", "--name", up.name, check=False)
    assert status == 0
    assert left == []
