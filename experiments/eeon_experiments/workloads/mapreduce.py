"""Hadoop jobs, after MRPerf (Wang et al., MASCOTS 2009): docs/models/mapreduce.md has the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from eeon_control.model_base import Strict
from eeon_control.topology import Topology
from eeon_control.units import Duration
from eeon_control.validation import did_you_mean
from pydantic import BeforeValidator, Field

from eeon_experiments.quantities import (
    AnySizeText,
    ByteRateText,
    DurationText,
    FrequencyText,
    PositiveDurationText,
    ShareText,
    SizeText,
    SmallSizeText,
)
from eeon_experiments.workloads.base import (
    Application,
    Broken,
    Count,
    CountOrNone,
    Number,
    unknown_hosts,
)

if TYPE_CHECKING:
    from eeon_engine.json_types import CostSpec, JobSpec, LocalitySpec, MapReduceSpec

COSTS: dict[str, CostSpec] = {
    # MRPerf's job description of Terasort, in cycles.
    "terasort": {
        "startup_cycles": 4e9,
        "map_cycles_per_byte": 40,
        "sort_cycles_per_byte": 44,
        "merge_cycles": 1e9,
        # It names 4.8e9 for the end of a map, but the call that would spend them is commented out.
        "wrapup_cycles": 0.0,
        "reduce_start_cycles": 6e9,
        "reduce_cycles_per_byte": 90,
    },
}
"""Cost profiles by name."""


class Cost(Strict):
    """CPU work of a job's tasks, in cycles."""

    startup_cycles: Number
    """Of each task, before anything else: the start of its JVM."""
    map_cycles_per_byte: Number
    """Of a map, for each byte of its split."""
    sort_cycles_per_byte: Number
    """Of a map, for each byte of its output."""
    merge_cycles: Number
    """Of a reducer, for its last merge."""
    wrapup_cycles: Number
    """Of a map, at its end."""
    reduce_start_cycles: Number
    """Of a reducer, once it has everything, for its sort."""
    reduce_cycles_per_byte: Number
    """Of a reducer, for each byte that it got."""

    def engine(self) -> CostSpec:
        """Returns the cost as the engine reads it."""
        return {
            "startup_cycles": self.startup_cycles,
            "map_cycles_per_byte": self.map_cycles_per_byte,
            "sort_cycles_per_byte": self.sort_cycles_per_byte,
            "merge_cycles": self.merge_cycles,
            "wrapup_cycles": self.wrapup_cycles,
            "reduce_start_cycles": self.reduce_start_cycles,
            "reduce_cycles_per_byte": self.reduce_cycles_per_byte,
        }


def _named(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value not in COSTS:
        raise ValueError(f"not a cost profile{did_you_mean(value, COSTS)}; there are {', '.join(COSTS)}")
    return COSTS[value]


class Job(Strict):
    """One job. Its name is its key."""

    arrival: DurationText = Duration(0)
    """When it is submitted."""
    maps: Count
    """Map tasks; each reads its share of the input."""
    reducers: Count
    """Reduce tasks."""
    input: SizeText
    """What the maps read."""
    shuffle: AnySizeText
    """What the maps write and the reducers fetch."""
    output: AnySizeText
    """What the reducers write."""
    cost: Annotated[Cost, BeforeValidator(_named)] = Cost(**COSTS["terasort"])
    """CPU work: the name of a profile, or its figures."""

    def engine(self, name: str) -> JobSpec:
        """Returns the job as the engine reads it."""
        return {
            "name": name,
            "arrival_ps": int(self.arrival),
            "maps": self.maps,
            "reducers": self.reducers,
            "input_bytes": int(self.input),
            "shuffle_bytes": int(self.shuffle),
            "output_bytes": int(self.output),
            "cost": self.cost.engine(),
        }


def _parallel(value: object) -> object:
    return None if value == "all" else value


class Locality(Strict):
    """Where input blocks lie."""

    replicas: Count = 3
    """Copies of each block, on seeded hosts. A map without a local one reads its split over TCP."""
    read: Literal["drawn", "nearest"] = "drawn"
    """Which copy it reads: the first as they were drawn, or one under its own leaf where there is one (as
    HDFS)."""

    def engine(self, topology: Topology) -> LocalitySpec:
        """Returns the engine's form."""
        if self.read == "drawn":
            return {"replicas": self.replicas}
        leaves = dict.fromkeys(host.leaf for host in topology.hosts.values())
        racks = [[name for name, host in topology.hosts.items() if host.leaf == leaf] for leaf in leaves]
        return {"replicas": self.replicas, "racks": racks}


class Cluster(Application):
    """A Hadoop cluster: its hosts and settings. Jobs are what subclasses add."""

    workers: Annotated[list[str], Field(min_length=1)] | None = None
    """The hosts of the cluster, default all of the fabric."""
    reserved: CountOrNone = 1
    """How many hosts, from the first on, run no tasks: name node and job tracker."""
    map_slots: Count = 2
    """Maps that a host runs at a time."""
    reduce_slots: Count = 2
    """Reducers that a host runs at a time."""
    heartbeat: PositiveDurationText = Duration(10**12)
    """Interval at which a host reports and is given work."""
    tasks_per_heartbeat: Count = 2
    """Tasks that a host is given at a time."""
    cpu: FrequencyText | None = None
    """Clock of a core; default 2.5GHz."""
    disk_read: ByteRateText | None = None
    """Rate of reading; default 280MiB/s."""
    disk_write: ByteRateText | None = None
    """Rate of writing; default 75MiB/s."""
    parallel_fetches: Annotated[Count | None, BeforeValidator(_parallel)] = 5
    """Fetches of one reducer at a time; `all` is from all maps at once."""
    noise_sigma: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    """Sigma of the log-normal factor on a task's work; default ln 1.10."""
    request: SmallSizeText | None = None
    """Size of a fetch's request; default 280B."""
    slowstart: ShareText = 0.05
    """Share of the maps that must be done before reducers are scheduled."""
    locality: Locality = Locality()
    """Where the input's blocks lie."""
    output_replication: Count = 1
    """Copies of the output; one is written locally, the others over TCP."""

    def worker_hosts(self, topology: Topology) -> list[str]:
        """Returns the hosts that run tasks."""
        return (self.workers or list(topology.hosts))[self.reserved :]

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields hosts that do not exist or are named twice, and a cluster without workers."""
        workers = self.workers or []
        yield from unknown_hosts(((("workers", index), name) for index, name in enumerate(workers)), topology)
        for index, name in enumerate(workers):
            if name in workers[:index]:
                yield ("workers", index), f"{name} is there twice"
        if not self.worker_hosts(topology):
            count = len(self.workers or topology.hosts)
            yield ("reserved",), f"leaves no worker: the cluster has {count} hosts"

    def _own(self, name: str, topology: Topology, seed: int) -> MapReduceSpec:
        spec: MapReduceSpec = {
            "kind": "mapreduce",
            "name": name,
            "workers": self.workers,
            "reserved": self.reserved,
            "map_slots": self.map_slots,
            "reduce_slots": self.reduce_slots,
            "heartbeat_ps": int(self.heartbeat),
            "tasks_per_heartbeat": self.tasks_per_heartbeat,
            "parallel_fetches": self.parallel_fetches,
            "slowstart": self.slowstart,
            "locality": self.locality.engine(topology),
            "output_replication": self.output_replication,
            "jobs": self._jobs(topology, seed),
        }
        if self.cpu is not None:
            spec["cpu_hz"] = int(self.cpu)
        if self.disk_read is not None:
            spec["disk_read_bytes_per_second"] = int(self.disk_read)
        if self.disk_write is not None:
            spec["disk_write_bytes_per_second"] = int(self.disk_write)
        if self.noise_sigma is not None:
            spec["noise_sigma"] = float(self.noise_sigma)
        if self.request is not None:
            spec["request_bytes"] = int(self.request)
        return spec

    def _jobs(self, topology: Topology, seed: int) -> list[JobSpec]:
        raise NotImplementedError


class MapReduce(Cluster):
    """Jobs that are given one by one."""

    kind: Literal["mapreduce"]
    """`mapreduce`."""
    jobs: Annotated[dict[str, Job], Field(min_length=1)]
    """Jobs by name, or a list of them with `name`; first in, first out by arrival."""

    def _jobs(self, topology: Topology, seed: int) -> list[JobSpec]:
        return [job.engine(name) for name, job in self.jobs.items()]
