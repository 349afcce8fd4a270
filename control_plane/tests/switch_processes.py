"""Switches in separate processes, which can be killed and restarted: the engine's, or BMv2.

As a program (`python switch_processes.py DEVICE_ID ADDRESS TICK_PS PORT:RATE:OVERHEAD ...`), it is an engine
switch with a P4Runtime server. It prints `ready` when it serves, reads lines such as `3 down` about its
ports, and ends with its standard input.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path

from bmv2_process import free_port, wait_for


class SwitchProcess(ABC):
    """A switch of a topology, at an address that stays the same after a restart."""

    tick_ps: int

    def __init__(self, switch) -> None:
        self.switch = switch
        self.interfaces: dict[int, str] = {}
        self.address = f"127.0.0.1:{free_port()}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Starts the switch; `wait` returns when it serves."""
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def kill(self) -> None:
        """Sends SIGKILL, like a power cut."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate(timeout=60)
            self.process = None

    def restart(self) -> None:
        self.kill()
        self.start()
        self.wait()

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def wait(self) -> None: ...

    @abstractmethod
    def set_link(self, port: int, *, up: bool) -> None: ...


class EngineSwitch(SwitchProcess):
    tick_ps = 1000

    def command(self) -> list[str]:
        ports = [f"{port.number}:{int(port.rate)}:{int(port.overhead)}" for port in self.switch.ports]
        identity = [str(self.switch.device_id), self.address, str(self.tick_ps)]
        return [sys.executable, str(Path(__file__)), *identity, *ports]

    def wait(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line == b"ready\n", f"{self.switch.name} did not start: {line!r}"

    def set_link(self, port: int, *, up: bool) -> None:
        """Removes a port's link, or restores it."""
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(f"{port} {'up' if up else 'down'}\n".encode())
        self.process.stdin.flush()


class Bmv2Switch(SwitchProcess):
    tick_ps = 1_000_000

    def __init__(self, switch) -> None:
        super().__init__(switch)
        self.folder = tempfile.TemporaryDirectory(prefix="eeon-bmv2-")
        self.thrift = f"127.0.0.1:{free_port()}"

    def command(self) -> list[str]:
        return [
            *("simple_switch_grpc", "--no-p4", "--device-id", str(self.switch.device_id)),
            *(word for port, name in self.interfaces.items() for word in ("-i", f"{port}@{name}")),
            *("--notifications-addr", f"ipc://{self.folder.name}/notifications.ipc"),
            *("--thrift-port", self.thrift.rpartition(":")[2]),
            *("--", "--grpc-server-addr", self.address, "--cpu-port", "510", "--priority-queues", "8"),
        ]

    def wait(self) -> None:
        assert self.process is not None
        for address in (self.address, self.thrift):
            wait_for(self.process, address)

    def set_link(self, port: int, *, up: bool) -> None:
        """Removes the carrier of a port's interface, or restores it; creating the interface needs root."""
        subprocess.run(
            ("ip", "link", "set", self.interfaces[port], "up" if up else "down"), check=True, timeout=60
        )


TARGETS = {"engine": EngineSwitch, "bmv2": Bmv2Switch}


@contextlib.contextmanager
def running(
    target: str, topology, interfaces: Mapping[str, Mapping[int, str]] | None = None
) -> Iterator[dict[str, SwitchProcess]]:
    """Yields the switches of a topology on one of TARGETS; `interfaces`: of BMv2, by switch and port."""
    found = {name: TARGETS[target](switch) for name, switch in topology.switches.items()}
    for name, of_ports in (interfaces or {}).items():
        found[name].interfaces.update(of_ports)
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
        for line in sys.stdin:
            number, status = line.split()
            switch.port_set_link(int(number), status == "up")


if __name__ == "__main__":
    main()
