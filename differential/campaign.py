"""A campaign: cases for each program in proportion to its share, all from one seed.

Its unit is a configuration: a new pair of switches, and calls and frames that depend only on the seed, the
program's name and the configuration's number. Configurations are independent, so several run concurrently in
separate processes, and a campaign with a record can continue after an interruption.
"""

import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random

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
MACHINES = (Ended, OSError, TTransportException)
"""Errors of connections and processes on a machine that is too busy: the configuration is run again."""


@dataclass
class Outcome:
    """The results of a campaign for one program."""

    subject: Subject
    counts: Counts = field(default_factory=Counts)
    interrupted: int = 0
    """Number of differences that were not reproduced by the same steps."""
    files: list[Path] = field(default_factory=list)

    def add(self, done: Done) -> None:
        """Adds a configuration that has ended."""
        self.counts.add(done.counts)
        self.interrupted += done.interrupted
        self.files += done.files


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
    """Runs the requested number of cases, fewer only if the program faults on a frame, if it is given up, or
    if time is over: after these minutes, no configuration starts.

    `workers` configurations run at once, each in a process with its own BMv2; one runs in this process.
    Configurations in the record are not run again; new ones are added to it.
    """
    outcomes = {subject.name: Outcome(subject) for subject in subjects}
    known = set()
    for recorded in record.done if record is not None else ():
        known.add((recorded.program, recorded.configuration))
        if recorded.program in outcomes:
            outcomes[recorded.program].add(recorded)
    deadline = time.time() + 60 * minutes if minutes is not None else None
    executor = _executor(workers)
    try:
        jobs = {
            executor.submit(_configuration, name, number, packets, seed, folder, deadline): name
            for name, number, packets in _configurations(subjects, cases, is_recorded=record is not None)
            if (name, number) not in known and len(outcomes[name].files) < DIFFERENCES_AT_MOST
        }
        for job in as_completed(jobs):
            if job.cancelled() or (done := job.result()) is None:
                continue
            outcome = outcomes[done.program]
            outcome.add(done)
            if record is not None:
                record.add(done)
            for line in done.lines:
                report(line)
            if len(outcome.files) >= DIFFERENCES_AT_MOST:
                for other, name in jobs.items():
                    if name == done.program:
                        other.cancel()
    finally:
        executor.shutdown(cancel_futures=True)
    return list(outcomes.values())


def _configurations(
    subjects: tuple[Subject, ...], cases: int, *, is_recorded: bool
) -> list[tuple[str, int, int]]:
    """Returns the program, the number and the packets of each configuration, so that the programs advance
    together."""
    shares = sum(subject.share for subject in subjects)
    found = []
    for subject in subjects:
        wanted = -(-cases * subject.share // shares)
        # A recorded configuration does not depend on the number of requested cases.
        packets = PACKETS_PER_CONFIGURATION if is_recorded else min(PACKETS_PER_CONFIGURATION, wanted)
        count = -(-wanted // packets) if wanted else 0
        found += [((number + 1) / count, (subject.name, number, packets)) for number in range(count)]
    return [configuration for _, configuration in sorted(found)]


def _executor(workers: int) -> Executor:
    if workers == 1:
        return ThreadPoolExecutor(1)
    # No fork, because the engine's servers have threads.
    return ProcessPoolExecutor(workers, get_context("spawn"))


def _configuration(
    name: str, number: int, packets: int, seed: int, folder: Path, deadline: float | None
) -> Done | None:
    """Runs one configuration from its start to its outcome, unless the deadline is over. Minimises a
    difference and writes it."""
    if deadline is not None and time.time() >= deadline:
        return None
    done = Done(name, number, Counts())
    while True:
        try:
            _attempt(done, packets, seed, folder)
            return done
        except (*MACHINES, Difference) as error:
            notes = getattr(error, "__notes__", ())
            done.lines += [f"{name}: {line}"[:600] for line in (error, *notes)]
            if done.interrupted == INTERRUPTIONS_AT_MOST:
                raise
        done.interrupted += 1


def _attempt(done: Done, packets: int, seed: int, folder: Path) -> None:
    """Runs the configuration once. Raises a `Difference` that the same steps do not reproduce: it is caused
    by the machine."""
    subject = next(subject for subject in SUBJECTS if subject.name == done.program)
    bench = Bench(subject)
    try:
        configuration(bench, Random(f"{seed} {subject.name} {done.configuration}"), packets)
    except Difference as difference:
        bench.close()
        if run_steps(subject, bench.history) is None:
            difference.add_note(f"not again with the same {len(bench.history)} steps")
            raise
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
