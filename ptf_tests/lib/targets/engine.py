"""The engine in the test's own process: its ports are PTF's ports, and the test advances its clock.

Nothing happens until the test advances the clock; a frame that is sent arrives at the present time and is
processed immediately. Each test has a new switch with its own P4Runtime server on a loopback port.

For PTF this is a platform (lib/platforms/eeon.py): PTF's data plane sends to `EnginePort` and selects on
`EngineSource`. PTF reads the source in a thread of its own; `advance` returns when that thread has read all
frames.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Sequence

from eeon_engine import Switch
from eeon_engine._engine import Port
from eeon_engine.p4runtime import Server, serve
from ptf.dataplane import DataPlanePacketSourceIface, DataPlanePortIface

from ptf_tests.lib.p4rt_session import DEVICE_ID
from ptf_tests.lib.ports import CPU_PORT, DATA_PORTS, PRIORITIES, WIRE_OVERHEAD_BYTES
from ptf_tests.lib.targets.base import SwitchOptions, Target

_PTF_TIMEOUT_SECS = 30.0


class DepartureTime(float):
    """A timestamp in seconds, as PTF expects, with the exact nanosecond."""

    ns: int

    def __new__(cls, ns: int) -> DepartureTime:
        time = super().__new__(cls, ns / 1e9)
        time.ns = ns
        return time


class EngineSource(DataPlanePacketSourceIface):
    """The frames that have left the switch and that PTF has not read: one source for all ports, in order of
    departure."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, int, bytes, DepartureTime]] = deque()
        self._taken = threading.Condition()
        # A semaphore for select(): as many reads succeed as frames are waiting.
        self._fd = os.eventfd(0, os.EFD_SEMAPHORE | os.EFD_NONBLOCK)

    def fileno(self) -> int:
        """Returns the file descriptor for select()."""
        return self._fd

    def recv(self) -> tuple[int, int, bytes, DepartureTime]:
        """Returns the oldest frame: (device, port, frame, time). PTF calls it when `fileno` is readable."""
        os.eventfd_read(self._fd)
        with self._taken:
            frame = self._waiting.popleft()
            if not self._waiting:
                self._taken.notify_all()
        return frame

    def put(self, frames: Sequence[tuple[int, int, bytes]]) -> None:
        """Queues frames, as (time in ns, port, bytes), and waits until PTF's thread has read them."""
        if not frames:
            return
        with self._taken:
            self._waiting.extend((0, port, frame, DepartureTime(at_ns)) for at_ns, port, frame in frames)
            os.eventfd_write(self._fd, len(frames))
            if not self._taken.wait_for(lambda: not self._waiting, _PTF_TIMEOUT_SECS):
                raise RuntimeError(
                    f"PTF's data plane has not taken {len(self._waiting)} frames; is its thread alive?"
                )


class EngineTarget(Target):
    """See the module."""

    name = "engine"
    virtual_time = True
    tick_ns = 1

    def __init__(self) -> None:
        self.source = EngineSource()
        self._switch: Switch | None = None
        self._server: Server | None = None
        self._clock_start_ns = 0

    def start(self, options: SwitchOptions) -> str:
        """Starts a new switch without a program, and its server."""
        self.stop()
        self._clock_start_ns = options.clock_start_ns
        self._switch = Switch(
            device_id=DEVICE_ID,
            ports=[
                Port(port, rate_bps=options.port_rate_bps, overhead_bytes=WIRE_OVERHEAD_BYTES)
                for port in DATA_PORTS
            ],
            tick_ps=self.tick_ns * 1_000,
            cpu_port=CPU_PORT,
            gate_register="gate_open_at" if options.gate else None,
            class_gate_register="class_gate_open_at" if options.gate else None,
            timer_register="pause_timer" if options.timers else None,
            seed=1,
            priorities=PRIORITIES,
            clock_start=options.clock_start_ns // self.tick_ns,
        )
        self._server = serve(self._switch)
        return self._server.address

    def stop(self) -> None:
        """Stops the server. That takes as long as its wait for packets, so it is not part of the test's time;
        but the process must not end before it."""
        if self._server is not None:
            threading.Thread(target=self._server.stop, args=(0,)).start()
        self._server = self._switch = None

    def advance(self, *, ns: int = 0, us: int = 0, ms: int = 0) -> None:
        """Runs the switch up to and including the new time."""
        switch = self._running()
        left = switch.advance_to(switch.now_ps + (ns + us * 1_000 + ms * 1_000_000) * 1_000)
        self.source.put(
            [
                (self._clock_start_ns + at_ps // 1_000, port, frame)
                for at_ps, port, frame in left
                if port != CPU_PORT
            ]
        )

    @property
    def now_ns(self) -> int:
        """The switch's clock in the program (before it wraps)."""
        return self._clock_start_ns + self._running().now_ps // 1_000

    def inject(self, port: int, frame: bytes) -> None:
        """Sends a frame that arrives at a port now."""
        self._running().inject(port, frame)
        self.advance()

    def _running(self) -> Switch:
        if self._switch is None:
            raise RuntimeError("no switch is running: a packet was sent outside of a test")
        return self._switch


class EnginePort(DataPlanePortIface):
    """One port of the switch, for PTF's data plane."""

    def __init__(self, interface: str, device: int, port: int, config: dict[str, object]) -> None:
        self._port = port
        target = config["engine_target"]
        assert isinstance(target, EngineTarget), "lib/platforms/eeon.py puts it there"
        self._target = target

    def get_packet_source(self) -> EngineSource:
        """Returns the common source of all ports."""
        return self._target.source

    def send(self, packet: bytes) -> int:
        """Sends a frame into the switch. Returns its length, like a socket."""
        self._target.inject(self._port, packet)
        return len(packet)
