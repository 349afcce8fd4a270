"""What a test may ask of the switch it runs against, whatever that switch is.

A target says where its P4Runtime server is, how its clock moves and how fine it is. It knows nothing of
tables, packets or expectations. One target serves a whole PTF run; `start` gives each test a switch with no
history.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module

from ptf.testutils import test_param_get

from ptf_tests.lib.p4rt import P4RuntimeClient

DRAIN_MS = 50
"""Long enough for the fullest queue and the longest hold of any case to run empty at 1 Gbit/s."""


@dataclass(frozen=True)
class SwitchOptions:
    """How the switch under test is built, where the target can choose: see the target."""

    gate: bool = True
    """Whether the traffic manager honours `gate_open_at` and `class_gate_open_at`; otherwise held packets
    recirculate."""
    timers: bool = True
    """Whether the program runs at the times in `pause_timer`; otherwise a pause waits for a packet."""
    port_rate_bps: int = 1_000_000_000
    """Rate of every data port, bits per second. At 1 Gbit/s a byte takes 8 ns: whole ticks."""
    clock_start_ns: int = 1_000_000
    """What the switch's clock shows when the test begins, nanoseconds."""
    seed: int = 1
    """Seed of the switch's random numbers."""


class Target(ABC):
    """The switch under test."""

    name: str
    virtual_time: bool
    """Whether the clock is the test's to advance, so that departures can be checked to the tick."""
    tick_ns: int
    """One tick of the timestamps that the program sees, nanoseconds."""
    device_id: int = 1
    plugged_packet_ns = 0
    """From packet to packet of a plugged port, nanoseconds; 0 where it keeps its rate."""
    keeps_order_between_ports = True
    """Whether frames that are sent into different ports reach the program in the order of sending."""

    @abstractmethod
    def start(self, options: SwitchOptions) -> str:
        """Makes ready a switch without history. Returns the address of its P4Runtime server."""

    @abstractmethod
    def stop(self) -> None:
        """Gives up the switch of the current test; idempotent."""

    @abstractmethod
    def advance(self, *, ns: int = 0, us: int = 0, ms: int = 0) -> None:
        """Lets time pass. Everything that leaves meanwhile is at PTF's ports when this returns."""

    @property
    @abstractmethod
    def now_ns(self) -> int:
        """The time now, nanoseconds, on the clock that stamps departures."""

    def drain(self) -> None:
        """Lets time pass until every queue is empty and nothing is on its way to PTF."""
        self.advance(ms=DRAIN_MS)

    def before_plug(self, port: int) -> None:  # noqa: B027 - most targets have nothing to do
        """Makes the link of `port` slow, where it has no rate: a test is about to fill its queue."""

    def register_read(self, client: P4RuntimeClient, name: str, index: int) -> int:
        """Returns one cell of a register."""
        return client.register_read(name, index)


_installed: Target | None = None


def current() -> Target:
    """Returns the switch of this PTF run. It is made on first use, by the module that the test parameter
    `target` names."""
    global _installed
    if _installed is None:
        name = test_param_get("target")
        if name is None:
            raise RuntimeError("no target given: run through `python -m ptf_tests.run --target engine`")
        _installed = import_module(f"ptf_tests.lib.targets.{name.replace('-', '_')}").make()
    return _installed
