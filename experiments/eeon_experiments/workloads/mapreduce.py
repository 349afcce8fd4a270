"""Hadoop jobs, after MRPerf (Wang et al., MASCOTS 2009); docs/models/mapreduce.md describes the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from eeon_control.model_base import Strict
from eeon_control.topology import Topology
from eeon_control.units import Duration
from eeon_control.validation import did_you_mean
from pydantic import BeforeValidator, Field

from eeon_experiments.engine_form import Form, engine_form
from eeon_experiments.quantities import (
    AnySizeText,
    ByteRateText,
    DurationText,
    FrequencyText,
    PositiveDurationText,
    ShareText,
    SizeText,
    SmallSizeText,
    none_for,
)
from eeon_experiments.workloads.base import Application, Broken, Count, CountOrNone, Number, unknown_hosts
from eeon_experiments.workloads.queries import racks

if TYPE_CHECKING:
    from eeon_engine.json_types import CostSpec, LocalitySpec

COSTS: dict[str, CostSpec] = {
    # MRPerf's job description of Terasort, in cycles.
    "terasort": {
        "startup_cycles": 4e9,
        "map_cycles_per_byte": 40,
        "sort_cycles_per_byte": 44,
        "merge_cycles": 1e9,
        # It defines 4.8e9 for the end of a map, but the call that would use it is commented out.
        "wrapup_cycles": 0.0,
        "reduce_start_cycles": 6e9,
        "reduce_cycles_per_byte": 90,
    }
}
"""Cost profiles by name."""


class Cost(Strict):
    """CPU work of a job's tasks, in cycles."""

    startup_cycles: Number
    """Cycles of each task before anything else: the start of its JVM."""
    map_cycles_per_byte: Number
    """Cycles of a map task per byte of its split."""
    sort_cycles_per_byte: Number
    """Cycles of a map task per byte of its output."""
    merge_cycles: Number
    """Cycles of a reducer for its last merge."""
    wrapup_cycles: Number
    """Cycles of a map task at its end."""
    reduce_start_cycles: Number
    """Cycles of a reducer for its sort, once it has all data."""
    reduce_cycles_per_byte: Number
    """Cycles of a reducer per byte that it received."""


def _named(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value not in COSTS:
        raise ValueError(f"not a cost profile{did_you_mean(value, COSTS)}; there are {', '.join(COSTS)}")
    return COSTS[value]


class Job(Strict):
    """One job. Its name is its key."""

    arrival: DurationText = Duration(0)
    """Time at which the job is submitted."""
    maps: Count
    """Number of map tasks; each reads its share of the input."""
    reducers: Count
    """Number of reduce tasks."""
    input: SizeText
    """Bytes that the map tasks read."""
    shuffle: AnySizeText
    """Bytes that the map tasks write and the reducers fetch."""
    output: AnySizeText
    """Bytes that the reducers write."""
    cost: Annotated[Cost, BeforeValidator(_named)] = Cost(**COSTS["terasort"])
    """CPU work: the name of a profile, or its values."""


class Locality(Strict):
    """Placement of input blocks."""

    replicas: Count = 3
    """Number of copies of each block, on hosts drawn from the seed. A map task without a local copy reads its
    split over TCP."""
    read: Literal["drawn", "nearest"] = "drawn"
    """Which copy a map task reads: the first one drawn, or one under its own leaf if there is one (as in
    HDFS)."""

    def engine(self, topology: Topology) -> LocalitySpec:
        if self.read == "drawn":
            return {"replicas": self.replicas}
        return {"replicas": self.replicas, "racks": [*racks(topology).values()]}


class Cluster(Application):
    """A Hadoop cluster: its hosts and settings. Subclasses add jobs."""

    workers: Annotated[list[str], Field(min_length=1)] | None = None
    """The hosts of the cluster. The default is all hosts of the fabric."""
    reserved: CountOrNone = 1
    """Number of hosts, from the first on, that run no tasks: name node and job tracker."""
    map_slots: Count = 2
    """Number of map tasks that a host runs at a time."""
    reduce_slots: Count = 2
    """Number of reduce tasks that a host runs at a time."""
    heartbeat: PositiveDurationText = Duration(10**12)
    """Interval at which a host reports and receives work."""
    tasks_per_heartbeat: Count = 2
    """Number of tasks that a host receives at a time."""
    cpu: FrequencyText | None = None
    """Clock of a core; default 2.5GHz."""
    disk_read: ByteRateText | None = None
    """Read rate of the disk; default 280MiB/s."""
    disk_write: ByteRateText | None = None
    """Write rate of the disk; default 75MiB/s."""
    parallel_fetches: Annotated[Count | None, none_for("all")] = 5
    """Number of parallel fetches of one reducer; `all` fetches from all maps at once."""
    noise_sigma: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    """Sigma of the log-normal factor of a task's work; default ln 1.10."""
    request: SmallSizeText | None = None
    """Size of a fetch's request; default 280B."""
    slowstart: ShareText = 0.05
    """Share of the map tasks that must finish before reducers are scheduled."""
    locality: Locality = Locality()
    """Placement of the input's blocks."""
    output_replication: Count = 1
    """Number of copies of the output. One is written locally, the others over TCP."""

    def worker_hosts(self, topology: Topology) -> list[str]:
        """Returns the hosts that run tasks."""
        return (self.workers or list(topology.hosts))[self.reserved :]

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields hosts that do not exist or are named twice, and a cluster without workers."""
        workers = self.workers or []
        yield from unknown_hosts(((("workers", index), name) for index, name in enumerate(workers)), topology)
        for index, name in enumerate(workers):
            if name in workers[:index]:
                yield ("workers", index), f"{name} is listed twice"
        if not self.worker_hosts(topology):
            count = len(self.workers or topology.hosts)
            yield ("reserved",), f"leaves no worker: the cluster has {count} hosts"

    def _own(self, topology: Topology, seed: int) -> Form:
        return {
            **engine_form(self, Cluster.model_fields.keys() - Application.model_fields.keys()),
            "kind": "mapreduce",
            "workers": self.workers,
            "locality": self.locality.engine(topology),
            "jobs": self._jobs(topology, seed),
        }

    def _jobs(self, topology: Topology, seed: int) -> list[Form]:
        raise NotImplementedError


class MapReduce(Cluster):
    """MapReduce jobs, listed one by one."""

    kind: Literal["mapreduce"]
    """`mapreduce`."""
    jobs: Annotated[dict[str, Job], Field(min_length=1)]
    """Jobs by name, or a list of them with `name`; first in, first out by arrival."""

    def _jobs(self, topology: Topology, seed: int) -> list[Form]:
        return [{"name": name, **engine_form(job)} for name, job in self.jobs.items()]
