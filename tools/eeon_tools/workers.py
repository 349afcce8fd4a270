"""Worker processes that execute one job after another.

Each is started by spawn, because gRPC does not survive a fork, and is kept, because a start takes longer than
a short job. If a worker dies, only its own job fails, and another worker replaces it. A worker whose parent
is gone exits at once.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Generic, TypeVar

from eeon_control.cli.signals import held_back

Job = TypeVar("Job")
Result = TypeVar("Result")
_STOP_SECONDS = 5.0


class _Worker(Generic[Job, Result]):
    def __init__(self, context: SpawnContext, work: Callable[[Job], Result]) -> None:
        self.connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self.process.start()
        theirs.close()
        self.job: Job | None = None

    def give(self, job: Job) -> None:
        self.job = job
        with contextlib.suppress(OSError):  # a worker that is dying; `take` tells of it
            self.connection.send(job)

    def take(self, died: Callable[[Job, str], Result]) -> Result:
        """Returns the result of this worker's job."""
        assert self.job is not None, "a worker without a job says nothing"
        job, self.job = self.job, None
        try:
            result: Result = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(_STOP_SECONDS)
            self.stop()
            return died(job, _cause(self.process.exitcode))
        return result

    def stop(self) -> None:
        self.connection.close()
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(_STOP_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class Pool(Generic[Job, Result]):
    """Workers that are kept between batches of jobs.

    `work` must be importable by name. `died`: makes the result of a job whose process died, from the job and
    the cause.
    """

    def __init__(self, work: Callable[[Job], Result], count: int, died: Callable[[Job, str], Result]) -> None:
        self._work = work
        self._count = count
        self._died = died
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker[Job, Result]] = []

    def run(self, jobs: Iterable[Job]) -> Generator[Result, None, None]:
        """Executes all jobs, one per worker at a time, and yields results as they arrive.

        When the caller stops iterating, or is interrupted, busy workers are terminated.
        """
        waiting = deque(jobs)
        is_done = False
        try:
            for worker in [one for one in self._workers if not one.process.is_alive()]:
                self._workers.remove(worker)  # killed since the last batch, as when memory runs out
                worker.stop()
            while len(self._workers) < min(self._count, len(waiting)):
                self._add()
            for worker in self._workers[: len(waiting)]:
                worker.give(waiting.popleft())
            while busy := {one.connection: one for one in self._workers if one.job is not None}:
                for ready in wait(list(busy)):
                    worker = busy[ready]  # type: ignore[index] # wait gives what it was given
                    result = worker.take(self._died)
                    if not worker.process.is_alive():
                        self._workers.remove(worker)
                        worker.stop()
                        if waiting:
                            worker = self._add()
                    if waiting:
                        worker.give(waiting.popleft())
                    yield result
            is_done = True
        finally:
            if not is_done:
                self.close()

    def _add(self) -> _Worker[Job, Result]:
        with held_back():
            worker = _Worker(self._context, self._work)
            self._workers.append(worker)
        return worker

    def close(self) -> None:
        """Terminates all workers, even busy ones."""
        for worker in self._workers:
            worker.stop()
        self._workers.clear()


def _cause(exit_code: int | None) -> str:
    """Returns why a process is no longer there."""
    if exit_code is None or exit_code >= 0:
        return f"ended with exit code {exit_code}"
    why = f"was killed by signal {signal.Signals(-exit_code).name}"
    return f"{why}, as happens when memory runs out" if -exit_code == signal.SIGKILL else why


def _serve(connection: Connection, work: Callable[[Job], Result]) -> None:
    # Ctrl-C reaches every process of the terminal; only the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            job = connection.recv()
            connection.send(work(job))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "workers are children"
    parent.join()
    os._exit(1)
