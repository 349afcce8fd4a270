"""Exclusive locks that name their holder."""

import fcntl
import getpass
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from eeon_control.errors import StateError
from eeon_control.state.files import FILE_MODE, failing_as_state_error


class Holder(BaseModel):
    """The holder of a lock, as written into it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    user: str
    host: str
    pid: int
    command: str
    since: str

    @classmethod
    def me(cls, command: str) -> Self:
        since = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(user=user_name(), host=socket.gethostname(), pid=os.getpid(), command=command, since=since)

    def __str__(self) -> str:
        return f"`{self.command}` of {self.user}@{self.host}, process {self.pid}, since {self.since}"


class LockHeld(StateError):
    """Another process holds the lock; `holder` is None if it has not yet written its name."""

    def __init__(self, path: Path, holder: Holder | None) -> None:
        self.holder = holder
        who = str(holder) if holder is not None else "a process that has just started"
        super().__init__(f"{path}: held by {who}; wait for it to end")


class Lock:
    """An exclusive lock on a file; use it with `with`. The end of the process always releases it.

    Not re-entrant: a second attempt by the same process fails like any other. Raises LockHeld.
    """

    def __init__(self, path: Path, command: str) -> None:
        self.path = path
        self.holder = Holder.me(command)
        self._handle = -1

    @property
    def is_held(self) -> bool:
        return self._handle >= 0

    @property
    def is_in_place(self) -> bool:
        """Whether this object holds the lock, and others that try the path meet it: a folder may have been
        replaced with all its files."""
        try:
            return self.is_held and os.path.samestat(os.fstat(self._handle), os.stat(self.path))
        except FileNotFoundError:
            return False

    def __enter__(self) -> Self:
        with failing_as_state_error(self.path, "opened"):
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise LockHeld(self.path, read_holder(self.path)) from None
        text = self.holder.model_dump_json().encode() + b"\n"
        try:
            os.truncate(handle, 0)
            os.pwrite(handle, text, 0)
        except OSError as error:
            os.close(handle)
            raise StateError(f"{self.path}: cannot be written: {error.strerror}") from None
        self._handle = handle
        return self

    def __exit__(self, *_: object) -> None:
        os.truncate(self._handle, 0)
        os.close(self._handle)
        self._handle = -1


def is_locked(path: Path) -> bool:
    """Returns whether a process holds the lock of this path."""
    with failing_as_state_error(path, "opened"):
        try:
            handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def read_holder(path: Path) -> Holder | None:
    """Returns the holder that a lock names; None if it names none, or the holder is just writing it."""
    try:
        return Holder.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def user_name() -> str:
    """Returns the user's name, or the user id if the system has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid{os.geteuid()}"
