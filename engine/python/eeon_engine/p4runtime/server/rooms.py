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
    """`limit` places, for at most `seconds` each. A call that has waited for less than `grace_s` makes no
    way: until it has, there may be more than `limit`."""

    def __init__(self, limit: int, seconds: float, grace_s: float = 0.0) -> None:
        self._limit = limit
        self._seconds = seconds
        self._grace_s = grace_s
        self._lock = threading.Lock()
        # Oldest first: since when, and how to end the wait.
        self._waiting: dict[object, tuple[float, Callable[[], object]]] = {}

    @contextmanager
    def wait(self, give_up: Callable[[], object]) -> Iterator[None]:
        """Counts a call that waits for its client. `give_up` ends the wait, from another thread; it must not
        wait itself."""
        place = self.enter(give_up)
        try:
            yield
        finally:
            self.leave(place)

    def enter(self, give_up: Callable[[], object]) -> object:
        """Takes a place, until `leave`."""
        place = object()
        with self._lock:
            self._waiting[place] = (time.monotonic(), give_up)
        self.sweep()
        return place

    def leave(self, place: object) -> None:
        """Gives a place back; it may have been lost."""
        with self._lock:
            self._waiting.pop(place, None)

    def sweep(self) -> None:
        """Ends the waits that have taken too long, and the oldest of those that are too many."""
        now, ended = time.monotonic(), []
        with self._lock:
            for place, (since, give_up) in list(self._waiting.items()):
                waited_s = now - since
                is_too_many = len(self._waiting) > self._limit and waited_s >= self._grace_s
                if not is_too_many and waited_s <= self._seconds:
                    break
                del self._waiting[place]
                ended.append(give_up)
        for give_up in ended:
            give_up()


class Caretaker:
    """A thread that sweeps rooms."""

    def __init__(self, rooms: list[Room], is_wanted: Callable[[], bool]) -> None:
        self._rooms, self._is_wanted = rooms, is_wanted
        self._stopping = threading.Event()
        # No daemon, as the server's other threads.
        self._thread = threading.Thread(target=self._run, name="p4runtime-deadlines")

    def start(self) -> None:
        """Starts the thread."""
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
