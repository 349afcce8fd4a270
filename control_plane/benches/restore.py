"""How long a switch that has restarted is without what it should hold, or a fabric without a primary.

    python control_plane/benches/restore.py [--target engine|bmv2] [--topology NAME] [--times N] [--standby]

Starts every switch of a topology in a process of its own and `eeon controller run` beside them. Then kills
one switch after the other, starts it at once, and takes the time from when its P4Runtime server answers until
the controller has read everything back as intended. With --standby it kills the controller instead, and takes
the time until its standby has read every switch back as its primary. Needs the engine's extension, or
simple_switch_grpc on PATH.
"""

import argparse
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from controller_process import ControllerProcess
from eeon_control import operations, state, topology
from revisions import done
from switch_processes import TARGETS, SwitchProcess, meant_for, running


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", choices=list(TARGETS), default="engine")
    parser.add_argument("--topology", default="leaf-spine-4")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--standby", action="store_true")
    arguments = parser.parse_args()
    fabric = topology.load(arguments.topology)
    with running(arguments.target, fabric) as switches, tempfile.TemporaryDirectory() as folder:
        store = state.StateStore.open(Path(folder) / "state")
        done(store, operations.apply, meant_for(switches, fabric, "red_ack_syn"))
        work = standbys if arguments.standby else restarts
        seconds, entries = work(store.folder, switches, arguments.times)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    what = "controllers killed" if arguments.standby else f"restarts, up to {entries} entries a switch"
    print(
        f"{arguments.target}, {fabric.name}: {len(seconds)} {what}: "
        f"median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s (load {load}; "
        f"{os.cpu_count()} cores)"
    )


def restarts(folder: Path, switches: dict[str, SwitchProcess], times: int) -> tuple[list[float], int]:
    """Seconds of every restore, and the largest number of entries that one wrote."""
    seconds, entries = [], 0
    controller = ControllerProcess(folder)
    try:
        controller.wait_for_all("in_sync", list(switches))
        for number in range(times):
            name = list(switches)[number % len(switches)]
            switches[name].kill()
            controller.wait_for("disconnected", switch=name)
            switches[name].restart()
            serves = time.monotonic()
            restored = controller.wait_for("restored", switch=name)
            seconds.append(time.monotonic() - serves)
            entries = max(entries, int(str(restored["entries"])))
    finally:
        controller.end()
    return seconds, entries


def standbys(folder: Path, switches: dict[str, SwitchProcess], times: int) -> tuple[list[float], int]:
    """Seconds from each SIGKILL of a controller until its standby has every switch in sync."""
    seconds = []
    for _ in range(times):
        first = ControllerProcess(folder)
        first.wait_for_all("in_sync", list(switches))
        standby = ControllerProcess(folder, "--election-id", "5")
        try:
            standby.wait_for_all("backup", list(switches))
            killed = time.monotonic()
            first.end(signal.SIGKILL)
            standby.wait_for_all("in_sync", list(switches))
            seconds.append(time.monotonic() - killed)
        finally:
            first.end(signal.SIGKILL)
            standby.end()
    return seconds, 0


if __name__ == "__main__":
    main()
