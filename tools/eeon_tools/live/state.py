"""The file that records the objects of a live fabric. Written before any is created, and read by `down`.

It is in a folder of its own in the run directory, `/run/eeon/NAME/`, which is empty after a reboot, when the
namespaces are gone too. A process is identified by its id and its start time, so that another process that
got the same id later is not taken for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from eeon_tools.errors import InputError, UnavailableError

_ROOT = Path("/run/eeon")
MARK = "EEON_FABRIC"
"""The environment variable of `State.mark`."""
_FILE = "fabric.json"


@dataclass(frozen=True)
class Process:
    """A process of a fabric. `started`: clock ticks since the boot of the machine (proc(5), field 22)."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process:
        """Returns the process that has this id now. Raises ProcessLookupError."""
        started = _started(pid)
        if started is None:
            raise ProcessLookupError(pid)
        return cls(pid, started)

    @property
    def is_alive(self) -> bool:
        return _started(self.pid) == self.started

    def signal(self, number: int) -> None:
        """Sends a signal to the process, but not to another one that has its id now."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            # The id cannot be reused while the descriptor is open, so this check is valid.
            if self.is_alive:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


@dataclass
class State:
    """One fabric: the request, and the objects that may have been created."""

    name: str
    target: str
    topology: str
    """Name of the requested topology."""
    namespaces: dict[str, str] = field(default_factory=dict)
    """Namespace of each host."""
    interfaces: list[str] = field(default_factory=list)
    """Interfaces of switches; their peers are removed with them."""
    switches: dict[str, Process] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    """Addresses of the P4Runtime servers."""
    thrift_ports: dict[str, int] = field(default_factory=dict)
    """Thrift ports of BMv2's switches; the engine's have none."""
    supervisor: Process | None = None
    is_up: bool = False
    congestion_control: str = ""
    """Congestion control of the hosts' TCP."""
    mark: str = ""
    """In the environment of every switch process, to find processes that the creator, when it was killed, had
    not yet recorded."""

    @property
    def folder(self) -> Path:
        """The folder of the logs, the topology with the actual rates, and the state itself."""
        return folder(self.name)

    def check_unclaimed(self) -> None:
        """Raises UnavailableError if a fabric has this name."""
        if (self.folder / _FILE).exists():
            raise self._taken()

    def create(self) -> None:
        """Claims the name atomically. Raises UnavailableError if it is taken."""
        self.folder.mkdir(parents=True, exist_ok=True)
        scratch = self.folder / f".{_FILE}.{os.getpid()}"
        scratch.write_text(self._text(), encoding="utf-8")
        try:
            os.link(scratch, self.folder / _FILE)
        except FileExistsError:
            raise self._taken() from None
        finally:
            scratch.unlink()

    def _taken(self) -> UnavailableError:
        return UnavailableError(
            f"a fabric named {self.name} already exists; `eeon fabric down --name {self.name}` "
            "removes it, another --name starts a second one"
        )

    def save(self) -> None:
        """Replaces the file atomically."""
        scratch = self.folder / f".{_FILE}"
        scratch.write_text(self._text(), encoding="utf-8")
        scratch.replace(self.folder / _FILE)

    def forget(self, *, keeps_logs: bool = False) -> None:
        """Removes the folder after all else is gone; with `keeps_logs` all but the logs."""
        if not keeps_logs:
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        for path in self.folder.iterdir():
            if path.suffix != ".log":
                path.unlink(missing_ok=True)

    def _text(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"


def folder(name: str) -> Path:
    return _ROOT / name


def marked(mark: str) -> list[Process]:
    """Returns the processes that have a fabric's mark in their environment; only root sees all of them."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            process = Process.of(int(path.name))
            if mark and wanted in (path / "environ").read_bytes().split(b"\0"):
                found.append(process)
    return found


def load(name: str) -> State:
    """Reads a fabric's state. Raises UnavailableError if there is none, InputError for a damaged file."""
    path = folder(name) / _FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnavailableError(
            f"no live fabric named {name} is up; `eeon fabric up TOPOLOGY --target engine` starts one"
        ) from None
    try:
        # Any wrong shape ends as one of the errors below.
        found: dict[str, Any] = json.loads(text)
        switches = {name: Process(**process) for name, process in found.pop("switches").items()}
        supervisor = found.pop("supervisor")
        return State(
            **found, switches=switches, supervisor=None if supervisor is None else Process(**supervisor)
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            path,
            "",
            f"is not a fabric's state of this version ({error}); `eeon fabric down` of the version that "
            "wrote it removes the fabric, or remove what it names by hand",
        ) from None


def _started(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command's name is in parentheses and may contain anything.
    words = text.rpartition(")")[2].split()
    return None if words[0] == "Z" else int(words[19])
