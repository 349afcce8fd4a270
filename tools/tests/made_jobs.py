"""Jobs for tests, and how much memory a process needs."""

from __future__ import annotations

import subprocess
import sys

from eeon_tools.trace.mapreduce import ShuffleSettings
from eeon_tools.trace.segments import Fetch, SegmentModel


def small_job(maps: int = 4, split_bytes: int = 200_000) -> ShuffleSettings:
    """A job of milliseconds on four hosts."""
    return ShuffleSettings(
        maps=maps, reducers=4, split_bytes=split_bytes, startup_ns=1_000_000, heartbeat_ns=1_000_000
    )


def peak_kib(script: str, *arguments: object) -> tuple[int, str]:
    """Maximum memory that a Python process of its own ever had in use, in KiB, and what it printed.

    `ru_maxrss` would not do: it starts from what the parent had at the fork, and pytest is large.
    """
    report = (
        "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    command = [sys.executable, "-c", script + report, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    *printed, peak = done.stdout.splitlines()
    return int(peak), "\n".join(printed)


class Incast:
    """Every other host answers host 0 at once, while host 0 itself sends to all of them."""

    kind = "incast"

    def settings(self) -> dict[str, object]:
        return {}

    def start(self, model: SegmentModel) -> None:
        def begin(_: int) -> None:
            for other in (1, 2, 3):
                for _ in range(3):
                    model.fetch(Fetch(0, other, 150_000))
                    model.fetch(Fetch(other, 0, 50_000))

        model.at(0, begin)
