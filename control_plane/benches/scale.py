"""How long a large fabric takes to load, plan and diff, and how much memory: 1,000 switches of 64 ports.

    python control_plane/benches/scale.py                     # a table; exit code 1 above 10 s or 1 GB
    python -m cProfile -s tottime control_plane/benches/scale.py    # where the time goes

The fabric has three tiers and every port of every switch in use: 20 pods of 32 leaves (52 hosts each) and 12
aggregation switches, 120 spines. Nothing is shared between the two sides of the diff: what "the switches
hold" is planned from a configuration of its own (other marking thresholds, on purpose), as it would come
from a read.
"""

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from eeon_control import config, topology
from eeon_control.fabric import difference
from eeon_control.plan import intended

_T = TypeVar("_T")

SECONDS_LIMIT, BYTES_LIMIT = 10.0, 1_000_000_000
TICK_PS = 1000
TOPOLOGY = """\
name: large
description: 1000 switches of 64 ports
defaults: {delay: 500ns}
clos:
  pods: 20
  leaves_per_pod: 32
  hosts_per_leaf: 52
  aggregations_per_pod: 12
  uplinks_per_aggregation: 32
  spines: 120
  host_link: {rate: 10Gbps}
  uplink: {rate: 10Gbps}
  spine_link: {rate: 10Gbps}
"""
CONFIG = """\
profiles:
  queue:
    edge: {buffer: 300KB, aqm: {mark_threshold: THRESHOLD}}
    core: {buffer: 3MB, aqm: {autored: 500us, protect: ack_syn}}
  eee:
    careful: {mode: coalesce, hold: 60us, trigger: [50pkt, 75KB]}
roles:
  host_facing: {queue: edge, eee: 120us100}
  uplink: {queue: edge, eee: 12us10}
  spine: {queue: core, eee: standard}
switches:
  leaf7: {eee: careful}
ports:
  "leaf3:9": {queue: core}
routing: {max_paths: 3}
"""


class Stopwatch:
    """Times steps and prints a line for each."""

    def __init__(self) -> None:
        self.total = 0.0

    def run(self, name: str, step: Callable[[], _T]) -> _T:
        """Runs a step and prints how long it took in processor time, and the memory so far."""
        start = time.process_time()
        result = step()
        took = time.process_time() - start
        self.total += took
        print(f"{name:<44} {took:7.2f} s {peak_bytes() / 1e6:9.0f} MB")
        return result


def peak_bytes() -> int:
    """Returns the maximum memory that this process had at any time."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(folder: Path) -> float:
    """Runs all steps once; returns their processor time in seconds."""
    topology_path, now, wanted = (folder / name for name in ("t.yaml", "now.yaml", "wanted.yaml"))
    topology_path.write_text(TOPOLOGY)
    now.write_text(CONFIG.replace("THRESHOLD", "30KB"))
    wanted.write_text(CONFIG.replace("THRESHOLD", "auto"))
    watch = Stopwatch()
    print(f"{'step':<44} {'time':>9} {'peak so far':>12}")
    fabric = watch.run("load the topology", lambda: topology.load(topology_path))
    settings = watch.run("load the configuration", lambda: config.load(wanted))
    before = config.load(now)
    held = intended(fabric, before, TICK_PS)  # comes from a read, so its time is not counted; its memory is
    entries = watch.run("plan what is intended", lambda: intended(fabric, settings, TICK_PS))
    changes = watch.run(
        "difference, switch by switch",
        lambda: {name: difference(held[name], entries[name]) for name in fabric.switches},
    )
    print(
        f"{len(fabric.switches)} switches, {len(fabric.ports())} ports, {len(fabric.hosts)} hosts, "
        f"{sum(map(len, entries.values()))} entries, {sum(map(len, changes.values()))} changes"
    )
    return watch.total


def main() -> int:
    """Measures. Returns the exit status: 1 when a limit is exceeded."""
    with TemporaryDirectory() as folder:
        took = measure(Path(folder))
    print(f"in all {took:.2f} s (limit {SECONDS_LIMIT:.0f} s), {peak_bytes() / 1e6:.0f} MB (limit 1000 MB)")
    return int(took > SECONDS_LIMIT or peak_bytes() > BYTES_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
