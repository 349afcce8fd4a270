"""Jobs for tests, and the memory that a process needs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from eeon_control.topology import Host
from eeon_tools.trace.mapreduce import Shuffle

if TYPE_CHECKING:
    from eeon_engine.json_types import CoflowsSpec


def small_job(maps: int = 4, split_bytes: int = 200_000) -> Shuffle:
    """Returns a job that takes milliseconds on four hosts."""
    return Shuffle(
        maps=maps, reducers=4, split_bytes=split_bytes, startup_ns=1_000_000, heartbeat_ns=1_000_000
    )


def peak_kib(script: str, *arguments: object) -> tuple[int, str]:
    """Returns the peak memory of a separate Python process, in KiB, and its output.

    `ru_maxrss` is not suitable: it starts with the parent's memory at the fork, and pytest is large.
    """
    report = (
        "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    command = [sys.executable, "-c", script + report, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    *printed, peak = done.stdout.splitlines()
    return int(peak), "\n".join(printed)


@dataclass(frozen=True)
class Transfers:
    """Transfers that begin at the same time: indices of the sending and the receiving host, and bytes."""

    kind: ClassVar[str] = "transfers"

    transfers: tuple[tuple[int, int, int], ...]

    def settings(self) -> dict[str, object]:
        return {}

    def application(self, hosts: list[Host]) -> CoflowsSpec:
        found = [
            {"source": hosts[source].name, "destination": hosts[destination].name, "bytes": size}
            for source, destination, size in self.transfers
        ]
        return {"kind": "coflows", "name": "transfers", "coflows": [{"name": "one", "transfers": found}]}


INCAST = Transfers(
    tuple(one for other in (1, 2, 3) for one in ((other, 0, 150_000), (0, other, 50_000)) for _ in range(3))
)
"""Every other host sends to host 0 at the same time, while host 0 itself sends to all of them."""
