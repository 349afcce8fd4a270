"""The state folder after a kill or a power cut at any moment of any change: it opens, and is old or new."""

import itertools
import tempfile
from pathlib import Path

from eeon_control import state
from eeon_control.fabric.undo import Snapshot
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from revisions import begin, draft

INTENT = state.Intent(fabric="f", configuration={}, topology={}, targets={}, program="p", entries={})
MOMENT = state.Moment(wall_seconds=1e9, boot_seconds=5.0, boot_id="a")
ACTIONS = ("commit", "apply", "undo", "apply_to_confirm", "confirm")


class Killed(BaseException):
    """The process has ended."""


class DyingDisk(state.Disk):
    """A disk that ends before its `last`-th primitive; a write there is half done. With `power_cut`, changed
    names in an unsynced folder are as before, as POSIX permits."""

    def __init__(self, last: int, power_cut: bool) -> None:
        self.left = last
        self.power_cut = power_cut
        self.unsynced: list[tuple[Path, bytes | None]] = []

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            if self.power_cut:
                for path, before in reversed(self.unsynced):
                    if before is None:
                        path.unlink(missing_ok=True)
                    else:
                        super().write(path, before)
            raise Killed

    def write(self, path: Path, data: bytes) -> None:
        try:
            self.step()
        except Killed:
            super().write(path, data[: len(data) // 2])
            raise
        super().write(path, data)

    def rename(self, old: Path, new: Path) -> None:
        self.step()
        self.unsynced.append((new, new.read_bytes() if new.exists() else None))
        super().rename(old, new)

    def unlink(self, path: Path) -> None:
        self.step()
        self.unsynced.append((path, path.read_bytes() if path.exists() else None))
        super().unlink(path)

    def sync_folder(self, folder: Path) -> None:
        self.step()
        self.unsynced = [(path, before) for path, before in self.unsynced if path.parent != folder]
        super().sync_folder(folder)


def perform(store: state.StateStore, action: str, comment: str) -> None:
    number, new = store.current_number(), draft(INTENT, comment)
    pending = state.Pending(revision=number + 1, back_to=max(1, number), since=MOMENT, seconds=600)
    with store.lock("test") as lock:
        if action in ("apply", "undo", "apply_to_confirm"):
            begin(store, lock, new, {"leaf1": Snapshot(False)})
        if action in ("commit", "apply", "apply_to_confirm"):
            store.commit(lock, new, pending if action == "apply_to_confirm" else None)
        elif action == "undo":
            store.end(lock, undone="refused")
        else:
            store.confirm(lock)


def seen(store: state.StateStore) -> tuple[list[str], bool, bool]:
    """Returns the view of a later command: the history, a pending confirmation, an unfinished apply."""
    found = store.journal()
    unfinished = found is not None and found.revision > store.current_number()
    assert not store.current_number() or store.current().comment == store.revisions()[-1].comment
    return [one.comment for one in store.revisions()], store.pending() is not None, unfinished


def after(
    action: str, before: tuple[list[str], bool, bool], comment: str
) -> list[tuple[list[str], bool, bool]]:
    """Returns the permitted views after a kill: before, after, and in between only an unfinished apply."""
    history, waits, _ = before
    new = {
        "commit": ([*history, comment], False, False),
        "apply": ([*history, comment], False, False),
        "apply_to_confirm": ([*history, comment], True, False),
        "undo": (history, waits, False),
        "confirm": (history, False, False),
    }[action]
    between = [(history, waits, True)] if action not in ("commit", "confirm") else []
    return [(history, waits, False), *between, new]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(ACTIONS), max_size=3), st.sampled_from(ACTIONS), st.booleans())
def test_kill_at_any_disk_operation_leaves_a_store_that_opens_and_names_old_or_new(earlier, last, power_cut):
    for kill_at in itertools.count():
        with tempfile.TemporaryDirectory() as folder:
            store = state.StateStore.open(Path(folder) / "state")
            for number, action in enumerate(earlier):
                perform(store, action, f"earlier {number}")
            before = seen(store)
            # A pending revision is confirmed or rolled back before the next apply.
            assume(not (before[1] and last == "apply_to_confirm"))
            dying = state.StateStore.open(store.folder, disk=DyingDisk(kill_at, power_cut))
            try:
                perform(dying, last, "last")
                survived = True
            except Killed:
                survived = False
            again = state.StateStore.open(store.folder, create=False)
            found, possible = seen(again), after(last, before, "last")
            assert found in possible
            if survived:
                assert found == possible[-1]
                return
            # The next command continues from there.
            perform(again, "apply", "next")
            assert seen(again) == ([*found[0], "next"], False, False)
