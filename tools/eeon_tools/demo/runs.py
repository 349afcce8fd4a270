"""The demo's trace, its twelve runs and their numbers.

The configurations are examples that ship with the controller and name their sources: shallow buffers of 300
KB per port (E-EON thesis, 200 packets), RED with its aggressive target delay of 100 us, marking thresholds of
30 KB at 1 Gbit/s and 97.5 KB at 10 Gbit/s. The trace is a small Terasort shuffle, the same in all runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from eeon_control import config as configs
from eeon_control import topology as topologies
from eeon_control.errors import EeonError
from eeon_control.topology import PortRole
from eeon_control.units import Packets

from eeon_tools.errors import ReplayError, ToolsError
from eeon_tools.hops.recording import Recording, acts_from
from eeon_tools.replay.feed import ReadFeed
from eeon_tools.replay.result import RunResult
from eeon_tools.replay.twin_run import ReplaySettings, feed_of, replay
from eeon_tools.report.model import run_model
from eeon_tools.trace.frames import CLASS_NAMES
from eeon_tools.trace.generate import generate
from eeon_tools.trace.manifest import Manifest
from eeon_tools.trace.mapreduce import Shuffle
from eeon_tools.trace.senders import SenderSettings
from eeon_tools.workers import Pool

Model = dict[str, object]
"""The page's data about a run by packet."""

TOPOLOGY = "leaf-spine-4"
TRACE_NAME = "shuffle.pcap"
FULL_FRAME_BYTES = 1514
AQMS = ("drop_tail", "red_ect", "red_ack_syn", "mark_threshold")
EEES = ("off", "standard", "120us100")

JOB = Shuffle(maps=112, reducers=8, split_bytes=1_000_000, startup_ns=2_000_000, heartbeat_ns=5_000_000)
"""A Terasort scaled down so that it takes half a second of virtual time: splits of 1 MB instead of 64,
start-up of 2 ms instead of 1.6 s, heartbeats of 5 ms instead of 1 s. Work per byte, slots, fetches and noise
are MRPerf's and Hadoop's."""

SENDERS = SenderSettings()
"""Windows of 64 KiB (Hadoop's default buffers); senders slow down when 97.5 KB wait before their receiver,
more than twice what the switches under test allow at 1 Gbit/s, so that each AQM has work to do."""


@dataclass(frozen=True)
class DemoRun:
    """One of the twelve runs."""

    aqm: str
    eee: str

    @property
    def name(self) -> str:
        """`red_ect, eee standard`."""
        return f"{self.aqm}, eee {self.eee}"

    def settings(self, trace: Path) -> ReplaySettings:
        return ReplaySettings(self.name, trace, TOPOLOGY, (self.aqm, f"eee_{self.eee}"))


RUNS = tuple(DemoRun(aqm, eee) for aqm in AQMS for eee in EEES)
SHOWN = (DemoRun("mark_threshold", "120us100"), DemoRun("red_ect", "standard"))
"""The runs that the page shows in detail: a threshold with coalesced sleep, and the present practice. Each
takes as much time as six replays, most of it for the page, so all of them would make the demo long."""


def acts_from_bytes(aqm: str) -> int:
    """Returns the depth of a host-facing queue, in bytes, from which an AQM of the demo marks or drops.

    Thresholds in packets count as full frames.
    """
    topology = topologies.load(TOPOLOGY)
    port = next(port for port in topology.ports() if port.role is PortRole.HOST_FACING)
    config = configs.load(aqm)
    found = acts_from(config, port) or config.settings_of(port).queue.buffer_bytes
    return int(found) * (FULL_FRAME_BYTES if isinstance(found, Packets) else 1)


def make_trace(folder: Path, seed: int) -> tuple[Path, Manifest]:
    path = folder / TRACE_NAME
    return path, generate(path, topologies.load(TOPOLOGY), JOB, SENDERS, seed)


def run_one(run: DemoRun, trace: Path) -> RunResult:
    return replay(run.settings(trace), feed=_feed(trace))


def look_into(run: DemoRun, trace: Path) -> Model:
    """Returns the page's data about a run by packet, from the same run again with every packet recorded."""
    recordings: list[Recording] = []
    result = replay(run.settings(trace), recorded=recordings.append, feed=_feed(trace))
    return run_model(recordings[0], result, len(SHOWN))


@lru_cache(maxsize=1)
def _feed(trace: Path) -> ReadFeed:
    """Returns the feed that all runs of the demo share; a worker reads it once."""
    return ReadFeed(feed_of(RUNS[0].settings(trace), topologies.load(TOPOLOGY)))


def run_all(trace: Path, count: int) -> Generator[tuple[DemoRun, RunResult | Model], None, None]:
    """Executes all runs, `count` at a time, and yields their results as they arrive; then the page's data
    about the runs in SHOWN. Raises ReplayError for a run that failed."""
    # The page's data come last, so that the table and the picture do not wait for them.
    jobs: list[_Job] = [(run_one, run, trace) for run in RUNS]
    jobs += [(look_into, run, trace) for run in SHOWN]
    with closing(Pool(_done, count, _died)) as pool:
        for run, found in pool.run(jobs):
            if isinstance(found, ReplayError):
                raise found
            yield run, found


_Job = tuple[Callable[[DemoRun, Path], RunResult | Model], DemoRun, Path]


def _done(job: _Job) -> tuple[DemoRun, RunResult | Model | ReplayError]:
    work, run, trace = job
    try:
        return run, work(run, trace)
    except (ToolsError, EeonError, OSError) as error:
        # Not every one of them can be sent to another process.
        return run, ReplayError(str(error))


def _died(job: _Job, cause: str) -> tuple[DemoRun, RunResult | Model | ReplayError]:
    _, run, _ = job
    return run, ReplayError(f"the process of the run `{run.name}` {cause}")


def summarise(seed: int, runs: Sequence[tuple[DemoRun, RunResult]]) -> str:
    """Returns the text of summary.json: the numbers in a fixed format, in which latencies of a class without
    deliveries are null. Raises ReplayError if the runs used different traces or programs."""
    digests = {result.program_digest for _, result in runs}
    traces = {(result.trace, result.trace_sha256) for _, result in runs}
    if len(digests) != 1 or len(traces) != 1:
        raise ReplayError("the trace or the P4 program changed while the demo ran; run it again")
    document = {
        "program_digest": digests.pop(),
        "trace": traces.pop()[0],
        "seed": seed,
        "runs": [
            {
                "name": run.name,
                "aqm": run.aqm,
                "eee": run.eee,
                "packets": {name: asdict(result.packets[name]) for name in CLASS_NAMES},
                "latency_us": {name: asdict(result.latency_us[name]) for name in CLASS_NAMES},
                "energy_joules": asdict(result.energy_joules),
                "reordered": result.reordered,
                "wall_seconds": round(result.wall_seconds, 3),
                "p4_passes": result.p4_passes,
            }
            for run, result in runs
        ],
    }
    return json.dumps(document, indent=2) + "\n"
