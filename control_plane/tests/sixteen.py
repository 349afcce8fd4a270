"""A fabric of sixteen engine switches in the test's process, and an apply in waves in another one."""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from eeon_control import config, operations, state, topology
from eeon_control.fabric import Rollout
from eeon_control.plan.waves import waves
from eeon_control.targets import Targets
from engine_switches import serving
from revisions import done
from watched_disk import WatchedDisk

TOPOLOGY_TEXT = """
name: sixteen
leaf_spine: {leaves: 12, spines: 4, hosts_per_leaf: 1, host_link: {rate: 1Gbps}, uplink: {rate: 10Gbps}}
defaults: {delay: 500ns}
"""
TOPOLOGY = topology.from_text(TOPOLOGY_TEXT)
WAVES = waves(TOPOLOGY, "1,10%,rest")
OLD, NEW = "drop_tail", "mark_threshold"

_fork = multiprocessing.get_context("forkserver")


class OpenGate:
    """A gate that is always open."""

    async def before(self) -> None:
        """Checks nothing."""

    async def after(self, number: int, waves: int, changed: object) -> None:
        """Checks nothing."""


@contextlib.contextmanager
def sixteen() -> Iterator[Targets]:
    """Yields the targets of the switches, which serve P4Runtime in its context."""
    with serving(TOPOLOGY) as (_, addresses):
        yield Targets.from_value({"tick": "1ns", "switches": addresses}, "test")


def meant(name: str, targets: Targets) -> state.Intended:
    """Returns the intended configuration of a packaged example for this fabric."""
    return state.Intended(TOPOLOGY, config.load(name), targets)


def killed(folder: Path, targets: Targets, at: int, *, gated: bool) -> tuple[int, list[str]]:
    """Applies NEW in waves in a process that kills itself at its `at`-th step, disk operations included.

    Returns its exit code (-9 if it came that far) and its steps.
    """
    mine, theirs = _fork.Pipe(duplex=False)
    arguments = (str(folder), targets.as_value(), at, gated, theirs)
    process = _fork.Process(target=_rollout, args=arguments, daemon=True)
    process.start()
    theirs.close()
    steps = []
    with contextlib.suppress(EOFError):
        while True:
            steps.append(mine.recv())
    process.join(120)
    return process.exitcode, steps


def _rollout(folder: str, targets: dict[str, object], at: int, gated: bool, told) -> None:
    steps = 0

    def step(name: str) -> None:
        nonlocal steps
        steps += 1
        told.send(name)
        if steps == at:
            os.kill(os.getpid(), signal.SIGKILL)

    store = state.StateStore.open(Path(folder), disk=WatchedDisk(lambda name: step(f"disk {name}")))
    rollout = Rollout(WAVES, gates=[OpenGate()] if gated else [])
    wanted = meant(NEW, Targets.from_value(targets, "test"))
    told_by = {"observer": lambda one, switch: step(f"{one.value} {switch}")}
    done(store, operations.apply, wanted, rollout=rollout, **told_by)
