"""The interface of the switch under test, independent of the kind of switch.

A target has the address of its P4Runtime server, and its clock with its resolution. It does not know tables,
packets or expectations. One target serves a whole PTF run; `start` gives each test a switch without history.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from ptf.testutils import test_param_get

from ptf_tests.lib.p4rt import P4RuntimeClient

DRAIN_MS = 50
"""Milliseconds in which the fullest queue and the longest hold of any case end at 1 Gbit/s."""


@dataclass(frozen=True)
class SwitchOptions:
    """Options of the switch under test; not every target supports all of them."""

    gate: bool = True
    """Whether the traffic manager honours `gate_open_at` and `class_gate_open_at`; otherwise held packets
    recirculate."""
    timers: bool = True
    """Whether the program runs at the times in `pause_timer`; otherwise a pause waits for a packet."""
    port_rate_bps: int = 1_000_000_000
    """Rate of every data port, bits per second. At 1 Gbit/s a byte takes 8 ns, a whole number of ticks."""
    clock_start_ns: int = 1_000_000
    """The switch's clock at the start of the test, nanoseconds."""


class Target(ABC):
    """The switch under test."""

    name: str
    virtual_time: bool
    """Whether the test advances the clock, so that departures can be checked to the tick."""
    tick_ns: int
    """One tick of the program's timestamps, nanoseconds."""
    plugged_packet_ns = 0
    """Interval between the packets of a plugged port, nanoseconds; 0 if plugging does not change its rate."""
    keeps_order_between_ports = True
    """Whether frames sent into different ports reach the program in the order in which they were sent."""

    @abstractmethod
    def start(self, options: SwitchOptions) -> str:
        """Prepares a switch without history. Returns the address of its P4Runtime server."""

    @abstractmethod
    def stop(self) -> None:
        """Releases the switch of the current test; idempotent."""

    @abstractmethod
    def advance(self, *, ns: int = 0, us: int = 0, ms: int = 0) -> None:
        """Advances the clock. When this returns, all frames that left meanwhile are at PTF's ports."""

    @property
    @abstractmethod
    def now_ns(self) -> int:
        """The current time, nanoseconds, on the clock that timestamps departures."""

    def drain(self) -> None:
        """Advances the clock until all queues are empty and all frames have reached PTF."""
        self.advance(ms=DRAIN_MS)

    def before_plug(self, port: int) -> None:  # noqa: B027 - most targets have nothing to do
        """Slows the link of `port` down if it has no rate, before a test fills its queue."""

    def registers_read(
        self, client: P4RuntimeClient, cells: Iterable[tuple[str, int]]
    ) -> dict[tuple[str, int], int]:
        """Returns cells of registers, by name and index."""
        return client.registers_read(cells)


_installed: Target | None = None


def current() -> Target:
    """Returns the switch of this PTF run. The first call creates it, by the test parameter `target`."""
    global _installed
    if _installed is None:
        name = test_param_get("target")
        if name is None:
            raise RuntimeError("no target given: run through `python -m ptf_tests.run --target engine`")
        # Each needs what only its own environment has.
        if name == "engine":
            from ptf_tests.lib.targets.engine import EngineTarget

            _installed = EngineTarget()
        else:
            from ptf_tests.lib.targets.real_time import RealTimeTarget

            _installed = RealTimeTarget(name, tick_ns={"bmv2": 1_000, "engine-veth": 1}[name])
    return _installed
