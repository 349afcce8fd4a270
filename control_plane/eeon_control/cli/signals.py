"""Ctrl-C, SIGTERM and SIGHUP: they end a command, but not while it starts a process."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)
_Handler = Callable[[int, FrameType | None], object] | int | None


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP (a lost terminal, unless `nohup` ignores it) raise KeyboardInterrupt in its
    context, as Ctrl-C does, so that the command cleans up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [one for one in _ENDING if signal.getsignal(one) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        _restore(before)


@contextmanager
def held_back() -> Iterator[None]:
    """Delays Ctrl-C, SIGTERM and SIGHUP until the end of its context, for work that must not be half done: a
    new process prints a traceback if its parent stops before sending it its work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, frame: came.append(number))
        for number in (signal.SIGINT, *_ENDING)
    }
    try:
        yield
    finally:
        _restore(before)
        for first in came[:1]:
            signal.raise_signal(first)


def _restore(handlers: Mapping[signal.Signals, _Handler]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
