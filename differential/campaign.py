"""A campaign: cases for each program in proportion to its share, all from one seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from .calls import Calls
from .compare import ENDED, Bench, Counts, Difference
from .failures import minimised, run_steps, write
from .frames import Frames
from .program import Field
from .subjects import Subject

PACKETS_PER_BATCH = 125
BATCHES_PER_CONFIGURATION = 8
INTERRUPTIONS_AT_MOST = 5
DIFFERENCES_AT_MOST = 4
"""Of one program, which then is given up: the others are of the same kind most of the time."""


@dataclass
class Outcome:
    """What a campaign did with one program."""

    subject: Subject
    counts: Counts
    files: list[Path]


def run(
    subjects: tuple[Subject, ...], cases: int, seed: int, folder: Path, report: Callable[[str], None]
) -> list[Outcome]:
    """Runs about as many cases as asked for, never fewer unless a program is given up."""
    shares = sum(subject.share for subject in subjects)
    return [
        _program(subject, -(-cases * subject.share // shares), seed, folder, report) for subject in subjects
    ]


def _program(subject: Subject, cases: int, seed: int, folder: Path, report: Callable[[str], None]) -> Outcome:
    outcome = Outcome(subject, Counts(), [])
    started = interrupted = 0
    while outcome.counts.cases < cases and len(outcome.files) < DIFFERENCES_AT_MOST:
        rng = Random(f"{seed} {subject.name} {started}")
        started += 1
        bench = Bench(subject)
        try:
            configuration(bench, rng, cases - outcome.counts.cases)
        except Difference as difference:
            if difference.kind == ENDED and run_steps(subject, bench.history) is None:
                # Not by what it was asked to do: the machine's doing. The same again.
                report(f"{subject.name}: {difference}; not again with the same steps"[:600])
                bench.close()
                started -= 1
                interrupted += 1
                if interrupted > INTERRUPTIONS_AT_MOST:
                    raise
                continue
            bench.counts.differences += 1
            report(f"{subject.name}: {difference}"[:600])
            bench.close()
            steps = minimised(subject, bench.history, difference.kind)
            outcome.files.append(write(folder, subject, seed, steps, difference))
            report(f"{subject.name}: {len(steps)} of {len(bench.history)} steps in {outcome.files[-1]}")
        else:
            bench.close()
        outcome.counts.add(bench.counts)
    return outcome


def configuration(bench: Bench, rng: Random, cases: int) -> None:
    """At most as many cases on one pair of switches. Raises `Difference`."""
    subject = bench.subject
    frames = Frames(
        bench.program, subject.ports, subject.rule, subject.limit, dict(subject.values), subject.least_bytes
    )
    calls = Calls(
        bench.program,
        dict(subject.parameters),
        dict(subject.registers),
        subject.ports,
        subject.has_replication,
        subject.entries_at_most,
        subject.tables_left_out,
        subject.times + subject.only_read,
    )
    seen: dict[Field, list[int]] = {}
    for batch in range(BATCHES_PER_CONFIGURATION):
        packets = [frames.frame(rng, seen) for _ in range(min(PACKETS_PER_BATCH, max(cases, 1)))]
        (calls.first if batch == 0 else calls.later)(rng, seen, bench.control)
        for port, frame in packets:
            bench.packet(port, frame)
        bench.settle(rng)
        cases -= len(packets)
        if cases <= 0:
            return
