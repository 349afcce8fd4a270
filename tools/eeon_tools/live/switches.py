"""The switch processes of a live fabric: how each target is started, found to be ready, and given its rates.

The engine's links have bit rates (`eeon-switch --port-rate`). BMv2's queues have only packet rates; the rate
of a port is that of the largest frames on its link, and it limits smaller frames to the same number.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from eeon_control.config import PRIORITIES
from eeon_control.constants import CPU_PORT
from eeon_control.topology import Switch

from eeon_tools.errors import UnavailableError
from eeon_tools.live import plan
from eeon_tools.live.plan import MTU_BYTES
from eeon_tools.live.state import MARK, Process, State

TICKS = {"engine": "1ns", "bmv2": "1us"}
"""Unit of the timestamps in each target's program."""
_READY_SECS = 30.0
_ETHERNET_HEADER_BYTES = 14
_BMV2_QUEUE_PACKETS = 100_000
_ENGINE_QUEUE_BYTES = "256MB"
# The program has its own limits; if a queue of the target overflowed first, packets would be lost silently.


def check_installed(target: str) -> None:
    """Raises UnavailableError if the target's commands are not installed."""
    needed = {"engine": ["eeon-switch"], "bmv2": ["simple_switch_grpc", "simple_switch_CLI"]}[target]
    missing = [name for name in needed if _found(name) is None]
    if missing:
        raise UnavailableError(
            f"--target {target} needs {' and '.join(missing)}, not found beside Python or on PATH"
        )


def start(state: State, switch: Switch) -> subprocess.Popen[bytes]:
    """Starts a switch, whose ports' interfaces must exist, and records it; its output goes to its log."""
    interfaces = plan.interfaces(state.name, switch)
    arguments = [
        *_OPTIONS[state.target](state, switch),
        *("--no-p4", "--device-id", str(switch.device_id)),
        *("--thrift-port", str(state.thrift_ports.get(switch.name, "none"))),
        *(word for port, name in interfaces.items() for word in ("-i", f"{port}@{name}")),
        *("--", "--grpc-server-addr", state.addresses[switch.name], "--cpu-port", str(CPU_PORT)),
        # The configuration decides whether they are used; an unused queue costs nothing.
        *("--priority-queues", str(PRIORITIES)),
    ]
    with (state.folder / f"{switch.name}.log").open("wb") as log:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, MARK: state.mark},
            # Ctrl-C is for the command that watches the switches, which then ends them.
            start_new_session=True,
        )
    state.switches[switch.name] = Process.of(process.pid)
    state.save()
    return process


def choose_addresses(state: State, names: Sequence[str]) -> None:
    """Chooses the address of each switch. The engine's switches have Unix sockets, which only their user can
    open, and no Thrift; BMv2's are on loopback, where every user of the machine reaches them."""
    if state.target == "engine":
        state.addresses = {name: f"unix:{state.folder}/{name}.p4rt" for name in names}
        return
    ports = free_ports(2 * len(names))
    state.addresses = {name: f"127.0.0.1:{ports.pop()}" for name in names}
    state.thrift_ports = {name: ports.pop() for name in names}


def _engine(state: State, switch: Switch) -> list[str]:
    rates = [word for port in switch.ports for word in ("--port-rate", f"{port.number}={int(port.rate)}bps")]
    return [
        *(_found("eeon-switch") or "eeon-switch", "--timestamp-unit", "ns"),
        *("--log-console", "--log-level", "info"),
        *("--port-buffer", _ENGINE_QUEUE_BYTES, "--port-gate", "gate_open_at"),
        *("--queue-gate", "class_gate_open_at", "--queue-timer", "pause_timer"),
        *("--seed", str(switch.device_id), *rates),
    ]


def _bmv2(state: State, switch: Switch) -> list[str]:
    return [
        *(_found("simple_switch_grpc") or "simple_switch_grpc", "--log-console", "--log-level", "warn"),
        *("--notifications-addr", f"ipc://{state.folder}/{switch.name}.ipc"),
    ]


_OPTIONS = {"engine": _engine, "bmv2": _bmv2}


def remove_socket(state: State, switch: str) -> None:
    """Removes the Unix socket that a killed switch has left."""
    host, _, path = state.addresses[switch].rpartition(":")
    if host == "unix":
        Path(path).unlink(missing_ok=True)


def wait_until_ready(state: State, processes: dict[str, subprocess.Popen[bytes]]) -> None:
    """Waits until all switches accept connections. Raises UnavailableError with the output of the first that
    does not."""
    deadline = time.monotonic() + _READY_SECS
    for name, process in processes.items():
        while not _accepts(state.addresses[name]):
            if process.poll() is not None or time.monotonic() > deadline:
                raise UnavailableError(f"{name} did not start: {last_lines(state, name)}")
            time.sleep(0.05)


def _accepts(address: str) -> bool:
    """Returns whether a server at an address takes connections."""
    host, _, port = address.rpartition(":")
    is_unix = host == "unix"
    with socket.socket(socket.AF_UNIX if is_unix else socket.AF_INET) as connection:
        connection.settimeout(1)
        return connection.connect_ex(port if is_unix else (host, int(port))) == 0


def set_rates(state: State, switch: Switch) -> None:
    """Sets depth and packet rates of BMv2's queues, over Thrift. The engine has its rates from the start."""
    if state.target != "bmv2":
        return
    lines = [f"set_queue_depth {_BMV2_QUEUE_PACKETS}"]
    for port in switch.ports:
        lines.append(f"set_queue_rate {packet_rate(int(port.rate), int(port.overhead))} {port.number}")
    cli = [_found("simple_switch_CLI") or "simple_switch_CLI"]
    cli += ["--thrift-port", str(state.thrift_ports[switch.name])]
    done = subprocess.run(
        cli, input="\n".join(lines) + "\n", check=False, capture_output=True, text=True, timeout=_READY_SECS
    )
    if done.returncode != 0 or "Error" in done.stdout:
        raise UnavailableError(f"{switch.name}: simple_switch_CLI: {(done.stderr or done.stdout).strip()}")


def packet_rate(rate_bps: int, overhead_bytes: int) -> int:
    """Returns the number of frames of the largest size that a link carries per second; at least one."""
    return max(1, rate_bps // (8 * (MTU_BYTES + _ETHERNET_HEADER_BYTES + overhead_bytes)))


def free_ports(count: int) -> list[int]:
    """Returns TCP ports of loopback that are free at present."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


def last_lines(state: State, switch: str) -> str:
    try:
        text = (state.folder / f"{switch}.log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "no log"
    return " | ".join(line.strip() for line in text.splitlines()[-5:]) or "it printed nothing"


def _found(name: str) -> str | None:
    """Returns the path of a command of this environment, or on PATH."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
