"""How to take back what a write has done so far.

Every step that changes the switch or this server's books pushes its inverse. An update that fails half-way is
rolled back, so an update happens whole or not at all; a batch with ROLLBACK_ON_ERROR rolls back all of its
updates the same way. Inverses run newest first, each in the state that its step left behind, so none of them
can be refused.
"""

from collections.abc import Callable


class Journal:
    """The inverses of the steps done so far."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def push(self, undo: Callable[[], object]) -> None:
        """Remembers how to take the last step back."""
        self._undo.append(undo)

    def rollback(self) -> None:
        """Takes every step back."""
        while self._undo:
            self._undo.pop()()

    def absorb(self, later: "Journal") -> None:
        """Takes over the steps of a journal that was written after this one."""
        self._undo.extend(later._undo)
        later._undo = []
