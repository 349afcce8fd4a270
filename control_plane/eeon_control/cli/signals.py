"""Ctrl-C, SIGTERM and SIGHUP: they end a command, but not while it starts a process."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP (a lost terminal, unless `nohup` ignores it) raise KeyboardInterrupt in its
    context, as Ctrl-C does, so that the command cleans up."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handled([one for one in _ENDING if signal.getsignal(one) is not signal.SIG_IGN], stop):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Delays Ctrl-C, SIGTERM and SIGHUP until the end of its context, for work that must not be half done: a
    new process prints a traceback if its parent stops before sending it its work."""
    came: list[int] = []
    try:
        with _handled((signal.SIGINT, *_ENDING), lambda number, frame: came.append(number)):
            yield
    finally:
        for first in came[:1]:
            signal.raise_signal(first)


@contextmanager
def _handled(
    numbers: Iterable[signal.Signals], handler: Callable[[int, FrameType | None], object]
) -> Iterator[None]:
    """Handles signals in its context; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, signal.SIG_DFL if earlier is None else earlier)
