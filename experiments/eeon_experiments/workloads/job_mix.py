"""Small jobs that arrive at random and keep a given share of a cluster's cores busy: `kind: job_mix`.

A mix is converted to the jobs of one MapReduce application. Arrivals are a Poisson process over the time
`arrivals`, conditioned on the number of jobs that the load requires: that many uniform times, in order,
counted from the first. The kinds have their shares, as exactly as whole jobs allow, in random order. Each
seed thus offers the same load at other times.

    jobs = load * workers * cores * arrivals / mean core time of a job, at least one of each kind

The load is the share of all cores that work while jobs arrive; work after the last arrival is not included. A
core works for a task from its start to its end, except while the task reads, fetches or writes.

Sources: EEE-MapReduce paper, tables II and III (10 maps and 1 reduce per job, 64 MB blocks; Terasort, Search
and Index one third each, 640 MB of input; 40 % load), thesis section 4.2.2 and table 4.2. Cycles are MRPerf's
(Wang et al., MASCOTS 2009): its Search and Index are Terasort with less output, and Search's map takes 4 to
400 cycles per byte, log-uniformly distributed, of which 40, Terasort's own, is the median.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Literal

from eeon_control.topology import Topology
from eeon_control.units import Bytes, Duration
from pydantic import Field

from eeon_experiments.engine_form import Form
from eeon_experiments.quantities import PositiveDurationText, PositiveShareText, SizeText
from eeon_experiments.workloads.base import Broken, Count
from eeon_experiments.workloads.mapreduce import COSTS, Cluster

PICOSECONDS = 10**12
MAX_JOBS = 10_000
_DEFAULT_CLOCK_HZ = 2_500_000_000

Kind = Literal["terasort", "search", "index"]
Share = Annotated[int, Field(strict=True, ge=0, le=1000)]


_COST = COSTS["terasort"]
_OUTPUT = {"terasort": Fraction(1), "search": Fraction(33, 640_000), "index": Fraction(114, 640)}
"""Bytes that the maps of each kind write, and so do its reducers, per byte of input (table III)."""


class JobMix(Cluster):
    """Jobs in random order at random times, at the rate that keeps a given share of the cores busy."""

    kind: Literal["job_mix"]
    """`job_mix`."""
    load: PositiveShareText
    """Share of all workers' cores that are busy while jobs arrive, for example 40%. At least one job of each
    kind arrives, however low the load."""
    arrivals: PositiveDurationText
    """Time for which jobs arrive."""
    shares: dict[Kind, Share] = Field(default={"terasort": 1, "search": 1, "index": 1}, min_length=1)
    """Relative number of jobs of each kind."""
    maps: Count = 10
    """Number of map tasks per job."""
    reducers: Count = 1
    """Number of reduce tasks per job."""
    block: SizeText = Bytes(64_000_000)
    """Input of one map task."""
    cores: Count = 4
    """Number of cores per worker. The papers' nodes have two processors with two cores."""

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields a load that no mix can have, and the cluster's problems."""
        yield from super().broken(topology)
        if not any(self.shares.values()):
            yield ("shares",), "all are zero: no job would ever arrive"
        elif (wanted := self._wanted(topology)) > MAX_JOBS:
            yield (
                ("arrivals",),
                f"a load of {self.load:.0%} for {Duration(self.arrivals)} is {wanted:.0f} jobs, more "
                f"than {MAX_JOBS}; shorten it, or make the jobs larger",
            )

    def counts(self, topology: Topology) -> dict[str, int]:
        """Returns the number of arriving jobs of each kind."""
        wanted, total = self._wanted(topology), math.fsum(self.shares.values())
        return {name: max(1, round(wanted * share / total)) for name, share in self.shares.items() if share}

    def core_seconds(self, name: str) -> float:
        """Returns the core seconds of all tasks of a job of this kind, without noise."""
        read = self.maps * int(self.block)
        shuffled = float(read * _OUTPUT[name])
        of_maps = (
            self.maps * (_COST["startup_cycles"] + _COST["wrapup_cycles"])
            + read * _COST["map_cycles_per_byte"]
            + shuffled * _COST["sort_cycles_per_byte"]
        )
        of_reducers = (
            self.reducers * (_COST["startup_cycles"] + _COST["merge_cycles"] + _COST["reduce_start_cycles"])
            + shuffled * _COST["reduce_cycles_per_byte"]
        )
        return (of_maps + of_reducers) / (self.cpu or _DEFAULT_CLOCK_HZ)

    def _wanted(self, topology: Topology) -> float:
        total = math.fsum(self.shares.values())
        mean = math.fsum(self.core_seconds(name) * share for name, share in self.shares.items()) / total
        cores = len(self.worker_hosts(topology)) * self.cores
        return self.load * cores * (int(self.arrivals) / PICOSECONDS) / mean

    def _jobs(self, topology: Topology, seed: int) -> list[Form]:
        counts = self.counts(topology)
        draw = random.Random(f"job mix {seed}")
        kinds = [name for name in sorted(counts) for _ in range(counts[name])]
        draw.shuffle(kinds)
        times = sorted(draw.randrange(int(self.arrivals)) for _ in kinds)
        numbered = enumerate(zip(kinds, times, strict=True), start=1)
        return [self._job(f"{name}_{number}", name, at - times[0]) for number, (name, at) in numbered]

    def _job(self, name: str, kind: str, arrival_ps: int) -> Form:
        read = self.maps * int(self.block)
        written = max(1, round(read * _OUTPUT[kind]))
        return {
            "name": name,
            "arrival_ps": arrival_ps,
            "maps": self.maps,
            "reducers": self.reducers,
            "input_bytes": read,
            "shuffle_bytes": written,
            "output_bytes": written,
            "cost": {**_COST},
        }
