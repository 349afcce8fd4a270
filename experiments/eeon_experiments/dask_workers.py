"""Runs on the workers of a Dask cluster. Only this module imports dask.distributed, which is optional."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from eeon_tools.errors import InputError, UnavailableError

from eeon_experiments.resolve import Run
from eeon_experiments.store import Outcome
from eeon_experiments.versions import Versions, commit, versions
from eeon_experiments.workers import Work

if TYPE_CHECKING:
    from distributed import Client

_CONNECT_SECONDS = 30


def run_all(runs: Iterable[Run], work: Work, address: str) -> Generator[Outcome, None, None]:
    """Executes all runs on the cluster whose scheduler is at `address`, and yields outcomes as they arrive.

    Each worker executes one run at a time per thread: start workers with `--nthreads 1`. Raises
    UnavailableError without dask.distributed or when the scheduler is lost, and InputError if the scheduler
    does not answer or if a worker has a P4 program or engine other than this machine's.
    """
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise UnavailableError(
            f"dask.distributed is not installed ({error}); `pip install 'eeon-experiments[dask]'`"
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its errors become those of this module
    runs = list(runs)
    try:
        client = Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError("--dask", address, f"no scheduler answers there: {error}") from error
    with client:
        _check_versions(client, address)
        # A failed run is an outcome. Only a worker or the network can fail here; Dask tries three times.
        futures = {client.submit(work, run, key=f"eeon-{run.id}", pure=False): run for run in runs}
        try:
            for future in as_completed(futures):
                failure = future.exception()
                yield future.result() if failure is None else _lost(futures[future], failure)
                future.release()
        except CancelledError:
            raise UnavailableError(
                f"--dask: {address}: the scheduler was lost; start it and its workers again, then the same "
                "command continues"
            ) from None
        finally:
            client.cancel([future for future in futures if not future.done()])


def _check_versions(client: Client, address: str) -> None:
    mine = versions()
    theirs: dict[str, Versions] = client.run(versions)
    if not theirs:
        raise InputError("--dask", address, "the cluster has no worker; start one with `dask worker`")
    for worker, found in sorted(theirs.items()):
        if found != mine:
            raise InputError(
                "--dask",
                worker,
                f"has program {found.program[:12]} and engine {found.engine[:12]}, this machine has "
                f"{mine.program[:12]} and {mine.engine[:12]}; install the same version on both",
            )


def _lost(run: Run, error: BaseException) -> Outcome:
    found = {"status": "failed", "error": f"the worker of this run failed: {type(error).__name__}: {error}"}
    return Outcome(run.id, run.seed, versions(), commit(), found)
