"""Rooms: how many calls may wait for their clients at once, and for how long.

A client that lets the server wait costs a thread and memory. When a room is full, the call that has waited
longest makes way for the next: a client that does what it is expected to do waits for milliseconds, and gets
in however many others let the server wait.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_POLL_S = 0.1


class Room:
    """`limit` places, for at most `seconds` each."""

    def __init__(self, limit: int, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds
        self._lock = threading.Lock()
        # Oldest first: since when, and how to end the wait.
        self._waiting: dict[object, tuple[float, Callable[[], object]]] = {}

    @contextmanager
    def wait(self, give_up: Callable[[], object]) -> Iterator[None]:
        """While a call waits for its client. `give_up` ends the wait, from another thread; it must not wait
        itself."""
        place = self.enter(give_up)
        try:
            yield
        finally:
            self.leave(place)

    def enter(self, give_up: Callable[[], object]) -> object:
        """Takes a place, until `leave`."""
        place, oldest = object(), None
        with self._lock:
            if len(self._waiting) >= self._limit:
                oldest = self._waiting.pop(next(iter(self._waiting)))
            self._waiting[place] = (time.monotonic(), give_up)
        if oldest is not None:
            oldest[1]()
        return place

    def leave(self, place: object) -> None:
        """Gives a place back; it may have been lost."""
        with self._lock:
            self._waiting.pop(place, None)

    def sweep(self) -> None:
        """Ends the waits that have taken too long."""
        end, late = time.monotonic() - self._seconds, []
        with self._lock:
            for place, (since, give_up) in list(self._waiting.items()):
                if since > end:
                    break
                del self._waiting[place]
                late.append(give_up)
        for give_up in late:
            give_up()


class Caretaker:
    """A thread that sweeps rooms."""

    def __init__(self, rooms: list[Room], is_wanted: Callable[[], bool]) -> None:
        self._rooms, self._is_wanted = rooms, is_wanted
        self._stopping = threading.Event()
        # No daemon, as the server's other threads.
        self._thread = threading.Thread(target=self._run, name="p4runtime-deadlines")

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends it. May be called again."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while self._is_wanted() and not self._stopping.wait(_POLL_S):
            for room in self._rooms:
                room.sweep()
