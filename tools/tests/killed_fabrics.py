"""Fabrics whose creator or `down` is killed before its n-th operation: a command, a file, a switch."""

import multiprocessing
import os
import signal
import subprocess
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from eeon_control import topology
from eeon_tools.live import network, running, switches
from eeon_tools.live.state import State

_TOPOLOGY = """
name: killed
leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 1, host_link: {rate: 1Gbps}, uplink: {rate: 10Gbps}}
defaults: {delay: 500ns}
"""
_fork = multiprocessing.get_context("forkserver")
_fork.set_forkserver_preload(["eeon_tools.live.running", "eeon_control.topology"])


def killed_up(name: str, number: int) -> int:
    """Brings a fabric up and down in a process that kills itself before its `number`-th operation until the
    fabric is up. Returns its exit code: -9, or 0 if there are fewer operations."""
    return _run(_up, name, number)


def killed_down(name: str, number: int) -> int:
    """Runs `down` in the same way."""
    return _run(_down, name, number)


def leave_behind(name: str, *, with_switches: bool) -> None:
    """Leaves a fabric whose creator was killed: before its first switch, or when all were running."""
    assert _run(_up_until_started if not with_switches else _up_until_ready, name, 0) == -signal.SIGKILL


def _run(work: Callable[[str, int], None], name: str, number: int) -> int:
    process = _fork.Process(target=work, args=(name, number))
    process.start()
    process.join(120)
    assert process.exitcode is not None, "it hangs"
    return process.exitcode


def _count(number: int) -> list[bool]:
    """Lets this process kill itself before its `number`-th operation, while the list is not empty."""
    counting = [True]
    left = number

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            if counting:
                left -= 1
                if left == 0:
                    _die()
            return function(*args, **kwargs)

        return wrapper

    run = counted(subprocess.run)
    network.subprocess = type("Counted", (), {"run": staticmethod(run), "DEVNULL": subprocess.DEVNULL})
    for each in ("create", "save", "forget"):
        setattr(State, each, counted(getattr(State, each)))
    switches.start, network.end = counted(switches.start), counted(network.end)
    return counting


def _up(name: str, number: int) -> None:
    counting = _count(number)
    with running.up(topology.from_text(_TOPOLOGY), "engine", Fraction(1, 10), name):
        counting.clear()


def _down(name: str, number: int) -> None:
    _count(number)
    running.down(name)


def _up_until_started(name: str, _: int) -> None:
    switches.start = lambda *_: _die()
    _up(name, 0)


def _up_until_ready(name: str, _: int) -> None:
    switches.wait_until_ready = lambda record, processes: _die()
    _up(name, 0)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
