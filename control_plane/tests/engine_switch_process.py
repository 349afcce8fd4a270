"""One engine switch with a P4Runtime server, in a process of its own that can be killed and started again.

As a program (`python engine_switch_process.py DEVICE_ID ADDRESS TICK_PS PORT:RATE:OVERHEAD ...`) it is that
switch; it prints `ready` when it serves, and ends when its standard input does. Imported, it starts them.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TICK_PS = 1000


class SwitchProcess:
    """A switch of a topology at an address that stays the same over restarts."""

    def __init__(self, switch) -> None:
        self.switch = switch
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{taken.getsockname()[1]}"
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it; `wait` says when it serves."""
        ports = [f"{port.number}:{int(port.rate)}:{int(port.overhead)}" for port in self.switch.ports]
        arguments = [str(self.switch.device_id), self.address, str(TICK_PS), *ports]
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line == "ready\n", f"{self.switch.name} did not start: {line!r}"

    def kill(self) -> None:
        """SIGKILL, as a power cut."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(60)
            assert self.process.stdin is not None and self.process.stdout is not None
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def restart(self) -> None:
        self.kill()
        self.start()
        self.wait()


@contextlib.contextmanager
def running(topology) -> Iterator[dict[str, SwitchProcess]]:
    """All switches of a topology."""
    found = {name: SwitchProcess(switch) for name, switch in topology.switches.items()}
    try:
        for one in found.values():
            one.start()
        for one in found.values():
            one.wait()
        yield found
    finally:
        for one in found.values():
            one.kill()


def main() -> None:
    from eeon_engine import _engine as engine
    from eeon_engine import p4runtime

    device_id, address, tick_ps, *ports = sys.argv[1:]
    switch = engine.Switch(
        device_id=int(device_id),
        tick_ps=int(tick_ps),
        gate_register="gate_open_at",
        ports=[
            engine.Port(number, rate_bps=rate, overhead_bytes=overhead)
            for number, rate, overhead in (map(int, port.split(":")) for port in ports)
        ],
    )
    with p4runtime.serve(switch, address=address):
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
