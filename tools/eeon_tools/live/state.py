"""The file that says what a live fabric has made. Written before anything is made, and read by `down`.

It lies in a folder of its own below the run directory, `/run/eeon/NAME/`, which is empty after a restart of
the computer as the namespaces are. A process is known by its id and the moment it was started, so that an id
that was given to another process since is not taken for ours.
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
"""The variable of `State.mark`."""
_FILE = "fabric.json"


@dataclass(frozen=True)
class Process:
    """A process of ours. `started`: clock ticks since the computer's start (proc(5), field 22)."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process:
        """Returns the process with this id, now. Raises ProcessLookupError."""
        started = _started(pid)
        if started is None:
            raise ProcessLookupError(pid)
        return cls(pid, started)

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return _started(self.pid) == self.started

    def signal(self, number: int) -> None:
        """Sends a signal to it, and to no process that has got its id since."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            # What has the id now keeps it while the descriptor is open, so this is asked in time.
            if self.is_alive:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


@dataclass
class State:
    """One fabric: what was asked for and what may have been made."""

    name: str
    target: str
    topology: str
    """Name of the topology that was asked for."""
    namespaces: dict[str, str] = field(default_factory=dict)
    """Namespace of each host."""
    interfaces: list[str] = field(default_factory=list)
    """Interfaces of switches; their peers go with them."""
    switches: dict[str, Process] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    """P4Runtime servers."""
    thrift_ports: dict[str, int] = field(default_factory=dict)
    """Thrift ports of BMv2's switches; the engine's have none."""
    supervisor: Process | None = None
    is_up: bool = False
    congestion_control: str = ""
    """Congestion control of the hosts' TCP."""
    mark: str = ""
    """In the environment of every switch process, so that one is found whose maker was killed before it could
    write the process down."""

    @property
    def folder(self) -> Path:
        """Logs, the topology with its rates, the state itself."""
        return folder(self.name)

    def check_unclaimed(self) -> None:
        """Raises UnavailableError when a fabric has this name."""
        if (self.folder / _FILE).exists():
            raise self._taken()

    def create(self) -> None:
        """Claims the name, whole or not at all. Raises UnavailableError when it is taken."""
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
            f"a fabric named {self.name} is there already; `eeon fabric down --name {self.name}` "
            "removes it, another --name leaves it alone"
        )

    def save(self) -> None:
        """Replaces the file at once."""
        scratch = self.folder / f".{_FILE}"
        scratch.write_text(self._text(), encoding="utf-8")
        scratch.replace(self.folder / _FILE)

    def forget(self, *, keeps_logs: bool = False) -> None:
        """Removes the folder when everything else is gone; with `keeps_logs` only the file, not the logs."""
        if keeps_logs:
            (self.folder / _FILE).unlink(missing_ok=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _text(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"


def folder(name: str) -> Path:
    """Returns where the fabric of this name keeps its files."""
    return _ROOT / name


def marked(mark: str) -> list[Process]:
    """Returns the processes that have a fabric's mark in their environment; root sees all of them."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            process = Process.of(int(path.name))
            if mark and wanted in (path / "environ").read_bytes().split(b"\0"):
                found.append(process)
    return found


def load(name: str) -> State:
    """Reads a fabric's state. Raises UnavailableError where there is none, InputError for a damaged file."""
    path = folder(name) / _FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnavailableError(f"no live fabric named {name} is up; `eeon fabric up` brings one up") from None
    try:
        # Whatever is of another shape ends as one of the errors below.
        found: dict[str, Any] = json.loads(text)
        switches = {name: Process(**process) for name, process in found.pop("switches").items()}
        supervisor = found.pop("supervisor")
        return State(
            **found, switches=switches, supervisor=None if supervisor is None else Process(**supervisor)
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            path, "", f"is not a fabric's state ({error}); remove what it names by hand"
        ) from None


def _started(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command's name stands in brackets and may hold anything.
    words = text.rpartition(")")[2].split()
    return None if words[0] == "Z" else int(words[19])


def has_root() -> bool:
    """Returns whether this process may make namespaces, as far as its user id says."""
    return os.geteuid() == 0
