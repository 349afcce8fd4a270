"""An apply in a process of its own, which kills itself at one of its steps."""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

from eeon_control import operations, state, topology
from eeon_control.fabric import Rollout
from revisions import done, meant

_fork = multiprocessing.get_context("forkserver")


class OpenGate:
    """A gate that is always open."""

    async def before(self) -> None:
        """Checks nothing."""

    async def after(self, number: int, waves: int, changed: object) -> None:
        """Checks nothing."""


class WatchedDisk(state.Disk):
    """Calls `before` with the name of the file, or `sync`, before each operation."""

    def __init__(self, before: Callable[[str], None]) -> None:
        self._before = before

    def write(self, path: Path, data: bytes) -> None:
        self._before(path.name)
        super().write(path, data)

    def rename(self, old: Path, new: Path) -> None:
        self._before(new.name)
        super().rename(old, new)

    def unlink(self, path: Path) -> None:
        self._before(path.name)
        super().unlink(path)

    def sync_folder(self, folder: Path) -> None:
        self._before("sync")
        super().sync_folder(folder)


def killed(
    folder: Path, topology_text: str, names: tuple[str, ...], targets: dict, number: int, of: str = "", **how
) -> tuple[int, list[str]]:
    """Applies packaged examples in a process that kills itself at its `number`-th step.

    `of`: counts only steps of that name, such as `disk` for operations of the disk. `how`: `waves`, `gated`,
    and options of the apply. Returns its exit code (-9 if it came that far) and its steps.
    """
    mine, theirs = _fork.Pipe(duplex=False)
    arguments = (folder, topology_text, names, targets, number, of, theirs, how)
    process = _fork.Process(target=_apply, args=arguments, daemon=True)
    process.start()
    theirs.close()
    steps = []
    with contextlib.suppress(EOFError):
        while True:
            steps.append(mine.recv())
    process.join(120)
    return process.exitcode, steps


def _apply(folder, topology_text, names, targets, left, of, told, how) -> None:
    def step(name: str, where: str) -> None:
        nonlocal left
        told.send(f"{name} {where}")
        left -= of in ("", name)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    store = state.StateStore.open(folder, disk=WatchedDisk(lambda name: step("disk", name)))
    waves, gated = how.pop("waves", None), how.pop("gated", False)
    if waves is not None:
        how["rollout"] = Rollout(waves, gates=[OpenGate()] if gated else [])
    wanted = meant(topology.from_text(topology_text), names, **targets)
    done(store, operations.apply, wanted, observer=lambda one, switch: step(one.value, switch), **how)
