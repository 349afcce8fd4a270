"""Ctrl-C and SIGTERM: they end a command, but not while it starts a process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Makes SIGTERM raise KeyboardInterrupt in its context, as Ctrl-C does, so that the command cleans up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def held_back() -> Iterator[None]:
    """Delays Ctrl-C and SIGTERM until the end of its context: a new process prints a traceback if its parent
    stops before sending it its work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, frame: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for first in came[:1]:
            signal.raise_signal(first)
