"""Calls as a user without privileges, for tests that run as root."""

import os
import pickle
from collections.abc import Callable
from typing import TypeVar

import pytest

NOBODY = 65_534
_T = TypeVar("_T")


def as_nobody(call: Callable[[], _T]) -> _T:
    """Returns the result of `call` in a process of the user nobody, or raises its exception. The result is
    pickled. Skips the test if this process may not change its user.
    """
    if os.geteuid() != 0:
        pytest.skip("needs root, to act as another user")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            try:
                result: tuple[bool, object] = (True, call())
            except Exception as error:
                result = (False, error)
            os.write(writer, pickle.dumps(result))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        content = answer.read()
    os.waitpid(child, 0)
    worked, value = pickle.loads(content)
    if not worked:
        raise value
    return value  # type: ignore[no-any-return]
