"""A disk that tells of each operation before it is made."""

from collections.abc import Callable
from pathlib import Path

from eeon_control import state


class WatchedDisk(state.Disk):
    """Calls `before` with the name of the file, or `sync`."""

    def __init__(self, before: Callable[[str], None]) -> None:
        self._before = before

    def write(self, path: Path, data: bytes) -> None:
        self._before(path.name)
        super().write(path, data)

    def rename(self, old: Path, new: Path) -> None:
        self._before(new.name)
        super().rename(old, new)

    def unlink(self, path: Path) -> None:
        self._before(path.name)
        super().unlink(path)

    def sync_folder(self, folder: Path) -> None:
        self._before("sync")
        super().sync_folder(folder)
