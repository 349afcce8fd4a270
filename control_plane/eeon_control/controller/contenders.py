"""The other writers to a fabric, according to its state folder: controllers by rank, and commands."""

import contextlib
import os
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eeon_control.controller.messages import Writers
from eeon_control.errors import StateError
from eeon_control.state import Holder, Lock, LockHeld, StateStore
from eeon_control.state.lock import is_locked, read_holder

_REGISTER_TRIES = 5
_REGISTER_PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class Contenders:
    """One reading of the folder.

    `command`: the holder of the folder's lock. `controllers`: ranks (configured election ids) of the running
    controllers, including this one. `bids`: rank -> switch -> election id, if that differs from the rank.
    """

    command: Holder | None = None
    controllers: frozenset[int] = frozenset()
    bids: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    def superior(self, rank: int) -> bool:
        """Returns whether a controller of larger rank runs."""
        return any(other > rank for other in self.controllers)

    def writers(self, rank: int, switch: str, *, apply_running: bool) -> Writers:
        """Returns the information on writers for the state machine of one switch."""
        return Writers(
            apply_running=apply_running,
            superior=self.superior(rank),
            inferior_bids=frozenset(
                self.bids.get(other, {}).get(switch, other) for other in self.controllers if other < rank
            ),
        )


def read(store: StateStore) -> Contenders:
    """Reads the present writers. Raises StateError."""
    controllers = store.controllers()
    return Contenders(
        command=_command(store.folder / "lock"),
        controllers=frozenset(controllers),
        bids={rank: store.bids(rank) for rank in controllers},
    )


@contextlib.contextmanager
def register(store: StateStore, rank: int) -> Iterator[Lock]:
    """Holds the lock of a running controller of this rank. Raises StateError if another one holds it."""
    lock = store.controller_lock(rank)
    with contextlib.ExitStack() as held:
        for tries_left in reversed(range(_REGISTER_TRIES)):
            try:
                held.enter_context(lock)
                break
            except LockHeld as error:
                # Another controller that tests the lock holds it for a moment.
                if tries_left:
                    time.sleep(_REGISTER_PAUSE_SECONDS)
                    continue
                who = str(error.holder) if error.holder is not None else "another process"
                raise StateError(
                    f"a controller with election id {rank} already runs on {store.folder}: {who}; start a "
                    "standby with a smaller --election-id"
                ) from None
        yield lock


def _command(path: Path) -> Holder | None:
    """Returns the holder of the folder's lock, or None.

    A test of the lock itself holds it for a moment, in which it could refuse a command that is starting. So
    it is tested only if a holder has written its name and may still be alive.
    """
    holder = read_holder(path)
    if holder is None or _is_dead(holder) or not is_locked(path):
        return None
    return holder


def _is_dead(holder: Holder) -> bool:
    if holder.host != socket.gethostname():
        return False
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False
