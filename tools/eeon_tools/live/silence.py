"""Silent hosts: while a trace is replayed, the kernel of a host must not answer its packets.

A TCP segment without a socket would be answered with a reset, a datagram with an ICMP error. Blackhole
routes, more specific than the host's own, drop such answers; the host's interface and addresses stay
unchanged, and when the routes are removed, all is as before.
"""

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
    """Keeps the kernels of all hosts of the fabric from sending packets. Allows one replay at a time: raises
    UnavailableError for a second one."""
    with (record.folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UnavailableError(
                f"fabric {record.name}: another replay is running on it; wait for it to end, or bring up a "
                "second fabric with another --name"
            ) from None
        done: list[str] = []
        try:
            for namespace in record.namespaces.values():
                # `replace`, because a replay that was killed has left its routes.
                run_batch([f"route replace blackhole {route}" for route in _NOWHERE], namespace)
                done.append(namespace)
            yield
        finally:
            for namespace in done:
                run_batch([f"route delete blackhole {route}" for route in _NOWHERE], namespace)
