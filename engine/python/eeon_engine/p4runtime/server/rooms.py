"""Rooms: limits on the number of calls that wait for their clients, and on the time that they wait.

A client for which the server waits costs a thread and memory. When a room is full, the call that has waited
longest is ended for the next one: a well-behaved client waits only milliseconds, and gets a place however
many others keep the server waiting.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Room:
    """`limit` places, for at most `seconds` each. A call that has waited for less than `grace_s` is not
    ended: until then, more than `limit` calls may be in the room."""

    def __init__(self, limit: int, seconds: float, grace_s: float = 0.0) -> None:
        self._limit = limit
        self._seconds = seconds
        self._grace_s = grace_s
        self._lock = threading.Lock()
        # Oldest first: the start of the wait, and the function that ends it.
        self._waiting: dict[object, tuple[float, Callable[[], object]]] = {}

    @contextmanager
    def wait(self, give_up: Callable[[], object]) -> Iterator[None]:
        """Counts a call that waits for its client. `give_up`, in another thread, ends it without blocking."""
        place = self.enter(give_up)
        try:
            yield
        finally:
            self.leave(place)

    def enter(self, give_up: Callable[[], object]) -> object:
        """Takes a place until `leave`."""
        place = object()
        with self._lock:
            self._waiting[place] = (time.monotonic(), give_up)
        self.sweep()
        return place

    def leave(self, place: object) -> None:
        """Releases a place, which may have been lost."""
        with self._lock:
            self._waiting.pop(place, None)

    def sweep(self) -> None:
        """Ends the waits that exceed the time limit, and the oldest of those that exceed the number."""
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
