"""A campaign: cases for each program in proportion to its share, all from one seed.

Its unit is a configuration: a new pair of switches, and calls and frames that depend only on the seed, the
program's name and the configuration's number. Configurations are independent, so several run concurrently in
separate processes, and a campaign with a record can continue after an interruption.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random

import grpc
from thriftpy2.transport import TTransportException

from .bmv2 import Ended
from .calls import Calls
from .compare import Bench, Counts, Difference
from .failures import minimised, run_steps, write
from .frames import Choices, Frames, Subject
from .record import Done, Record
from .requests import Requests
from .subjects import SUBJECTS

PACKETS_PER_BATCH = 125
BATCHES_PER_CONFIGURATION = 8
PACKETS_PER_CONFIGURATION = PACKETS_PER_BATCH * BATCHES_PER_CONFIGURATION
INTERRUPTIONS_AT_MOST = 5
DIFFERENCES_AT_MOST = 4
"""Maximum for one program; then it is given up, because further ones usually have the same cause."""
MACHINES = (Ended, OSError, TTransportException, grpc.RpcError, grpc.FutureTimeoutError)
"""Errors of connections and processes on a machine that is too busy: the configuration is run again."""


@dataclass
class Outcome:
    """The results of a campaign for one program."""

    subject: Subject
    wanted: int
    """Number of requested cases."""
    counts: Counts = field(default_factory=Counts)
    interrupted: int = 0
    """Number of differences that were not reproduced by the same steps."""
    files: list[Path] = field(default_factory=list)
    done: set[int] = field(default_factory=set)
    """Numbers of the configurations that have ended."""
    running: set[int] = field(default_factory=set)

    def add(self, done: Done) -> None:
        """Adds a configuration that has ended."""
        self.running.discard(done.configuration)
        self.done.add(done.configuration)
        self.counts.add(done.counts)
        self.interrupted += done.interrupted
        self.files += done.files

    def next(self, packets: int) -> int | None:
        """Returns the number of the next configuration; None while the running ones may suffice, and at the
        end."""
        expected = self.counts.cases + len(self.running) * packets
        if expected >= self.wanted or len(self.files) >= DIFFERENCES_AT_MOST:
            return None
        number = 0
        while number in self.done or number in self.running:
            number += 1
        return number


def run(
    subjects: tuple[Subject, ...],
    cases: int,
    seed: int,
    folder: Path,
    report: Callable[[str], None],
    *,
    workers: int = 1,
    minutes: float | None = None,
    record: Record | None = None,
) -> list[Outcome]:
    """Runs about the requested number of cases, fewer only if a program is given up or time is over: after
    these minutes, no configuration starts.

    `workers` configurations run at once, each in a process with its own BMv2; one runs in this process.
    Configurations in the record are not run again; new ones are added to it.
    """
    shares = sum(subject.share for subject in subjects)
    outcomes = [Outcome(subject, -(-cases * subject.share // shares)) for subject in subjects]
    by_name = {outcome.subject.name: outcome for outcome in outcomes}
    for done in record.done if record is not None else ():
        if done.program in by_name:
            by_name[done.program].add(done)
    deadline = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
    running: dict[Future[Done], Outcome] = {}
    with _executor(workers) as executor:
        while True:
            while len(running) < workers and time.monotonic() < deadline:
                chosen = _least_advanced(outcomes, record)
                if chosen is None:
                    break
                outcome, number, packets = chosen
                outcome.running.add(number)
                job = executor.submit(_configuration, outcome.subject.name, number, packets, seed, folder)
                running[job] = outcome
            if not running:
                return outcomes
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done = future.result()
                running.pop(future).add(done)
                if record is not None:
                    record.add(done)
                for line in done.lines:
                    report(line)


def _least_advanced(outcomes: list[Outcome], record: Record | None) -> tuple[Outcome, int, int] | None:
    """Returns the program with the smallest completed share, its next configuration and the number of packets
    for it."""
    found: tuple[Outcome, int, int] | None = None
    least = 0.0
    for outcome in outcomes:
        # A recorded configuration does not depend on the number of requested cases.
        packets = PACKETS_PER_CONFIGURATION
        if record is None:
            packets = min(packets, outcome.wanted)
        number = outcome.next(packets)
        part = (outcome.counts.cases + len(outcome.running) * packets) / max(outcome.wanted, 1)
        if number is not None and (found is None or part < least):
            found, least = (outcome, number, packets), part
    return found


def _executor(workers: int) -> Executor:
    if workers == 1:
        return ThreadPoolExecutor(1)
    # No fork, because the engine's servers have threads.
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=_quiet)


def _quiet() -> None:
    # Refusals are expected results here.
    logging.getLogger("eeon_engine").setLevel(logging.CRITICAL)


def _configuration(name: str, number: int, packets: int, seed: int, folder: Path) -> Done:
    """Runs one configuration from its start to its outcome. Minimises a difference and writes it."""
    done = Done(name, number, Counts())
    for attempt in range(INTERRUPTIONS_AT_MOST + 1):
        is_last = attempt == INTERRUPTIONS_AT_MOST
        try:
            _attempt(done, packets, seed, folder)
        except MACHINES as error:
            done.lines.append(f"{name}: {error}"[:600])
            if is_last:
                raise
        except _NotAgain as error:
            done.lines.append(f"{name}: {error.difference}"[:600])
            done.lines.append(f"{name}: not again with the same {error.steps} steps")
            if is_last:
                raise error.difference from None
        else:
            return done
        done.interrupted += 1
    raise AssertionError("the last attempt returns or raises")


class _NotAgain(Exception):
    """A difference that the same steps do not reproduce: it is caused by the machine."""

    def __init__(self, difference: Difference, steps: int) -> None:
        super().__init__(difference, steps)
        self.difference, self.steps = difference, steps


def _attempt(done: Done, packets: int, seed: int, folder: Path) -> None:
    subject = next(subject for subject in SUBJECTS if subject.name == done.program)
    bench = Bench(subject)
    try:
        configuration(bench, Random(f"{seed} {subject.name} {done.configuration}"), packets)
    except Difference as difference:
        bench.close()
        if run_steps(subject, bench.history) is None:
            raise _NotAgain(difference, len(bench.history)) from difference
        bench.counts.differences += 1
        steps = minimised(subject, bench.history, difference)
        done.files.append(write(folder, subject, seed, done.configuration, steps, difference))
        done.lines.append(f"{subject.name}: {difference}"[:600])
        done.lines.append(f"{subject.name}: {len(steps)} of {len(bench.history)} steps in {done.files[-1]}")
    finally:
        bench.close()
    done.counts.add(bench.counts)


def configuration(bench: Bench, rng: Random, cases: int) -> None:
    """Runs at most `cases` cases on one pair of switches. Raises `Difference`."""
    subject = bench.subject
    choices = Choices(bench.program, subject, rng)
    frames, calls = Frames(choices), Calls(choices, bench.control)
    driver = calls if bench.info is None else Requests(choices, bench.info, bench.control)
    for batch in range(BATCHES_PER_CONFIGURATION):
        packets = [frames.frame() for _ in range(min(PACKETS_PER_BATCH, max(cases, 1)))]
        (driver.first if batch == 0 else driver.later)()
        if driver is not calls:
            calls.registers()
        for port, frame in packets:
            bench.packet(port, frame)
        bench.settle(rng)
        cases -= len(packets)
        if cases <= 0:
            return
