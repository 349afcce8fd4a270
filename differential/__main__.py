"""Command line: `python -m differential --cases 100000 --seed 1`, or `--replay FILE`."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from pathlib import Path

from . import bmv2
from .campaign import run
from .compare import Counts
from .failures import read, run_steps
from .subjects import SUBJECTS

COLUMNS = ("cases", "frames", "calls", "registers", "counters", "excluded", "differences")


def main() -> int:
    """Exit status 1 when something differs, 2 when BMv2 is not there."""
    parser = argparse.ArgumentParser(prog="differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="packets, all programs together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", action="append", help="only this one; may be given again")
    parser.add_argument(
        "--output", type=Path, default=Path("out/differential"), help="where failing cases go"
    )
    parser.add_argument("--replay", type=Path, help="run a written case again")
    arguments = parser.parse_args()
    reason = bmv2.why_not()
    if reason is not None:
        print(f"skipped: {reason}")
        return 2
    if arguments.replay:
        difference = run_steps(*read(arguments.replay))
        print(difference or "no difference")
        return int(difference is not None)
    subjects = tuple(s for s in SUBJECTS if not arguments.program or s.name in arguments.program)
    if not subjects:
        print(f"no such program; there are {', '.join(subject.name for subject in SUBJECTS)}")
        return 2
    # Refusals are answers here.
    logging.getLogger("eeon_engine").setLevel(logging.CRITICAL)
    began = time.monotonic()
    outcomes = run(
        subjects, arguments.cases, arguments.seed, arguments.output, lambda line: print(line, file=sys.stderr)
    )
    total = Counts()
    print(f"BMv2 {bmv2.version()}, seed {arguments.seed}")
    print("program".ljust(22) + "".join(name.rjust(12) for name in COLUMNS))
    for outcome in outcomes:
        total.add(outcome.counts)
        print(_row(outcome.subject.name, outcome.counts))
    print(_row("all", total))
    print(f"{time.monotonic() - began:.0f} s")
    return int(total.differences > 0)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _row(name: str, counts: Counts) -> str:
    return name.ljust(22) + "".join(str(getattr(counts, column)).rjust(12) for column in COLUMNS)


if __name__ == "__main__":
    raise SystemExit(main())
