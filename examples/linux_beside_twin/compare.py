"""Two transfers into one host between Linux' own stacks over a live fabric, and between ours in the twin.

The same topology, switch configuration and sizes; the switches of both run the same program. Needs root and
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
ADDRESS, BYTES = "10.0.1.3", 4_000_000
LINUX = {"reno": "reno", "reno_ecn": "reno", "cubic": "cubic"}
"""Our names of axis `algorithm`, and Linux' congestion controls."""
HEADER = ("queue", "algorithm", "by", "last ends, s", "marked", "dropped", "sent again")
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
    # Both begin at once, when both are there.
    for connection in [server.accept()[0] for _ in range(2)]:
        threading.Thread(target=take, args=(connection,)).start()
"""
SEND = """
import socket, subprocess, sys
with socket.create_connection((sys.argv[1], 5001)) as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
    assert connection.recv(1) == b"?"
    connection.sendall(bytes(int(sys.argv[2])))
    assert connection.recv(1) == b"!"
    subprocess.run(["ss", "-tinoH", "dport = :5001"], check=True)
"""


@dataclass(frozen=True)
class Seen:
    """What came of the two transfers."""

    seconds: float
    marked: int
    dropped: int
    sent_again: int

    def cells(self) -> tuple[str, ...]:
        """As the table has them."""
        return f"{self.seconds:.2f}", str(self.marked), str(self.dropped), str(self.sent_again)


def eeon(*words: str) -> str:
    """Returns what a command prints. Its stderr goes to the caller's."""
    return subprocess.run((*EEON, *words), check=True, stdout=subprocess.PIPE, text=True).stdout


class Fabric:
    """A live fabric of this topology, until it is left."""

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
        """Give the switches the configuration of the experiment's base under that of a queue."""
        path = self.folder / "config.yaml"
        path.write_text(yaml.safe_dump(settings))
        state = str(self.folder / "state")
        eeon(
            "config", "apply", "-c", str(path), "-t", str(TOPOLOGY), "-T", str(self.targets), "--state", state
        )

    def counts(self) -> tuple[int, int]:
        """Packets that were marked and dropped since the fabric came up."""
        rows = json.loads(eeon("show", "ecn", "-t", str(TOPOLOGY), "-T", str(self.targets), "-o", "json"))[
            "rows"
        ]
        return sum(row["marked"] for row in rows), sum(
            row["early_dropped"] + row["tail_dropped"] for row in rows
        )

    def transfers(self, congestion_control: str) -> Seen:
        """Both, at once."""

        def inside(host: str, code: str, *words: str) -> list[str]:
            python = (sys.executable, "-c", code, ADDRESS, *words)
            return [*EEON, "fabric", "exec", "--name", NAME, host, "--", *python]

        before = self.counts()
        with subprocess.Popen(
            inside("h3", RECEIVE, str(BYTES)), stdout=subprocess.PIPE, text=True
        ) as receiver:
            assert receiver.stdout is not None
            receiver.stdout.readline()

            def send(host: str) -> tuple[float, str]:
                words = inside(host, SEND, str(BYTES), congestion_control)
                said = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
                # As the kernel counted: without the start of Python.
                busy = re.search(r"\bbusy:(\d+)ms", said)
                return (int(busy[1]) / 1e3 if busy else 0.0), said

            with ThreadPoolExecutor() as threads:
                ended = list(threads.map(send, ("h1", "h2")))
        marked, dropped = (after - was for after, was in zip(self.counts(), before, strict=True))
        again = sum(int(count) for _, said in ended for count in re.findall(r"\bretrans:\d+/(\d+)", said))
        return Seen(max(seconds for seconds, _ in ended), marked, dropped, again)


def in_the_twin(folder: Path) -> dict[tuple[str, str], Seen]:
    """By queue and algorithm, what came of ours."""
    eeon("experiment", "run", str(EXPERIMENT), "--output", str(folder), "--workers", "1")
    return {
        (str(row.axes["queue"]), str(row.axes["algorithm"])): Seen(
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
        print("|", " | ".join(HEADER), "|")
        print("|---" * len(HEADER) + "|")
        with Fabric(folder) as fabric:
            for (queue, algorithm), seen in ours.items():
                fabric.configure(
                    {**experiment["base"]["config"], **experiment["axes"]["queue"][queue]["config"]}
                )
                linux = fabric.transfers(LINUX[algorithm])
                for by, one in (("twin", seen), ("Linux", linux)):
                    print("|", " | ".join((queue, algorithm, by, *one.cells())), "|")


if __name__ == "__main__":
    main()
