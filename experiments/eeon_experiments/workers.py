"""Worker processes that execute one run after another.

Each is started by spawn, because gRPC does not survive a fork, and is kept, because a start takes longer than
a short run. If a worker dies, only its own run fails, and another worker replaces it. A worker whose parent
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

from eeon_control.cli.signals import held_back

from eeon_experiments.resolve import Run
from eeon_experiments.results import Value
from eeon_experiments.store import Outcome
from eeon_experiments.versions import commit, versions

Work = Callable[[Run], Outcome]
_STOP_SECONDS = 5.0


class _Worker:
    def __init__(self, context: SpawnContext, work: Work) -> None:
        self.connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self.process.start()
        theirs.close()
        self.run: Run | None = None

    def give(self, run: Run) -> None:
        self.run = run
        with contextlib.suppress(OSError):  # a worker that is dying; `take` tells of it
            self.connection.send(run)

    def take(self) -> Outcome:
        """Returns the outcome of this worker's run."""
        assert self.run is not None, "a worker without a run says nothing"
        run, self.run = self.run, None
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(_STOP_SECONDS)
            self.stop()
            return died(run, self.process.exitcode)
        return outcome

    def stop(self) -> None:
        self.connection.close()
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(_STOP_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class Pool:
    """Workers that are kept between batches of runs. `work` must be importable by name."""

    def __init__(self, work: Work, count: int) -> None:
        self._work = work
        self._count = count
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []

    def run(self, runs: Iterable[Run]) -> Generator[Outcome, None, None]:
        """Executes all runs, one per worker at a time, and yields outcomes as they arrive.

        When the caller stops iterating, or is interrupted, busy workers are terminated.
        """
        waiting = deque(runs)
        is_done = False
        try:
            for worker in [one for one in self._workers if not one.process.is_alive()]:
                self._workers.remove(worker)  # killed since the last batch, as when memory runs out
                worker.stop()
            while len(self._workers) < min(self._count, len(waiting)):
                self._add()
            for worker in self._workers[: len(waiting)]:
                worker.give(waiting.popleft())
            while busy := {one.connection: one for one in self._workers if one.run is not None}:
                for ready in wait(list(busy)):
                    worker = busy[ready]  # type: ignore[index] # wait gives what it was given
                    outcome = worker.take()
                    if not worker.process.is_alive():
                        self._workers.remove(worker)
                        worker.stop()
                        if waiting:
                            worker = self._add()
                    if waiting:
                        worker.give(waiting.popleft())
                    yield outcome
            is_done = True
        finally:
            if not is_done:
                self.close()

    def _add(self) -> _Worker:
        with held_back():
            worker = _Worker(self._context, self._work)
            self._workers.append(worker)
        return worker

    def close(self) -> None:
        """Terminates all workers, even busy ones."""
        for worker in self._workers:
            worker.stop()
        self._workers.clear()


def run_all(runs: Iterable[Run], work: Work, count: int) -> Generator[Outcome, None, None]:
    """Executes all runs, `count` at a time, and yields outcomes as they arrive. Then the workers end."""
    with contextlib.closing(Pool(work, count)) as pool:
        yield from pool.run(runs)


def died(run: Run, exit_code: int | None) -> Outcome:
    """Returns the outcome of a run whose process died."""
    if exit_code is not None and exit_code < 0:
        why = f"was killed by signal {signal.Signals(-exit_code).name}"
        if -exit_code == signal.SIGKILL:
            why += ", as happens when memory runs out"
    else:
        why = f"ended with exit code {exit_code}"
    found: dict[str, Value] = {"status": "failed", "error": f"the process of this run {why}"}
    return Outcome(run.id, run.seed, versions(), commit(), found)


def _serve(connection: Connection, work: Work) -> None:
    # Ctrl-C reaches every process of the terminal; only the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            run = connection.recv()
            connection.send(work(run))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "workers are children"
    parent.join()
    os._exit(1)
