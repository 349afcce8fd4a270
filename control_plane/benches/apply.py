"""How long one threshold change takes on engine switches: planned, journaled, written, read back.

    python control_plane/benches/apply.py [TOPOLOGY] [--rounds N]

The switches and their P4Runtime servers are in this process, as for `eeon replay`, so that the servers' time
counts as well. `call` is operations.apply with a state folder; `command` is the whole `eeon config apply` in
a process of its own, its start included. Needs the engine's extension.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from eeon_control import config, operations, state, topology
from eeon_control.fabric import Step
from engine_switches import serving
from revisions import done, meant

BASE = ("mark_threshold", "eee_120us100")
PROFILES = ("fast", "edge")
THRESHOLDS = ("60KB", "90KB")  # on every port, by turns


def one_call(store: state.StateStore, wanted: state.Intended) -> dict[str, float]:
    """Returns the milliseconds of one apply, and of its parts."""
    came: dict[Step, float] = {}  # for the last time to each step

    def observe(step: Step, _: str) -> None:
        came[step] = time.perf_counter()

    start = time.perf_counter()
    outcome = done(store, operations.apply, wanted, observer=observe)
    end = time.perf_counter()
    changed = sum(len(one.changes) for one in outcome.report.plan.switches.values())
    assert changed, "a bench that changes nothing measures nothing"
    times = [start, *(came[step] for step in (Step.READ, Step.JOURNALED, Step.WRITTEN, Step.VERIFIED)), end]
    names = ("connect and read", "journal", "write", "read back", "commit")
    parts = {name: (after - was) * 1e3 for name, was, after in zip(names, times, times[1:], strict=False)}
    return {"call": (end - start) * 1e3, **parts, "changes": changed}


def one_command(fabric: str, targets: Path, threshold: str, folder: Path) -> float:
    """Returns the milliseconds of a whole command."""
    override = folder / "override.yaml"
    profiles = ", ".join(f"{name}: {{aqm: {{threshold: {threshold}}}}}" for name in PROFILES)
    override.write_text(f"profiles: {{queue: {{{profiles}}}}}\n")
    start = time.perf_counter()
    command = [sys.executable, "-m", "eeon_control", "config", "apply"]
    command += ["-q", "-t", fabric, "-T", str(targets)]
    for name in (*BASE, str(override)):
        command += ["-c", name]
    subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"EEON_STATE": str(folder / "cli")}
    )
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    """Runs the rounds and prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("topology", nargs="?", default="leaf-spine-160")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    fabric = topology.load(given.topology)
    with tempfile.TemporaryDirectory() as name, serving(fabric) as (_, addresses):
        folder = Path(name)
        (folder / "targets.yaml").write_text(json.dumps({"tick": "1ns", "switches": addresses}))
        store = state.StateStore.open(folder / "state")
        changes = [{f"profiles.queue.{name}.aqm.threshold": one for name in PROFILES} for one in THRESHOLDS]
        base = config.load(*BASE)
        wanted = [meant(fabric, config.overridden(base, change), addresses) for change in changes]
        first = one_call(store, wanted[1])
        calls = [one_call(store, wanted[number % 2]) for number in range(given.rounds)]
        commands = [
            one_command(given.topology, folder / "targets.yaml", THRESHOLDS[number % 2], folder)
            for number in range(given.rounds)
        ][1:]
    print(f"{given.topology}: {len(fabric.switches)} switches, {len(fabric.ports())} ports")
    print(f"first apply, program included: {first['call']:.0f} ms, {first['changes']:.0f} changes")
    print(f"{'threshold change':20} {'best':>8} {'median':>8} {'worst':>8}")
    for name in calls[0]:
        row(name, [one[name] for one in calls])
    row("command", commands)


def row(name: str, values: list[float]) -> None:
    """Prints a line of the table."""
    unit = "" if name == "changes" else " ms"
    shown = (min(values), statistics.median(values), max(values))
    print(f"{name:20} " + " ".join(f"{value:>6.0f}{unit}" for value in shown))


if __name__ == "__main__":
    main()
