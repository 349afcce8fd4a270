"""Switches in separate processes, which tests kill, restart and make refuse: the engine's, or BMv2."""

import contextlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from bmv2_process import free_port, wait_for
from finsy.proto import rpc_code
from revisions import meant
from waiting import wait_until

_fork = multiprocessing.get_context("forkserver")
# Slow imports happen once; none of these modules starts a thread before its use.
_fork.set_forkserver_preload(["engine_switches", "eeon_control.operations"])


class SwitchProcess:
    """A switch of a topology, at an address that stays the same after a restart. `wait` returns when a switch
    that was started serves; `set_link` removes a port's link, or restores it."""

    tick_ps: int
    thrift: str | None = None

    def __init__(self, switch) -> None:
        self.switch = switch
        self.interfaces: dict[int, str] = {}
        self.address = f"127.0.0.1:{free_port()}"
        self.process = None

    def kill(self) -> None:
        """Sends SIGKILL, like a power cut, and waits for the end of the process."""
        if self.process is not None:
            self.process.kill()
            self._await_end()
            self.process = None

    def restart(self) -> None:
        self.kill()
        self.start()
        self.wait()


class EngineSwitch(SwitchProcess):
    """An engine switch, which dies, hangs or refuses at an update because it counts its updates itself."""

    tick_ps = 1000
    _NO_FAULTS = (-1, -1, 0, int(signal.SIGKILL))

    def __init__(self, switch) -> None:
        super().__init__(switch)
        self._faults = [_fork.Value("i", start) for start in self._NO_FAULTS]

    def start(self) -> None:
        self._orders, theirs = _fork.Pipe()
        arguments = (self.switch, self.address, theirs, *self._faults)
        self.process = _fork.Process(target=_serve, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def wait(self) -> None:
        assert self._orders.poll(60) and self._orders.recv(), f"{self.switch.name} did not start"

    def _await_end(self) -> None:
        self.process.join(60)

    def set_link(self, port: int, *, up: bool) -> None:
        self._orders.send((port, up))

    def dies_at_update(self, number: int) -> None:
        """Makes the process kill itself before its `number`-th update from now."""
        self._faults[0].value = number

    def hangs_at_update(self, number: int) -> None:
        """Makes the process stop there, with its connections open. Use `kill` or `continues` in the end."""
        self._faults[0].value, self._faults[3].value = number, signal.SIGSTOP

    def wait_until_it_hangs(self) -> None:
        """Waits until the process has stopped itself (`hangs_at_update`)."""
        # The state follows the name in parentheses: T if it is stopped.
        stat = Path(f"/proc/{self.process.pid}/stat")
        wait_until(lambda: ") T " in stat.read_text(), f"{self.switch.name} does not come to that update")

    def continues(self) -> None:
        """Lets a process that hangs handle what has arrived meanwhile."""
        self.heal()
        os.kill(self.process.pid, signal.SIGCONT)

    def refuses_update(self, number: int, *, times: int = 1) -> None:
        """Makes the switch refuse `times` updates, from the `number`-th one from now."""
        self._faults[1].value, self._faults[2].value = number, times

    def heal(self) -> None:
        for fault, off in zip(self._faults, self._NO_FAULTS, strict=True):
            fault.value = off
        if self.process is None or not self.process.is_alive():
            self.restart()


def _serve(switch, address, orders, dies_at, refuses_at, refusals, dies_by) -> None:
    """Runs an engine switch until it is killed, and sets its links as ordered. The shared numbers count
    updates down; at 0, it dies or refuses."""
    from engine_switches import LocalSwitch

    def fault(update):
        for left in (dies_at, refuses_at):
            if left.value > 0:
                left.value -= 1
        if dies_at.value == 0:
            os.kill(os.getpid(), dies_by.value)
        if refuses_at.value == 0:
            refusals.value -= 1
            refuses_at.value = 0 if refusals.value > 0 else -1
            return rpc_code.RESOURCE_EXHAUSTED, "the table is full, says the test"
        return None

    found = LocalSwitch(switch)
    found.fault = fault
    found.start(address)
    with contextlib.suppress(EOFError):
        orders.send(True)
        while True:
            found.engine.port_set_link(*orders.recv())
    found.stop()


class Bmv2Switch(SwitchProcess):
    tick_ps = 1_000_000

    def __init__(self, switch) -> None:
        super().__init__(switch)
        self.folder = tempfile.TemporaryDirectory(prefix="eeon-bmv2-")
        self.thrift = f"127.0.0.1:{free_port()}"

    def start(self) -> None:
        command = [
            *("simple_switch_grpc", "--no-p4", "--device-id", str(self.switch.device_id)),
            *(word for port, name in self.interfaces.items() for word in ("-i", f"{port}@{name}")),
            *("--notifications-addr", f"ipc://{self.folder.name}/notifications.ipc"),
            *("--thrift-port", self.thrift.rpartition(":")[2]),
            *("--", "--grpc-server-addr", self.address, "--cpu-port", "510", "--priority-queues", "8"),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait(self) -> None:
        for address in (self.address, self.thrift):
            wait_for(self.process, address)

    def _await_end(self) -> None:
        self.process.wait(60)

    def set_link(self, port: int, *, up: bool) -> None:
        """Removes the carrier of a port's interface, or restores it; creating the interface needs root."""
        subprocess.run(
            ("ip", "link", "set", self.interfaces[port], "up" if up else "down"), check=True, timeout=60
        )


TARGETS = {"engine": EngineSwitch, "bmv2": Bmv2Switch}


def skip_without(target: str) -> None:
    """Skips the test if one of TARGETS is not installed."""
    if target == "engine":
        pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")
    elif shutil.which("simple_switch_grpc") is None:
        pytest.skip("simple_switch_grpc (BMv2) is not on PATH")


@contextlib.contextmanager
def running(
    target: str, topology, interfaces: Mapping[str, Mapping[int, str]] | None = None
) -> Iterator[dict[str, SwitchProcess]]:
    """Yields the switches of a topology on one of TARGETS; `interfaces`: of BMv2, by switch and port."""
    skip_without(target)
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


def meant_for(switches: Mapping[str, SwitchProcess], fabric, wanted, *, thrift: bool = False):
    """Returns a configuration for running switches; `thrift`: with their Thrift addresses."""
    places = {
        name: {"address": one.address, **({"thrift": one.thrift} if thrift and one.thrift else {})}
        for name, one in switches.items()
    }
    return meant(fabric, wanted, places, f"{next(iter(switches.values())).tick_ps}ps")
