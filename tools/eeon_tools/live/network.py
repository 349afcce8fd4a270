"""Namespaces and links of a live fabric, by iproute2's `ip` and `ethtool`.

Existing objects are left alone: `check_free` refuses names that are taken, and only objects in the state file
are removed.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from eeon_control.topology import Topology

from eeon_tools.errors import UnavailableError
from eeon_tools.live import plan
from eeon_tools.live.plan import End
from eeon_tools.live.state import Process, State

_OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro", "rxvlan", "txvlan")
_NO_OFFLOADS = [word for offload in _OFFLOADS for word in (offload, "off")]
_NAMESPACES = Path("/run/netns")
_INTERFACES = Path("/sys/class/net")
_END_SECS = 5.0
_POLL_SECS = 0.02
_IFF_UP = 1  # netdevice(7)


def check_possible() -> None:
    """Raises UnavailableError with the reason if no live fabric can be created."""
    if not sys.platform.startswith("linux"):
        raise UnavailableError("a live fabric needs Linux: it consists of network namespaces and veth pairs")
    missing = [tool for tool in ("ip", "ethtool") if shutil.which(tool) is None]
    if missing:
        raise UnavailableError(
            f"a live fabric needs {' and '.join(missing)} on PATH (packages iproute2 and ethtool)"
        )
    if os.geteuid() != 0:
        raise UnavailableError("a live fabric needs root: it makes network namespaces and veth pairs")


def check_free(state: State) -> None:
    """Raises UnavailableError if a name that the fabric needs is taken."""
    taken = [f"namespace {name}" for name in state.namespaces.values() if (_NAMESPACES / name).exists()]
    taken += [f"interface {name}" for name in state.interfaces if (_INTERFACES / name).exists()]
    if taken:
        raise _not_free(taken)


def _not_free(taken: list[str]) -> UnavailableError:
    return UnavailableError(
        f"{taken[0]}{f' and {len(taken) - 1} more' if taken[1:] else ''} already exists and does not "
        "belong to a fabric of this name; choose another --name"
    )


def make(topology: Topology, state: State) -> None:
    """Creates hosts and links. Raises UnavailableError with the error of `ip` or `ethtool`.

    If a name was taken after `check_free`, it is removed from `state`, with all that come after it: `remove`
    must leave alone what was not created here.
    """
    made: dict[str, str] = {}
    for name, namespace in state.namespaces.items():
        if _is_taken("ip", "netns", "add", namespace):
            state.namespaces, state.interfaces = made, []
            raise _not_free([f"namespace {namespace}"])
        made[name] = namespace
    links = list(plan.pairs(topology, state.name))
    here: list[str] = []
    for ends in links:
        ours = [end.interface for end in ends if end.namespace is None]
        if _is_taken("ip", *_add(*ends).split()):
            state.interfaces = here
            raise _not_free([f"interface {name}" for name in ours])
        here += ours
    for name in here:
        # The kernel sends no packets of its own from a switch's port.
        ipv6 = Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")
        if ipv6.exists():
            ipv6.write_text("1")
        _run("ethtool", "-K", name, *_NO_OFFLOADS)
    run_batch([f"link set {name} up" for name in here])
    for host in topology.hosts.values():
        namespace = state.namespaces[host.name]
        inside = ("ip", "netns", "exec", namespace)
        _run(*inside, "ethtool", "-K", plan.HOST_INTERFACE, *_NO_OFFLOADS)
        _write_settings(inside)
        run_batch(plan.host_commands(host), namespace)


def set_links(interfaces: Iterable[str], *, up: bool) -> None:
    """Sets links up or down at their switch's end; the other end sees its carrier come or go. Missing
    interfaces are left out."""
    there = [name for name in interfaces if (_INTERFACES / name).exists()]
    run_batch([f"link set {name} {'up' if up else 'down'}" for name in there])


def any_up(interfaces: Iterable[str]) -> bool:
    """Returns whether any of the interfaces is up, regardless of its other end."""
    for name in interfaces:
        with contextlib.suppress(OSError):
            if int((_INTERFACES / name / "flags").read_text(), 16) & _IFF_UP:
                return True
    return False


def set_congestion_control(state: State, wanted: str | None) -> str:
    """Sets the congestion control of all hosts to `wanted`, or to the first of `ANSWER_MARKS` that the kernel
    allows, and returns its name.

    Raises UnavailableError if there is none: a namespace can only use those that are built in or loaded, and
    in net.ipv4.tcp_allowed_congestion_control of the machine.
    """
    said = ""
    for name in (wanted,) if wanted is not None else plan.ANSWER_MARKS:
        try:
            for namespace in state.namespaces.values():
                write = 'echo "$1" > /proc/sys/net/ipv4/tcp_congestion_control'
                _run("ip", "netns", "exec", namespace, "sh", "-ec", write, "sh", name)
        except UnavailableError as error:
            said = str(error).rpartition(": ")[2]
        else:
            return name
    raise UnavailableError(
        f"hosts cannot use congestion control {wanted or 'dctcp, cubic or reno'}: {said}; the kernel must "
        "have it (modprobe) and `sysctl net.ipv4.tcp_allowed_congestion_control` must list it. "
        "`eeon fabric up --cc` selects another"
    )


def remove(state: State) -> list[str]:
    """Removes all that `make` has created, even if it did not finish. Returns what could not be removed."""
    for name in state.namespaces.values():
        if (_NAMESPACES / name).exists():
            _end_processes(name)
    for name in state.interfaces:
        if (_INTERFACES / name).exists():
            subprocess.run(("ip", "link", "delete", name), check=False, stderr=subprocess.DEVNULL)
    for name in state.namespaces.values():
        if (_NAMESPACES / name).exists():
            subprocess.run(("ip", "netns", "delete", name), check=False, stderr=subprocess.DEVNULL)
    left = [f"interface {name}" for name in state.interfaces if (_INTERFACES / name).exists()]
    return left + [f"namespace {name}" for name in state.namespaces.values() if (_NAMESPACES / name).exists()]


def end(processes: Iterable[Process]) -> None:
    """Ends processes by SIGTERM, and after some seconds by SIGKILL."""
    left = list(processes)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in left:
            process.signal(number)
        if comes_true(lambda: not any(process.is_alive for process in left), _END_SECS):
            return


def comes_true(condition: Callable[[], bool], seconds: float) -> bool:
    """Waits for a condition, for at most `seconds`; returns whether it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECS)
    return True


def _end_processes(namespace: str) -> None:
    """Ends the processes in a namespace, which exists as long as it has a process."""
    found = subprocess.run(
        ("ip", "netns", "pids", namespace), check=False, capture_output=True, text=True
    ).stdout
    inside = []
    for word in found.split():
        with contextlib.suppress(OSError):
            process = Process.of(int(word))
            # The id may belong to another process by now.
            if Path(f"/proc/{process.pid}/ns/net").samefile(_NAMESPACES / namespace):
                inside.append(process)
    end(inside)


def _add(first: End, second: End) -> str:
    def described(one: End) -> str:
        where = f" netns {one.namespace}" if one.namespace is not None else ""
        return f"name {one.interface}{where} mtu {plan.MTU_BYTES} address {one.mac}"

    return f"link add {described(first)} type veth peer {described(second)}"


def _write_settings(inside: Sequence[str]) -> None:
    """Writes the hosts' settings with a shell, because /proc/sys/net shows the namespace of its reader."""
    writes = (
        f"test ! -e /proc/sys/{key.replace('.', '/')} || echo {value} > /proc/sys/{key.replace('.', '/')}"
        for key, value in plan.HOST_SETTINGS.items()
    )
    _run(*inside, "sh", "-ec", "; ".join(writes))


def run_batch(commands: Sequence[str], namespace: str | None = None) -> None:
    """Runs commands with `ip -batch`, in a namespace or here. Raises UnavailableError with its error."""
    where = ("-n", namespace) if namespace is not None else ()
    _run("ip", *where, "-batch", "-", given="\n".join(commands) + "\n")


def _is_taken(*command: str) -> bool:
    """Returns whether a command failed because the name of the object to create is taken."""
    try:
        _run(*command)
    except UnavailableError as error:
        if "File exists" in str(error):
            return True
        raise
    return False


def _run(*command: str, given: str | None = None) -> None:
    done = subprocess.run(command, input=given, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"status {done.returncode}"
        raise UnavailableError(f"{' '.join(command[:6])}: {said}")
