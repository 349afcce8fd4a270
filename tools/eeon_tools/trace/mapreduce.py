"""The shuffle of one MapReduce job, after MRPerf (Wang et al., MASCOTS 2009): which fetch starts when.

    heartbeat: a host with a free map slot is given the next input split
    map:       start-up + split bytes * cycles a byte / clock, times log-normal noise
    announce:  a finished map becomes known at its host's next heartbeat
    reduce:    each reducer fetches its partition of every announced map, at most `parallel_fetches` at a
    time,
               in an order of its own (shuffled, as Hadoop does, so that reducers do not all turn to the same
               host)
    partition: split bytes * output ratio / reducers, the same for every reducer

What is left out: disks, the sort and reduce phases and the output (they follow the shuffle and send nothing
when the output is written locally), speculative execution, failures, and the job's own RPCs. Input splits are
local. A partition that lies on the reducer's own host is read locally: it takes no time and no packet, and is
counted. docs/models/shuffle.md gives equations, sources and defaults.

Deterministic: one stream of random numbers, seeded, used in a fixed order; noise is drawn per map at the
start and fetch orders per reducer, so that a change of timing changes no draw.
"""

from __future__ import annotations

import math
import random
from collections import deque
from dataclasses import asdict, dataclass
from functools import partial

from eeon_tools.errors import InputError
from eeon_tools.trace.segments import Fetch, SegmentModel

MAX_HEARTBEATS = 10_000_000
"""Heartbeats of all hosts together until the last map ends; more would take minutes to no end."""
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ShuffleSettings:
    """One job. Defaults are MRPerf's Terasort (its `job.tcl`) unless said otherwise."""

    maps: int
    """Number of map tasks; the thesis's Terasort on 160 nodes has 100."""
    reducers: int
    """Number of reduce tasks, placed round robin over the hosts; the thesis has 159."""
    split_bytes: int
    """Input of one map. HDFS block: 64 MB in the thesis."""
    output_ratio: float = 1.0
    """Map output bytes per input byte; 1 for Terasort."""
    parallel_fetches: int = 5
    """Fetches of one reducer at a time. Hadoop's mapreduce.reduce.shuffle.parallelcopies; MRPerf itself uses
    the number of nodes, which gives the worst incast."""
    map_slots: int = 2
    """Maps that one host runs at a time (thesis section 5.2)."""
    startup_ns: int = 1_600_000_000
    """Start of a task's JVM: 4e9 cycles at 2.5 GHz."""
    cycles_per_byte: float = 84.0
    """Map 40 and sort 44 cycles a byte."""
    clock_hz: float = 2.5e9
    """Clock of a core."""
    noise_sigma: float = 0.0953
    """Sigma of the log-normal factor on a map's time: ln 1.10."""
    heartbeat_ns: int = 1_000_000_000
    """Interval at which a host reports and is given work; each host's first one is at a seeded phase."""


class Shuffle:
    """The workload of one job for the segment model."""

    kind = "shuffle"

    def __init__(self, settings: ShuffleSettings, hosts: int, seed: int) -> None:
        if hosts < 2:
            raise ValueError("a shuffle needs at least two hosts")
        self._settings = settings
        self._hosts = hosts
        draw = random.Random(f"shuffle {seed}")
        self._phase_ns = [draw.randrange(settings.heartbeat_ns) for _ in range(hosts)]
        self._map_ns = [self._map_time(draw.gauss(0.0, settings.noise_sigma)) for _ in range(settings.maps)]
        self._check_heartbeats()
        self._reducers = [
            _Reducer(index % self._hosts, draw.getrandbits(64)) for index in range(settings.reducers)
        ]
        self._waiting = deque(range(settings.maps))
        self._running = [0] * self._hosts
        self._finished = [0] * self._hosts
        self._partition = max(1, round(settings.split_bytes * settings.output_ratio / settings.reducers))
        self.local_bytes = 0
        """Partitions that a reducer found on its own host."""
        self.fetches = 0
        self.last_fetch_ns = 0
        self._model: SegmentModel

    def settings(self) -> dict[str, object]:
        """For the manifest: the job, and what became of it when the trace was made."""
        outcome = {
            "partition_bytes": self._partition,
            "fetches": self.fetches,
            "local_bytes": self.local_bytes,
            "shuffle_ends_ns": self.last_fetch_ns,
        }
        return {"job": asdict(self._settings), "outcome": outcome}

    def start(self, model: SegmentModel) -> None:
        """Sets every host's first heartbeat."""
        self._model = model
        for host in range(self._hosts):
            self._heartbeat_at(host, self._phase_ns[host])

    def _map_time(self, normal: float) -> int:
        settings = self._settings
        compute = settings.split_bytes * settings.cycles_per_byte / settings.clock_hz * _NS_PER_S
        return int((settings.startup_ns + compute) * math.exp(normal))

    def _check_heartbeats(self) -> None:
        settings = self._settings
        waves = math.ceil(settings.maps / (self._hosts * settings.map_slots))
        heartbeats = self._hosts * (waves * max(self._map_ns) // settings.heartbeat_ns)
        if heartbeats > MAX_HEARTBEATS:
            raise InputError(
                "the shuffle's heartbeat",
                f"{settings.heartbeat_ns} ns",
                f"maps of up to {max(self._map_ns) / _NS_PER_S:g} s in {waves} waves on {self._hosts} hosts "
                f"take {heartbeats} heartbeats, more than {MAX_HEARTBEATS}; make it longer or maps shorter",
            )

    def _heartbeat_at(self, host: int, when: int) -> None:
        self._model.at(when, lambda now: self._heartbeat(host, now))

    def _heartbeat(self, host: int, now: int) -> None:
        for _ in range(self._finished[host]):
            self._announce(host, now)
        self._finished[host] = 0
        while self._waiting and self._running[host] < self._settings.map_slots:
            map_task = self._waiting.popleft()
            self._running[host] += 1
            self._model.at(now + self._map_ns[map_task], lambda _: self._map_done(host))
        if self._running[host] or self._finished[host] or self._waiting:
            self._heartbeat_at(host, now + self._settings.heartbeat_ns)

    def _map_done(self, host: int) -> None:
        self._running[host] -= 1
        self._finished[host] += 1

    def _announce(self, host: int, now: int) -> None:
        for reducer in self._reducers:
            reducer.known.append(host)
            self._fetch_more(reducer, now)

    def _fetch_more(self, reducer: _Reducer, now: int) -> None:
        while reducer.known and reducer.fetching < self._settings.parallel_fetches:
            source = reducer.next_source()
            if source == reducer.host:
                self.local_bytes += self._partition
                continue
            reducer.fetching += 1
            self.fetches += 1
            self._model.fetch(Fetch(reducer.host, source, self._partition), partial(self._fetched, reducer))

    def _fetched(self, reducer: _Reducer, now: int) -> None:
        reducer.fetching -= 1
        self.last_fetch_ns = now
        self._fetch_more(reducer, now)


class _Reducer:
    """One reduce task while it shuffles. `known`: hosts of map outputs that are announced and not yet asked
    for."""

    __slots__ = ("_draw", "fetching", "host", "known")

    def __init__(self, host: int, seed: int) -> None:
        self.host = host
        self.known: list[int] = []
        self.fetching = 0
        self._draw = random.Random(seed)

    def next_source(self) -> int:
        """Returns the host of a known output, taken at random (Hadoop shuffles the hosts that it fetches
        from)."""
        index = self._draw.randrange(len(self.known))
        self.known[index], self.known[-1] = self.known[-1], self.known[index]
        return self.known.pop()
