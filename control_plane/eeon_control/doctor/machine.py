"""Checks of the computer: privileges, namespaces, interfaces, limits, clock, the fabric's state folder."""

import array
import fcntl
import resource
import shutil
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from eeon_control.doctor.finding import Finding, fault, ok, warning
from eeon_control.errors import StateError
from eeon_control.state import StateStore
from eeon_control.state import folder as folders

_CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13}  # linux/capability.h
_LIVE = "only live fabrics (`eeon fabric up --target engine|bmv2`) need it"
_FILES_PER_SWITCH = 4
_FILES_BESIDE = 128
_SIOCETHTOOL = 0x8946
# linux/ethtool.h
_OFFLOADS = {"receive checksums": 0x14, "transmit checksums": 0x16, "tso": 0x1E, "gso": 0x23, "gro": 0x2B}
_CLOCK_SLACK_S = 60.0


def capabilities(status: Path = Path("/proc/self/status")) -> Iterator[Finding]:
    """Checks CAP_NET_RAW and CAP_NET_ADMIN, which switches on real interfaces need."""
    try:
        line = next(line for line in status.read_text().splitlines() if line.startswith("CapEff:"))
    except (OSError, StopIteration):
        yield warning("capabilities", f"{status} does not list them; is this Linux?", _LIVE)
        return
    held = int(line.partition(":")[2], 16)
    missing = [name for name, bit in _CAPABILITIES.items() if not held >> bit & 1]
    if missing:
        yield warning(
            "capabilities", f"this process has no {' and no '.join(missing)}", f"run as root; {_LIVE}"
        )
    else:
        yield ok("capabilities", " and ".join(_CAPABILITIES))


def namespaces(
    which: Callable[[str], str | None] = shutil.which, here: Path = Path("/proc/self/ns/net")
) -> Iterator[Finding]:
    """Checks network namespaces and the command that creates them."""
    if not here.exists():
        yield warning("namespaces", "this kernel has no network namespaces", _LIVE)
    elif which("ip") is None:
        yield warning("namespaces", "the command ip is not on PATH", f"install iproute2; {_LIVE}")
    else:
        yield ok("namespaces", "network namespaces, and ip to make them")


def offloads(interface: str, read: Callable[[str, int], int] | None = None) -> Iterator[Finding]:
    """Checks an interface for offloads to hardware, which a software switch does not have.

    With offloads, frames reach the switch larger than any link can carry, or with unfilled checksums.
    """
    ask = read or _ethtool
    check = f"interface {interface}"
    try:
        on = [name for name, command in _OFFLOADS.items() if ask(interface, command)]
    except OSError as error:
        yield fault(check, f"{error.strerror or error}", "name an interface of this machine (ip link)")
        return
    if on:
        yield warning(
            check,
            f"offloads are on: {', '.join(on)}",
            f"ethtool -K {interface} rx off tx off tso off gso off gro off",
        )
    else:
        yield ok(check, "checksums and segmentation are done in software")


def open_files(switches: int, limit: int | None = None) -> Iterator[Finding]:
    """Checks the limit on open files: each switch needs a few, and the usual limit is 1024."""
    have = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if limit is None else limit
    need = _FILES_BESIDE + switches * _FILES_PER_SWITCH
    if have != resource.RLIM_INFINITY and have < need:
        yield fault(
            "open files", f"the limit is {have}; {switches} switches need about {need}", f"ulimit -n {need}"
        )
    else:
        yield ok("open files", f"the limit is {have}; about {need} are needed")


def clock(newest: Path, now: float | None = None) -> Iterator[Finding]:
    """Checks that the wall clock is not before the time of a file."""
    at = time.time() if now is None else now
    written = newest.stat().st_mtime
    shown = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    if at + _CLOCK_SLACK_S < written:
        yield fault(
            "clock",
            f"it is {shown}, but {newest} was written later",
            "set the clock (NTP); certificates and confirmation deadlines depend on it",
        )
    else:
        yield ok("clock", shown)


def state_folder(folder: Path) -> Iterator[Finding]:
    """Checks the state folder: permissions, an interrupted apply, a pending confirmation."""
    check = "state folder"
    try:
        if not folders.is_there(folder):
            yield ok(check, f"{folder}: does not exist yet; the first `eeon config apply` creates it")
            return
        for path in (folder, *sorted(folder.rglob("*"))):
            with suppress(FileNotFoundError):  # an apply or a controller that runs replaces its files
                folders.check(path)
        store = StateStore.open(folder, create=False)
        number, interrupted, pending = store.current_number(), store.has_journal(), store.pending()
    except StateError as error:
        yield fault(check, str(error), "do what the message says, then check with `eeon config history`")
        return
    if interrupted:
        yield fault(check, f"{folder}: an apply was interrupted and is not finished", "eeon config recover")
    if pending is not None:
        yield warning(
            check, f"{folder}: a revision waits to be confirmed", "eeon config confirm, or it is rolled back"
        )
    yield ok(check, f"{folder}: revision {number}" if number else f"{folder}: no revision yet")
    with suppress(FileNotFoundError):
        newest = max(folder.rglob("*"), key=lambda path: path.stat().st_mtime, default=folder)
        yield from (finding for finding in clock(newest) if finding.mend)


def _ethtool(interface: str, command: int) -> int:
    """Reads one value of an interface (ethtool's old commands, which do not need root)."""
    value = array.array("B", struct.pack("II", command, 0))
    request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCETHTOOL, request)
    found: int = struct.unpack("II", value)[1]
    return found
