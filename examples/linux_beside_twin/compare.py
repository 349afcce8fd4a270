"""Compares two to eight transfers into one host: between Linux' stacks over a live fabric, and between the
twin's hosts.

Topology, switch configuration and sizes are the same, and all switches run the same program. Needs root and
Linux, and the environment of `make setup`:

    python examples/linux_beside_twin/compare.py
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from eeon_experiments import store

HERE = Path(__file__).resolve().parent
EXPERIMENT = HERE / "experiment.yaml"
TOPOLOGY = HERE / "topology.yaml"
EEON = (sys.executable, "-m", "eeon_control")
NAME = "lbt"
ADDRESS, BYTES = "10.0.1.3", 8_000_000
"""The receiving host, and the total number of bytes that it receives."""
LINUX = {"reno": "reno", "reno_ecn": "reno", "cubic": "cubic", "cubic_ecn": "cubic"}
"""Values of the axis `algorithm`, and Linux' congestion controls."""
HEADER = "queue | algorithm | flows | by | last ends, s | marked | dropped | sent again | window at the end"
RECEIVE = """
import socket, sys, threading

def take(connection):
    connection.sendall(b"?")
    left = int(sys.argv[2])
    while left:
        left -= len(connection.recv(1 << 16)) or left
    connection.sendall(b"!")
    connection.recv(1)  # The sender closes when it has looked at its connection.

with socket.create_server((sys.argv[1], 5001)) as server:
    print("listening", flush=True)
    # All begin at once, when all are there.
    for connection in [server.accept()[0] for _ in range(int(sys.argv[3]))]:
        threading.Thread(target=take, args=(connection,)).start()
"""
SEND = """
import socket, subprocess, sys, threading

def give(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
    assert connection.recv(1) == b"?"
    connection.sendall(bytes(int(sys.argv[2])))
    assert connection.recv(1) == b"!"

all = [socket.create_connection((sys.argv[1], 5001)) for _ in range(int(sys.argv[4]))]
threads = [threading.Thread(target=give, args=(one,)) for one in all]
for thread in threads: thread.start()
for thread in threads: thread.join()
subprocess.run(["ss", "-tinoH", "dport = :5001"], check=True)
"""


@dataclass(frozen=True)
class Seen:
    """The results of all transfers."""

    seconds: float
    marked: int
    dropped: int
    sent_again: int
    window: float | None = None
    """Mean of the senders' windows at their ends, in segments; only for Linux."""

    def cells(self) -> tuple[str, ...]:
        """Returns the result's cells of the table."""
        counts = (str(self.marked), str(self.dropped), str(self.sent_again))
        return f"{self.seconds:.2f}", *counts, "" if self.window is None else f"{self.window:.1f}"


def eeon(*words: str) -> str:
    """Returns the output of a command. Its stderr goes to the caller's."""
    return subprocess.run((*EEON, *words), check=True, stdout=subprocess.PIPE, text=True).stdout


class Fabric:
    """A live fabric of this topology, as a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.targets = folder / "targets.yaml"
        command = (*EEON, "fabric", "up", str(TOPOLOGY), "--target", "engine", "--rate-scale", "1")
        self._up = subprocess.Popen(
            (*command, "--name", NAME, "--targets", str(self.targets)), stdout=subprocess.DEVNULL
        )

    def __enter__(self) -> Fabric:
        while not (self.targets.exists() and "switches:" in self.targets.read_text()):
            if self._up.poll() is not None:
                sys.exit("no live fabric here; `eeon fabric up` says above why")
            time.sleep(0.1)
        return self

    def __exit__(self, *exception: object) -> None:
        self._up.terminate()
        self._up.wait()

    def configure(self, settings: dict[str, Any]) -> None:
        """Configures the switches with the experiment's base and a queue's settings over it."""
        path = self.folder / "config.yaml"
        path.write_text(yaml.safe_dump(settings))
        state = str(self.folder / "state")
        eeon(
            "config", "apply", "-c", str(path), "-t", str(TOPOLOGY), "-T", str(self.targets), "--state", state
        )

    def counts(self) -> tuple[int, int]:
        """Returns the packets that were marked and dropped since the fabric came up."""
        rows = json.loads(eeon("show", "ecn", "-t", str(TOPOLOGY), "-T", str(self.targets), "-o", "json"))[
            "rows"
        ]
        return sum(row["marked"] for row in rows), sum(
            row["early_dropped"] + row["tail_dropped"] for row in rows
        )

    def transfers(self, congestion_control: str, flows: int) -> Seen:
        """Runs all transfers at once, half of them from each of two hosts."""

        def inside(host: str, code: str, *words: str) -> list[str]:
            python = (sys.executable, "-c", code, ADDRESS, *words)
            return [*EEON, "fabric", "exec", "--name", NAME, host, "--", *python]

        before = self.counts()
        with subprocess.Popen(
            inside("h3", RECEIVE, str(BYTES // flows), str(flows)), stdout=subprocess.PIPE, text=True
        ) as receiver:
            assert receiver.stdout is not None
            receiver.stdout.readline()

            def send(host: str) -> tuple[float, str]:
                words = inside(host, SEND, str(BYTES // flows), congestion_control, str(flows // 2))
                said = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
                # Measured by the kernel: without the start of Python.
                busy = re.findall(r"\bbusy:(\d+)ms", said)
                return max(map(int, busy), default=0) / 1e3, said

            with ThreadPoolExecutor() as threads:
                ended = list(threads.map(send, ("h1", "h2")))
        marked, dropped = (after - was for after, was in zip(self.counts(), before, strict=True))
        again = sum(int(count) for _, said in ended for count in re.findall(r"\bretrans:\d+/(\d+)", said))
        windows = [int(one) for _, said in ended for one in re.findall(r"\bcwnd:(\d+)", said)]
        return Seen(max(seconds for seconds, _ in ended), marked, dropped, again, sum(windows) / len(windows))


def in_the_twin(folder: Path) -> dict[tuple[str, str, str], Seen]:
    """Returns the twin's results by queue, algorithm and number of flows."""
    eeon("experiment", "run", str(EXPERIMENT), "--output", str(folder), "--workers", "1")
    return {
        (str(row.axes["queue"]), str(row.axes["algorithm"]), str(row.axes["flows"])): Seen(
            row.virtual_seconds, row.marked_data,
            sum(value for key, value in row.items() if key.startswith(("early_dropped_", "tail_dropped_"))),
            row.retransmitted_segments,
        )
        for row in store.load(folder).finished
    }  # fmt: skip


def main() -> None:
    """Prints the table."""
    experiment = yaml.safe_load(EXPERIMENT.read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = in_the_twin(folder / "twin")
        print("|", HEADER, "|")
        print("|---" * (HEADER.count("|") + 1) + "|")
        with Fabric(folder) as fabric:
            for (queue, algorithm, flows), seen in ours.items():
                fabric.configure(
                    {**experiment["base"]["config"], **experiment["axes"]["queue"][queue]["config"]}
                )
                linux = fabric.transfers(LINUX[algorithm], int(flows))
                for by, one in (("twin", seen), ("Linux", linux)):
                    print("|", " | ".join((queue, algorithm, flows, by, *one.cells())), "|")


if __name__ == "__main__":
    main()
