"""Hosts that answer nothing: while a trace is replayed, the kernel of a host must not speak to its packets.

A TCP segment for nobody would be answered with a reset, a datagram with an ICMP error. Routes that lead
nowhere, narrower than the host's own, keep such answers in; the host's interface and addresses stay as they
are, and with the routes gone so does everything else.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from eeon_tools.errors import UnavailableError
from eeon_tools.live.network import run_batch
from eeon_tools.live.state import State

_NOWHERE = ("0.0.0.0/1", "128.0.0.0/1", "::/1", "8000::/1")
_LOCK = "replay.lock"


@contextmanager
def silent_hosts(record: State) -> Iterator[None]:
    """Keeps all hosts of the fabric from sending anything of their own. Allows one replay at a time: raises
    UnavailableError for a second one."""
    with (record.folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UnavailableError(
                f"fabric {record.name}: another replay runs on it; wait for its end, or bring up a second "
                "fabric with another --name"
            ) from None
        done: list[str] = []
        try:
            for namespace in record.namespaces.values():
                # `replace`, because a replay that was killed has left its own.
                run_batch([f"route replace blackhole {route}" for route in _NOWHERE], namespace)
                done.append(namespace)
            yield
        finally:
            for namespace in done:
                run_batch([f"route delete blackhole {route}" for route in _NOWHERE], namespace)
