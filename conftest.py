"""Limits for every test here without a marker of `pytest.ini`.

`make check` runs the tests without a marker. Such a test starts no program, opens no socket, and takes at
most the processor time that `make check` sets with `--cpu-seconds`, fixtures included. A busy machine fails
no test: the limit grows with the time that `_yardstick` takes under the same load.
"""

import gc
import logging
import multiprocessing.process
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import grpc
import hypothesis
import pytest

_YARDSTICK_SECONDS = 0.1
"""Processor time of `_yardstick` on an idle machine."""
_PROGRAMS = {"os.exec", "os.fork", "os.posix_spawn", "os.system", "subprocess.Popen"}
_EVENTS = _PROGRAMS | {"socket.bind", "socket.connect"}
_GRPC = ("insecure_channel", "secure_channel", "server")


class _Watch:
    """Records the actions of the running test that need a marker."""

    def __init__(self) -> None:
        self.running = False
        self.done: set[str] = set()

    def note(self, what: str) -> None:
        if self.running:
            self.done.add(what)

    def event(self, name: str, _: tuple[object, ...]) -> None:
        if name in _EVENTS:
            self.note(name)

    def wrap(self, owner: Any, name: str) -> None:  # noqa: ANN401
        """Records calls of a function that raises no audit event."""
        original: Callable[..., object] = getattr(owner, name)

        def noted(*args: object, **kwargs: object) -> object:
            self.note(f"{owner.__name__}.{name}")
            return original(*args, **kwargs)

        setattr(owner, name, noted)


_watch = _Watch()
# The time that a case takes, or that Hypothesis takes to generate it, depends on the load of the machine.
_UNHURRIED = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
for _profile, _examples in (("check", 20), ("test", 40), ("nightly", 400)):
    hypothesis.settings.register_profile(_profile, _UNHURRIED, max_examples=_examples)
hypothesis.settings.load_profile("test")
_STARTED = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the limit for a test without the marker `slow`."""
    what = "fail a test without the marker `slow` that takes more processor time"
    parser.addoption("--cpu-seconds", type=float, help=what)


def pytest_configure() -> None:
    """Starts to listen, and lets tests send Ctrl-C."""
    # A shell ignores SIGINT in background processes, and children inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.addaudithook(_watch.event)
    # All collected tests stay alive: at the usual thresholds, collecting garbage takes a tenth of the time.
    gc.set_threshold(20_000, 20, 50)
    _watch.wrap(multiprocessing.process.BaseProcess, "start")
    for owner in (grpc, grpc.aio):
        for name in _GRPC:
            _watch.wrap(owner, name)


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _yardstick() -> float:
    """Returns the processor time that a fixed piece of work takes now, in seconds."""
    began = time.process_time()
    sum(number * number for number in range(1_700_000))
    return time.process_time() - began


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Watches the test from its first fixture on."""
    _watch.done.clear()
    _watch.running = True
    item.stash[_STARTED] = _cpu_seconds()
    try:
        return (yield)
    finally:
        _watch.running = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fails a test that passed but exceeds what its markers allow."""
    result = yield
    marks = {mark.name for mark in item.iter_markers()}
    if _watch.done and not marks & {"system", "nightly"}:
        pytest.fail(f"{', '.join(sorted(_watch.done))} without the marker `system`", pytrace=False)
    limit: float | None = item.config.getoption("--cpu-seconds")
    taken = _cpu_seconds() - item.stash[_STARTED]
    if limit is not None and taken > limit and not marks & {"system", "slow", "nightly"}:
        allowed = limit * max(1.0, _yardstick() / _YARDSTICK_SECONDS)
        if taken > allowed:
            pytest.fail(
                f"{taken:.1f} s of processor time without the marker `slow`; {allowed:.1f} s are allowed",
                pytrace=False,
            )
    return result


@pytest.fixture(autouse=True)
def log_as_it_was() -> Iterator[None]:
    """Restores the package's log after `eeon-switch` was run in this process."""
    log = logging.getLogger("eeon_engine")
    before = log.handlers[:], log.propagate, log.level
    yield
    log.handlers, log.propagate = before[0], before[1]
    log.setLevel(before[2])
