"""Synchronous versions of this package's coroutines. Do not call them from a coroutine.

All run on one event loop, in its own thread, for the life of the process. grpc.aio has one completion queue
per process: a late event for a closed loop (asyncio.run closes its loop) would raise "Event loop is closed"
in the handler of the next one.
"""

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from typing import ParamSpec, TypeVar

from eeon_control.errors import ApplyError, NothingWritten, Stopped
from eeon_control.fabric.planning import plan
from eeon_control.fabric.read import read_counters, read_registers
from eeon_control.fabric.transaction import ApplyCancelled, apply

_P = ParamSpec("_P")
_T = TypeVar("_T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run(work: Coroutine[object, None, _T]) -> _T:
    """Runs a coroutine of this package to its end.

    Ctrl-C cancels it and waits for its end, so that an apply undoes its writes before the process stops. Then
    it raises KeyboardInterrupt, or Stopped, which reports the result of an apply.
    """
    loop = _running_loop()
    ended = threading.Event()
    tasks: list[asyncio.Task[None]] = []
    results: list[_T] = []
    errors: list[BaseException] = []

    async def until_ended() -> None:
        try:
            results.append(await work)
        except BaseException as error:
            errors.append(error)

    def start() -> None:
        tasks.append(loop.create_task(until_ended()))
        tasks[0].add_done_callback(lambda _: ended.set())

    def cancel() -> None:
        if tasks:
            tasks[0].cancel()
        else:  # Ctrl-C came before `start`
            ended.set()

    try:
        loop.call_soon_threadsafe(start)
        ended.wait()
    except KeyboardInterrupt:
        # If `start` was already passed to the loop, it runs before this.
        loop.call_soon_threadsafe(cancel)
        ended.wait()
        work.close()
        told = _how_it_ended(errors[0]) if errors else None
        if told is None:
            raise
        raise Stopped(told) from None
    if errors:
        raise errors[0]
    return results[0]


def _how_it_ended(error: BaseException) -> str | None:
    """Returns a stopped command's message about the switches. If an apply has already failed when Ctrl-C
    reaches it, its error describes the state of the switches."""
    match error:
        case ApplyCancelled():
            return str(error)
        case NothingWritten():
            return f"{error}\nstopped\nnothing was written to any switch"
        case ApplyError():
            return f"stopped\n{error}"
        case _:
            return None


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="eeon-control", daemon=True).start()
        return _loop


def _sync(work: Callable[_P, Coroutine[object, None, _T]]) -> Callable[_P, _T]:
    """Returns the function that runs a coroutine of this package to its end."""

    @functools.wraps(work)
    def to_its_end(*arguments: _P.args, **options: _P.kwargs) -> _T:
        return run(work(*arguments, **options))

    return to_its_end


plan_sync = _sync(plan)
apply_sync = _sync(apply)
read_counters_sync = _sync(read_counters)
read_registers_sync = _sync(read_registers)
