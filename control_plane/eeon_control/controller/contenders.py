"""Who else writes to a fabric, as its state folder tells: controllers by rank, and commands."""

from __future__ import annotations

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

    `command`: who holds the folder's lock. `controllers`: ranks (configured election ids) of the running
    controllers, this one's too. `bids`: rank -> switch -> election id, where that is not the rank.
    """

    command: Holder | None = None
    controllers: frozenset[int] = frozenset()
    bids: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    def superior(self, rank: int) -> bool:
        """Returns whether a controller of larger rank runs."""
        return any(other > rank for other in self.controllers)

    def writers(self, rank: int, switch: str, *, apply_running: bool) -> Writers:
        """Returns what the state machine of one switch has to know."""
        return Writers(
            apply_running=apply_running,
            superior=self.superior(rank),
            inferior_bids=frozenset(
                self.bids.get(other, {}).get(switch, other) for other in self.controllers if other < rank
            ),
        )


def read(store: StateStore) -> Contenders:
    """Reads who is there now. Raises StateError."""
    controllers = store.controllers()
    return Contenders(
        command=_command(store.folder / "lock"),
        controllers=frozenset(controllers),
        bids={rank: store.bids(rank) for rank in controllers},
    )


@contextlib.contextmanager
def register(store: StateStore, rank: int) -> Iterator[Lock]:
    """Holds the lock of a running controller of this rank. Raises StateError when another one holds it."""
    lock = store.controller_lock(rank)
    with contextlib.ExitStack() as held:
        for tries_left in reversed(range(_REGISTER_TRIES)):
            try:
                held.enter_context(lock)
                break
            except LockHeld as error:
                # Another controller that looks whether the lock is held holds it for a moment.
                if tries_left:
                    time.sleep(_REGISTER_PAUSE_SECONDS)
                    continue
                who = str(error.holder) if error.holder is not None else "another process"
                raise StateError(
                    f"a controller with election id {rank} runs on {store.folder} already: {who}; "
                    "a standby needs a smaller --election-id"
                ) from None
        yield lock


def _command(path: Path) -> Holder | None:
    """Returns who holds the folder's lock, or None.

    To ask the lock itself is to hold it for a moment, which could turn away a command that starts just then;
    so it is asked only when somebody has written its name and may still be alive.
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
