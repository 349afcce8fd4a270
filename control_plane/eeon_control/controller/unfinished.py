"""Unfinished work in the state folder: the journal of a killed command, a missing confirmation."""

import logging
import time
from dataclasses import dataclass

from eeon_control import operations
from eeon_control.controller.backoff import Backoff
from eeon_control.controller.counts import Counts
from eeon_control.controller.log import say
from eeon_control.errors import EeonError
from eeon_control.state import LockHeld, StateStore, clock

_COMMAND = "eeon controller run"
_RETRY_FIRST_SECONDS = 2.0
_RETRY_MAX_SECONDS = 60.0


@dataclass(frozen=True)
class Found:
    """The unfinished work. `confirm_seconds_left`: None if no confirmation is pending, 0 if overdue."""

    journal: bool = False
    confirm_seconds_left: float | None = None

    @property
    def is_due(self) -> bool:
        """Whether there is work to do once the folder's lock is free."""
        return self.journal or self.confirm_seconds_left == 0


class Finisher:
    """Finishes the work that is found; on failure (a switch is away), retries later.

    `found`: the result of the last look, for metrics.
    """

    def __init__(self, store: StateStore, counts: Counts) -> None:
        self._store = store
        self._counts = counts
        self._backoff = Backoff(_RETRY_FIRST_SECONDS, _RETRY_MAX_SECONDS, str(store.folder))
        self._not_before = 0.0
        self.found = Found()
        self._tried = False
        self._at_work = False

    @property
    def keeps_back(self) -> bool:
        """Whether no other part should write to the switches now.

        A journal that could not be finished does not block writes: the reachable switches are then brought to
        the revision in force, as finishing the journal would do.
        """
        return self._at_work or (self.found.journal and not self._tried)

    def find(self) -> None:
        """Reads the folder. Raises StateError."""
        pending = self._store.pending()
        left = None if pending is None else pending.seconds_left(clock.now())
        self.found = Found(self._store.has_journal(), left)
        if not self.found.is_due:
            self._tried, self._not_before = False, 0.0
            self._backoff.reset()

    async def finish(self) -> None:
        """Finishes due work, unless its back-off has not ended. Logs the result, and raises no EeonError."""
        if time.monotonic() < self._not_before:
            return
        what = "journal" if self.found.journal else "confirmation"
        self._at_work = True
        try:
            with self._store.lock(_COMMAND) as lock:
                work = operations.Work(self._store, lock, say=_tell)
                recovered, rolled_back = await operations.settle(work)
        except LockHeld:
            return  # another process was faster; the next look shows the result
        except EeonError as error:
            self._counts.finished[what, "failed"] += 1
            self._not_before = time.monotonic() + self._backoff.next()
            say(logging.ERROR, "unfinished", what=what, reason=str(error))
        else:
            if recovered is not None:
                self._counts.finished["journal", recovered.direction] += 1
            if rolled_back is not None:
                self._counts.finished["confirmation", "rolled_back"] += 1
        finally:
            self._at_work, self._tried = False, True


def _tell(text: str) -> None:
    say(logging.WARNING, "finished", reason=text)
