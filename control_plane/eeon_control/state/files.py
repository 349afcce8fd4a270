"""Atomic changes of files: after any kill or power cut, a reader finds the old or the new content.

All changes to a state folder go through a Disk. A test replaces its primitives by ones that stop after the
n-th, and checks the result.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from eeon_control.errors import StateError

FILE_MODE = 0o600
FOLDER_MODE = 0o700


@contextmanager
def failing_as_state_error(path: Path, done: str) -> Iterator[None]:
    """Converts an OSError in its context to a StateError: the file cannot be `done`, such as `written`."""
    try:
        yield
    except OSError as error:
        raise StateError(f"{path}: cannot be {done}: {error.strerror}") from None


class Disk:
    """The primitives that change a state folder, and the operations that use them."""

    def replace_file(self, path: Path, data: bytes) -> None:
        """Replaces `path`'s content atomically: a temporary file, synced, renamed over it, folder synced."""
        temporary = path.with_name(f".{path.name}.new")
        try:
            self.write(temporary, data)
            self.rename(temporary, path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()  # not through this disk's primitives: losing it changes nothing
            raise
        self.sync_folder(path.parent)

    def remove_file(self, path: Path) -> None:
        """Removes `path` for good. Does nothing if it does not exist."""
        self.unlink(path)
        self.sync_folder(path.parent)

    def write(self, path: Path, data: bytes) -> None:
        """Writes a whole file and syncs it."""
        handle = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE
        )
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)

    def rename(self, old: Path, new: Path) -> None:
        os.replace(old, new)

    def unlink(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def sync_folder(self, folder: Path) -> None:
        """Makes renames and removals in `folder` survive a power cut."""
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
