"""Waiting for what another process does."""

import time
from collections.abc import Callable

SECONDS = 60.0
"""The limit only ends a failing test: the machine may be busy."""


def wait_until(what: Callable[[], object], why: str) -> None:
    """Waits until a condition is true; `why` is what is wrong if it never is."""
    deadline = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.01)
