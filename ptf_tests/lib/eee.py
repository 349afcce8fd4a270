"""EEE for tests: a port that sleeps. Times are nanoseconds = ticks of the switch under test."""

from collections.abc import Sequence
from dataclasses import dataclass

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, virtual_time_only
from ptf_tests.lib.ports import BYTE_NS, NUMBERS, WIRE_OVERHEAD_BYTES
from ptf_tests.lib.targets.base import SwitchOptions

SLEEP_NS = 182_000
"""Ts of 1000BASE-T (IEEE 802.3az-2010, table 78-4)."""
WAKE_NS = 16_500
"""Tw of 1000BASE-T (IEEE 802.3az-2010, table 78-4)."""


@dataclass(frozen=True)
class Eee:
    """A port's EEE settings, in nanoseconds."""

    sleep: int = SLEEP_NS
    wake: int = WAKE_NS
    stall: int = 0
    hold: int = 0
    trigger_packets: int = 0
    trigger_bytes: int = 0

    def params(self, tick_ns: int = 1) -> dict[str, int]:
        """Returns the parameters of the action `eee` on a port of 1 Gbit/s, in ticks of `tick_ns`."""
        return {
            "sleep_ticks": self.sleep // tick_ns,
            "wake_ticks": self.wake // tick_ns,
            "stall_ticks": self.stall // tick_ns,
            "hold_ticks": self.hold // tick_ns,
            "trigger_packets": self.trigger_packets,
            "trigger_bytes": self.trigger_bytes,
            "ticks_per_byte_q24": (BYTE_NS << NUMBERS["constants"]["WIRE_TIME_BITS"]) // tick_ns,
            "overhead_bytes": WIRE_OVERHEAD_BYTES,
        }


@virtual_time_only
class EeeTest(FabricTest):
    """Port 2 has EEE. `late_ns` is the tolerated delay of a packet: zero if the traffic manager has the gate,
    one recirculation if packets recirculate."""

    options = SwitchOptions(gate=True)
    late_ns = 0

    def eee(self, settings: Eee) -> None:
        """Enables EEE at port 2, or gives it other settings."""
        self.settings = settings
        self.table_add("port_eee", {"port": 2}, "eee", settings.params())

    def prime(self) -> int:
        """Sends one frame through the sleeping port. Returns the future time at which its wire becomes idle,
        from which the port's idle time counts."""
        self.send(1, packets.udp(2))
        self.switch.advance(ns=self.settings.hold + self.settings.wake + self.late_ns)
        (departure,) = self.departures(2)
        self.forget_counts()
        return departure.at_ns + self.wire_ns(len(departure.frame))

    def asleep_since_long(self) -> None:
        """Primes port 2, and waits until it has slept for a millisecond."""
        asleep = self.prime() + self.settings.stall + self.settings.sleep
        self.at(asleep + 1_000_000)

    def asleep_leaves(self, settings: Eee, arrivals: Sequence[int], gate: int) -> None:
        """Checks that frames that arrive at `arrivals`, relative to a time at which the port has been asleep,
        leave in order and back to back from `gate` on."""
        self.eee(settings)
        self.asleep_since_long()
        self.leave(arrivals, gate)

    def idle_leaves(self, settings: Eee, arrivals: Sequence[int], gate: int) -> None:
        """Checks the same, relative to the time at which the wire became idle."""
        self.eee(settings)
        self.leave(arrivals, gate, self.prime())

    def leave(self, arrivals: Sequence[int], gate: int, base: int | None = None) -> None:
        """Sends frames at `arrivals` after `base` (default: now), and checks that they leave in order and
        back to back from `gate` after it on."""
        base = self.switch.now_ns if base is None else base
        size = 500
        frames = packets.numbered(len(arrivals), size=size)
        for after, frame in zip(arrivals, frames, strict=True):
            self.at(base + after)
            self.send(1, frame)
        left = self.drained(2)
        wanted = [gate + n * self.wire_ns(size) for n in range(len(frames))]
        self.assertEqual([departure.at_ns - base for departure in left], wanted)
        self.assert_frames(left, [packets.forwarded(frame, 2) for frame in frames])
