"""The state folder of one fabric: revisions, the one in force, and unfinished work."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ValidationError

from eeon_control.election import LARGEST
from eeon_control.errors import StateError
from eeon_control.state import folder as folders
from eeon_control.state.files import Disk, failing_as_state_error
from eeon_control.state.intent import Intended
from eeon_control.state.lock import Holder, Lock, is_locked, read_holder
from eeon_control.state.records import Draft, Journal, Pending, Revision, Stopped, StoppedApplies

__all__ = ["StateError", "StateStore"]

_Record = TypeVar("_Record", bound=BaseModel)
_FILE_LIMIT_BYTES = 1 << 30
_BIDS_LIMIT_BYTES = 16 << 20
_NUMBER_DIGITS = 18  # with its newline; Python itself refuses to read thousands
_REMEMBERED = 100
"""Number of undone applies in the history."""


class StateStore:
    """A state folder. Reading needs no lock, because files are replaced atomically; changes take the Lock.

    Renaming `current` is the moment of a commit. A revision or pending confirmation with a larger number was
    not yet committed when its command was killed, and is ignored; a journal with the number of `current`
    belongs to a completed commit.
    """

    def __init__(self, folder: Path, disk: Disk) -> None:
        self.folder = folder
        self._disk = disk

    @classmethod
    def open(cls, folder: Path, *, create: bool = True, disk: Disk | None = None) -> Self:
        """Opens a state folder. Raises StateError if it does not exist, others may read or change it, or
        `current` is older than its revisions."""
        if create:
            folders.make(folder)
        elif not folders.is_there(folder):
            raise StateError(f"{folder}: no fabric's state here; `eeon config apply` creates it")
        elif folder.is_file():
            raise StateError(f"{folder}: is a file; give the folder of a fabric's state with --state")
        folders.check(folder)
        for part in folders.PARTS:
            folders.make(folder / part)
            folders.check(folder / part)
        store = cls(folder, disk or Disk())
        store._check_current()
        return store

    def _check_current(self) -> None:
        """Refuses a folder that was restored in part: an apply would replace its newer revisions. A killed
        apply leaves one more revision than `current`, which is read last because it only rises."""
        names = [path.stem for path in (self.folder / "revisions").glob("*.json")]
        last = max((int(name) for name in names if name.isdecimal()), default=0)
        if last > self.current_number() + 1:
            reason = f"the last revision is {last}, so it should hold {last - 1} or {last}"
            raise _damaged(self.folder / "current", reason)

    # -- reading ------------------------------------------------------------------------------------------

    def current_number(self) -> int:
        """Returns the number of the revision in force; 0 before the first."""
        return self._number("current")

    def file_of(self, number: int) -> tuple[int, ...]:
        """Returns what identifies a revision: its number and its file. A file is never rewritten, but a
        backup or a new fabric may replace the folder."""
        try:
            found = self._revision_path(number).stat()
        except OSError:
            return (number,)
        return number, found.st_dev, found.st_ino, found.st_mtime_ns

    def applies(self) -> dict[str, int]:
        """Returns the numbers of applies and rollbacks that were `committed`, or `undone` after a failure."""
        return {"committed": self.current_number(), "undone": self._number("undone")}

    def current(self) -> Revision | None:
        """Returns the revision in force, None before the first. Raises StateError if its file is damaged."""
        number = self.current_number()
        return self.revision(number) if number else None

    def revision(self, number: int) -> Revision:
        """Returns a committed revision. Raises StateError if it does not exist."""
        last = self.current_number()
        if not 1 <= number <= last:
            there = (
                f"there are 1 to {last}" if last > 1 else "there is only 1" if last else "there is none yet"
            )
            raise StateError(f"no revision {number}; {there}")
        found = self._record(self._revision_path(number), Revision)
        if found is None:
            raise StateError(
                f"no revision {number}: {self._revision_path(number)} was removed; see `eeon config "
                "history` for those that exist"
            )
        return found

    def revisions(self) -> list[Revision]:
        """Returns all committed revisions whose files exist, oldest first."""
        numbers = range(1, self.current_number() + 1)
        return [self.revision(one) for one in numbers if folders.is_there(self._revision_path(one))]

    def intended(self) -> Intended | None:
        """Returns the fabric's intended configuration; None before the first revision."""
        revision = self.current()
        return revision.intended() if revision is not None else None

    def journal(self) -> Journal | None:
        """Returns the journal of an apply that is in progress or was killed; None without any."""
        return self._record(self.folder / "journal.json", Journal)

    def has_journal(self) -> bool:
        """Returns whether there is a journal, without reading it: a large fabric has a large one."""
        return folders.is_there(self.folder / "journal.json")

    def stopped(self) -> list[Stopped]:
        """Returns the undone applies, oldest first."""
        found = self._record(self.folder / "stopped.json", StoppedApplies)
        return [] if found is None else found.applies

    def pending(self) -> Pending | None:
        """Returns the pending confirmation of the current revision; None without any."""
        found = self._record(self.folder / "pending.json", Pending)
        return found if found is not None and found.revision == self.current_number() else None

    def controllers(self) -> dict[int, Holder | None]:
        """Returns the election ids of the controllers running on this folder, with their holders."""
        folder = self.folder / "controllers"
        with failing_as_state_error(folder, "read"):
            paths = [path for path in folder.iterdir() if path.name.isdecimal()]
        return {int(path.name): read_holder(path) for path in sorted(paths) if is_locked(path)}

    def bids(self, rank: int) -> dict[str, int]:
        """Returns switch -> election id with which a controller holds it, if that is not its own, `rank`.

        A conforming server accepts no primary with an id below the highest it has seen, so that ids rise with
        every command that takes over. So a returning controller can tell a standby, which it may outbid, from
        a stranger, which it must not; and a command knows which id to outbid. An invalid file is as empty.
        """
        path = self._bids_path(rank)
        try:
            found = json.loads(path.read_bytes()) if path.stat().st_size <= _BIDS_LIMIT_BYTES else {}
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {name: bid for name, bid in found.items() if isinstance(bid, int) and 0 < bid <= LARGEST}

    def highest_bid(self) -> int:
        """Returns the largest election id that a running controller may hold; 0 if none runs."""
        return max(
            (bid for rank in self.controllers() for bid in (rank, *self.bids(rank).values())), default=0
        )

    # -- changing -----------------------------------------------------------------------------------------

    def lock(self, command: str) -> Lock:
        """Returns the lock for changes of this folder; `command` names its holder. It may raise LockHeld."""
        return Lock(self.folder / "lock", command)

    def controller_lock(self, election_id: int) -> Lock:
        """Returns the lock that a running controller holds, which makes `controllers` list it."""
        return Lock(
            self.folder / "controllers" / str(election_id), f"eeon controller run --election-id {election_id}"
        )

    def write_bids(self, lock: Lock, rank: int, held: Mapping[str, int]) -> None:
        """Writes the content of `bids`, for the controller that holds `controller_lock(rank)`."""
        assert lock.is_held and lock.path == self.folder / "controllers" / str(rank)
        path = self._bids_path(rank)
        with failing_as_state_error(path, "written"):
            self._disk.replace_file(path, json.dumps(dict(sorted(held.items()))).encode() + b"\n")

    def begin(self, lock: Lock, journal: Journal) -> None:
        """Writes the journal, or its progress, from which a killed apply can be finished later."""
        self._check(lock)
        assert journal.revision == self.current_number() + 1
        self._write(self.folder / "journal.json", journal)

    def commit(self, lock: Lock, draft: Draft, pending: Pending | None = None) -> Revision:
        """Makes a draft the revision in force, and removes the journal and an older pending confirmation.

        Raises StateError if it is not in force afterwards. If it is, leftover files are ignored.
        """
        self._check(lock)
        revision = draft.numbered(self.current_number() + 1)
        self._write(self._revision_path(revision.number), revision)
        if pending is not None:
            assert pending.revision == revision.number
            self._write(self.folder / "pending.json", pending)
        try:
            self._disk.replace_file(self.folder / "current", f"{revision.number}\n".encode())
            if pending is None:
                self._remove("pending.json")
            self._remove("journal.json")
        except OSError as error:
            if self.current_number() != revision.number:
                raise StateError(f"{self.folder / 'current'}: cannot be written: {error.strerror}") from None
        return revision

    def end(self, lock: Lock, *, undone: str = "") -> None:
        """Removes the journal: of a complete commit, or of an apply that is undone (`undone`: the reason)."""
        self._check(lock)
        if undone:
            count = self._number("undone") + 1
            # For metrics and the history. A full disk must not prevent the removal of the journal.
            with contextlib.suppress(OSError, StateError):
                self._disk.replace_file(self.folder / "undone", f"{count}\n".encode())
                journal = self.journal()
                if journal is not None:
                    one = Stopped.of(journal, undone)
                    same = (one.made, one.by, one.after)  # an earlier record of the same apply
                    others = [old for old in self.stopped() if (old.made, old.by, old.after) != same]
                    remembered = StoppedApplies(applies=[*others, one][-_REMEMBERED:])
                    self._write(self.folder / "stopped.json", remembered)
        self._removed("journal.json")

    def confirm(self, lock: Lock) -> None:
        self._check(lock)
        self._removed("pending.json")

    def _check(self, lock: Lock) -> None:
        assert lock.is_held and lock.path == self.folder / "lock", "changing a state folder takes its lock"

    def _bids_path(self, rank: int) -> Path:
        return self.folder / "controllers" / f"{rank}.bids"

    def _revision_path(self, number: int) -> Path:
        return self.folder / "revisions" / f"{number}.json"

    def _write(self, path: Path, record: BaseModel) -> None:
        with failing_as_state_error(path, "written"):
            self._disk.replace_file(path, record.model_dump_json(indent=1).encode() + b"\n")

    def _remove(self, name: str) -> None:
        if folders.is_there(self.folder / name):
            self._disk.remove_file(self.folder / name)

    def _removed(self, name: str) -> None:
        with failing_as_state_error(self.folder / name, "removed"):
            self._remove(name)

    def _record(self, path: Path, kind: type[_Record]) -> _Record | None:
        text = self._read(path)
        if text is None:
            return None
        try:
            return kind.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(step) for step in first["loc"])
            if first["type"] == "extra_forbidden":
                raise StateError(
                    f"{path}: {key}: not known to this version of eeon, so a newer one wrote the file; go on "
                    "with that version"
                ) from None
            raise _damaged(path, f"{key}: {first['msg']}") from None

    def _number(self, name: str) -> int:
        path = self.folder / name
        text = self._read(path)
        if text is None:
            return 0
        if not text.strip().isdigit() or len(text) > _NUMBER_DIGITS:
            raise _damaged(path, "it should hold one number")
        return int(text)

    def _read(self, path: Path) -> bytes | None:
        try:
            folders.check(path)
            if path.stat().st_size > _FILE_LIMIT_BYTES:
                raise _damaged(path, f"it is larger than {_FILE_LIMIT_BYTES} bytes")
            return path.read_bytes()
        except FileNotFoundError:  # also in the middle: another process ends or confirms an apply
            return None
        except OSError as error:
            raise StateError(f"{path}: cannot be read: {error.strerror}") from None


def _damaged(path: Path, reason: str) -> StateError:
    return StateError(f"{path}: damaged: {reason}; restore it from a backup, or give a new folder (--state)")
