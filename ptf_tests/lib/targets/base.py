"""What a test may ask of the switch it runs against, whatever that switch is.

A target says where its P4Runtime server is, how its clock moves and how fine it is. It knows nothing of
tables, packets or expectations. One target serves a whole PTF run; `start` gives each test a switch with no
history.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from ptf_tests.lib.p4rt import P4RuntimeClient

DATA_PORTS = tuple(range(1, 9))
"""Ports of the switch under test that PTF is wired to."""


@dataclass(frozen=True)
class SwitchOptions:
    """How the switch under test is built. A target that cannot build one so skips the test, saying why."""

    gate: bool = True
    """Whether the traffic manager honours `gate_open_at`; otherwise held packets recirculate."""
    port_rate_bps: int = 1_000_000_000
    """Rate of every data port, bits per second. At 1 Gbit/s a byte takes 8 ns: whole ticks."""
    clock_start_ns: int = 1_000_000
    """What the switch's clock shows when the test begins, nanoseconds."""
    seed: int = 1
    """Seed of the switch's random numbers."""


class CannotBuild(Exception):
    """The target has no such switch; the text says what is lacking. The test is skipped."""


class Target(ABC):
    """The switch under test."""

    name: str
    exact_time: bool
    """Whether departures can be checked to the tick: the clock is the test's own."""
    device_id: int = 1

    @abstractmethod
    def start(self, options: SwitchOptions) -> str:
        """Make ready a switch without history; return the address of its P4Runtime server."""

    @abstractmethod
    def stop(self) -> None:
        """Give up the switch of the current test; idempotent."""

    @abstractmethod
    def advance(self, *, ns: int = 0, us: int = 0, ms: int = 0) -> None:
        """Let time pass. Everything that leaves meanwhile is at PTF's ports when this returns."""

    @property
    @abstractmethod
    def now_ns(self) -> int:
        """The time now, nanoseconds, on the clock that stamps departures."""

    def register_read(self, client: P4RuntimeClient, name: str, index: int) -> int:
        """One cell of a register."""
        return client.register_read(name, index)

    def register_write(self, client: P4RuntimeClient, name: str, index: int, value: int) -> None:
        """Set one cell of a register."""
        client.register_write(name, index, value)


_installed: Target | None = None


def install(target: Target) -> None:
    """Make `target` the switch of this PTF run. Called once, by a platform module."""
    global _installed
    if _installed is not None:
        raise RuntimeError(f"target {_installed.name} is already installed; a run has one target")
    _installed = target


def current() -> Target:
    """The switch of this PTF run."""
    if _installed is None:
        raise RuntimeError("no target installed: run through `python -m ptf_tests.run --target ...`")
    return _installed
