"""Command line: `python -m differential --cases 100000 --seed 1`, or `--replay FILE`."""

import argparse
import contextlib
import sys
import time
from pathlib import Path

from . import bmv2
from .campaign import Outcome, run
from .compare import Counts
from .failures import CaseError, read, run_steps
from .record import Campaign, Record, RecordError
from .subjects import SUBJECTS

COLUMNS = ("cases", "frames", "calls", "registers", "counters", "excluded", "differences")


def main() -> int:
    """Returns the exit status: 1 if there are differences, 2 if nothing can be compared."""
    parser = argparse.ArgumentParser(prog="differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="packets, all programs together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", action="append", help="only this one; may be given again")
    parser.add_argument(
        "--output", type=Path, default=Path("out/differential"), help="where failing cases go"
    )
    parser.add_argument(
        "--record",
        type=Path,
        help="write there what is done, and go on after what a run of the same versions has written there",
    )
    parser.add_argument(
        "--workers",
        type=int,
        choices=range(1, 65),
        default=1,
        metavar="N",
        help="configurations that run at once: both sides often wait",
    )
    parser.add_argument("--minutes", type=float, help="begin no new case after this time")
    parser.add_argument("--replay", type=Path, help="run a written case again")
    arguments = parser.parse_args()
    if arguments.cases < 1:
        parser.error(f"--cases {arguments.cases}: at least 1 is needed; the default is 100000")
    names = [subject.name for subject in SUBJECTS]
    for name in arguments.program or ():
        if name not in names:
            parser.error(f"--program {name}: no such program; there are {'; '.join(names)}")
    reason = bmv2.why_not()
    if reason is not None:
        print(f"skipped: {reason}")
        return 2
    if arguments.replay:
        try:
            steps = read(arguments.replay)
        except CaseError as error:
            print(error)
            return 2
        difference = run_steps(*steps)
        print(difference or "no difference")
        return int(difference is not None)
    subjects = tuple(s for s in SUBJECTS if not arguments.program or s.name in arguments.program)
    reason = bmv2.why_not("simple_switch_grpc")
    if reason is not None:
        for subject in subjects:
            if subject.p4info is not None:
                _say(f"{subject.name}: skipped: {reason}")
        subjects = tuple(subject for subject in subjects if subject.p4info is None)
    began = time.monotonic()
    try:
        with contextlib.ExitStack() as stack:
            record = None
            if arguments.record:
                record = stack.enter_context(Record(arguments.record, Campaign.here(arguments.seed)))
            outcomes = run(
                *(subjects, arguments.cases, arguments.seed, arguments.output, _say),
                workers=arguments.workers,
                minutes=arguments.minutes,
                record=record,
            )
    except RecordError as error:
        print(error)
        return 2
    print(f"BMv2 {bmv2.version()}, seed {arguments.seed}")
    _print(outcomes)
    print(f"{time.monotonic() - began:.0f} s")
    return int(any(outcome.counts.differences for outcome in outcomes))


def _print(outcomes: list[Outcome]) -> None:
    total, not_again = Counts(), 0
    print("program".ljust(22) + "".join(name.rjust(12) for name in (*COLUMNS, "not again")))
    for outcome in outcomes:
        total.add(outcome.counts)
        not_again += outcome.interrupted
        print(_row(outcome.subject.name, outcome.counts, outcome.interrupted))
    print(_row("all", total, not_again))


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _row(name: str, counts: Counts, not_again: int) -> str:
    numbers = [getattr(counts, column) for column in COLUMNS]
    return name.ljust(22) + "".join(str(number).rjust(12) for number in (*numbers, not_again))


if __name__ == "__main__":
    raise SystemExit(main())
