"""The life of a live fabric: up, watch, down.

Every object is recorded in the state file before it is created. So `down` can remove a fabric whose creator
was killed at any time, and it removes nothing that is not in the file.
"""

import contextlib
import os
import secrets
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from eeon_control import topology as topologies
from eeon_control.nearest import hint
from eeon_control.topology import Topology

from eeon_tools.errors import InputError, UnavailableError
from eeon_tools.live import network, plan, state, switches
from eeon_tools.live.state import Process, State

_WATCH_SECS = 0.2
_REAP_SECS = 5.0
_LINKS_SECS = 5.0
_DOWN_SECS = 60.0


@dataclass(frozen=True)
class LiveFabric:
    """A running fabric; it ends with its context."""

    state: State
    topology: Topology
    """The topology with the actual rates of the links."""
    topology_path: Path
    processes: dict[str, subprocess.Popen[bytes]]

    def watch(self, stops_within: Callable[[float], bool], report: Callable[[str], None]) -> None:
        """Reports each switch that ends, and sets its links down, as when a switch loses its power. A
        restarted switch is watched again. Returns when `stops_within`, which waits for that number of
        seconds, returns true, or after the last switch has ended."""
        running = dict(self.state.switches)
        while running and not stops_within(_WATCH_SECS):
            for name, process in list(running.items()):
                if not process.is_alive:
                    del running[name]
                    interfaces = plan.interfaces(self.state.name, self.topology.switches[name])
                    network.set_links(interfaces.values(), up=False)
                    report(
                        f"{name} has ended{self._how(name, process)}: {switches.last_lines(self.state, name)}"
                    )
            if len(running) < len(self.topology.switches):
                for name, process in state.load(self.state.name).switches.items():
                    if name not in running and process.is_alive:
                        running[name] = process
                        report(f"{name} is running again")

    def _how(self, name: str, process: Process) -> str:
        """Returns the exit status of a switch; empty if another process started it."""
        own = self.processes[name]
        if own.pid != process.pid:
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            own.wait(_REAP_SECS)  # its other threads may end after the first one
        return f" with status {own.returncode}"


@contextmanager
def up(
    topology: Topology, target: str, scale: Fraction, name: str, congestion_control: str | None = None
) -> Iterator[LiveFabric]:
    """Brings a fabric up and, at the end, down.

    `congestion_control`: that of the hosts; None for one that reacts to marks (`plan.ANSWER_MARKS`). Raises
    UnavailableError if the fabric cannot be created, InputError for a name or a scale that is not allowed.
    """
    plan.check_name(name)
    actual, text = plan.with_rates(topology, scale)
    network.check_possible()
    switches.check_installed(target)
    record = State(
        name=name,
        target=target,
        topology=topology.name,
        namespaces=plan.namespaces(name, actual),
        interfaces=[end.interface for ends in plan.pairs(actual, name) for end in ends if not end.namespace],
        supervisor=Process.of(os.getpid()),
        mark=secrets.token_hex(16),
    )
    # `down` removes what is in the file, so it is written only after all names were found to be free.
    record.check_unclaimed()
    network.check_free(record)
    switches.choose_addresses(record, list(actual.switches))
    record.create()
    try:
        path = record.folder / "topology.yaml"
        path.write_text(text, encoding="utf-8")
        network.make(actual, record)
        record.congestion_control = network.set_congestion_control(record, congestion_control)
        processes = {name: switches.start(record, switch) for name, switch in actual.switches.items()}
        switches.wait_until_ready(record, processes)
        for switch in actual.switches.values():
            switches.set_rates(record, switch)
        record.is_up = True
        record.save()
        yield LiveFabric(record, actual, path, processes)
    except BaseException:
        _remove(record, keeps_logs=True)
        raise
    _remove(record)


def down(name: str) -> str:
    """Removes a fabric, also one whose creator was killed; returns a message about it. Raises
    UnavailableError if there is none or if something could not be removed."""
    network.check_possible()
    record = state.load(name)
    supervisor = record.supervisor
    if supervisor is not None and supervisor.is_alive:
        supervisor.signal(signal.SIGTERM)
        if not network.comes_true(lambda: not supervisor.is_alive, _DOWN_SECS):
            network.end([supervisor])
    # A supervisor that ended by itself has left nothing, and no file.
    try:
        record = state.load(name)
    except UnavailableError:
        return "the fabric is down"
    _remove(record)
    return "the fabric is down; the remains of an interrupted `eeon fabric up` are removed"


def restart(name: str, switch: str) -> Process:
    """Starts a switch of a fabric again, ended or not, and sets its links up. It has no program until a
    client loads one. Raises UnavailableError if the fabric does not exist or the switch does not start,
    InputError for an unknown switch."""
    network.check_possible()
    record = state.load(name)
    topology = topologies.load(record.folder / "topology.yaml")
    if switch not in topology.switches:
        raise InputError("SWITCH", switch, f"is not in this fabric; {hint(switch, topology.switches)}")
    if record.supervisor is None or not record.supervisor.is_alive:
        raise UnavailableError("`eeon fabric up` is no longer running; `eeon fabric down` removes the rest")
    interfaces = plan.interfaces(name, topology.switches[switch]).values()
    network.end([record.switches[switch]])
    # The process that watches the fabric sets the links of an ended switch down.
    network.comes_true(lambda: not network.any_up(interfaces), _LINKS_SECS)
    network.set_links(interfaces, up=True)
    switches.remove_socket(record, switch)
    process = switches.start(record, topology.switches[switch])
    switches.wait_until_ready(record, {switch: process})
    switches.set_rates(record, topology.switches[switch])
    return record.switches[switch]


def _remove(record: State, *, keeps_logs: bool = False) -> None:
    network.end({*record.switches.values(), *state.marked(record.mark)})
    left = network.remove(record)
    if left:
        raise UnavailableError(f"not removed: {', '.join(left)}; `eeon fabric down` tries again")
    record.forget(keeps_logs=keeps_logs)
