"""The shuffle of one MapReduce job, run by the engine's cluster (docs/models/mapreduce.md).

All that sends nothing is removed: all input is local, disks and reduce functions take no time, there is no
output, and reducers run from the start. docs/models/shuffle.md has the parameters with their sources.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from eeon_control.topology import Host

if TYPE_CHECKING:
    from eeon_engine.json_types import MapReduceSpec

_MAX_REPLICAS = 1024
_NO_TIME = 1e15
# The engine's fastest disk, in bytes per second.
_NS_PER_S = 1_000_000_000
_PS_PER_NS = 1000


@dataclass(frozen=True)
class Shuffle:
    """One job. Defaults are those of MRPerf's Terasort (its `job.tcl`) unless stated otherwise."""

    kind: ClassVar[str] = "shuffle"

    maps: int
    """Number of map tasks; the thesis's Terasort on 160 nodes has 100."""
    reducers: int
    """Number of reduce tasks, equal on each host; the thesis has 159."""
    split_bytes: int
    """Input of one map task. The thesis has HDFS blocks of 64 MB."""
    output_ratio: float = 1.0
    """Bytes of map output for each byte of input; 1 for Terasort."""
    parallel_fetches: int = 5
    """Simultaneous fetches of one reducer. Hadoop's mapreduce.reduce.shuffle.parallelcopies; MRPerf itself
    uses the number of nodes, which gives the worst incast."""
    map_slots: int = 2
    """Number of maps that one host runs at a time (thesis section 5.2)."""
    startup_ns: int = 1_600_000_000
    """Start of a task's JVM: 4e9 cycles at 2.5 GHz."""
    cycles_per_byte: float = 84.0
    """Map 40 and sort 44 cycles per byte."""
    clock_hz: float = 2.5e9
    """Clock of a core."""
    noise_sigma: float = 0.0953
    """Sigma of the log-normal factor on a task's time: ln 1.10."""
    heartbeat_ns: int = 1_000_000_000
    """Interval at which a host reports and gets tasks; the seed sets the phase of each host's first one."""

    def settings(self) -> dict[str, object]:
        return {"job": asdict(self)}

    def application(self, hosts: list[Host]) -> MapReduceSpec:
        reducers_a_host = -(-self.reducers // len(hosts))
        return {
            "kind": "mapreduce",
            "name": "shuffle",
            "reserved": 0,
            "map_slots": self.map_slots,
            "reduce_slots": reducers_a_host,
            "tasks_per_heartbeat": max(self.map_slots, reducers_a_host),
            "heartbeat_ps": self.heartbeat_ns * _PS_PER_NS,
            "parallel_fetches": self.parallel_fetches,
            "cpu_hz": self.clock_hz,
            "disk_read_bytes_per_second": _NO_TIME,
            "disk_write_bytes_per_second": _NO_TIME,
            "noise_sigma": self.noise_sigma,
            "slowstart": 0.0,
            "locality": {"replicas": min(len(hosts), _MAX_REPLICAS)},
            "jobs": [
                {
                    "name": "job",
                    "maps": self.maps,
                    "reducers": self.reducers,
                    "input_bytes": self.maps * self.split_bytes,
                    "shuffle_bytes": round(self.maps * self.split_bytes * self.output_ratio),
                    "output_bytes": 0,
                    "cost": {
                        "startup_cycles": self.startup_ns * self.clock_hz / _NS_PER_S,
                        "map_cycles_per_byte": self.cycles_per_byte,
                        "sort_cycles_per_byte": 0.0,
                        "merge_cycles": 0.0,
                        "reduce_start_cycles": 0.0,
                        "reduce_cycles_per_byte": 0.0,
                    },
                }
            ],
        }
