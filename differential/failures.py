"""Cases on which the two switches differ: written as small files, minimised, and run again."""

import json
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from .compare import ANSWER, Bench, Difference, Step
from .frames import Subject
from .subjects import SUBJECTS
from .thrift import Call

RUNS_AT_MOST = 60
"""Maximum number of runs to minimise one case."""


def run_steps(subject: Subject, steps: list[Step]) -> Difference | None:
    """Returns the difference that these steps cause, from the start of both switches, or None."""
    try:
        with closing(Bench(subject)) as bench:
            for step in steps:
                if isinstance(step, Call):
                    bench.control(step)
                else:
                    bench.packet(*step)
            bench.settle(Random(0))
    except Difference as difference:
        return difference
    return None


def minimised(subject: Subject, steps: list[Step], difference: Difference) -> list[Step]:
    """Returns as few of the steps as still cause such a difference, within a bounded number of runs."""
    runs = 0

    def still_differs(tried: list[Step]) -> bool:
        nonlocal runs
        runs += 1
        # Without a call that created a handle, later calls may refer to missing objects: no difference.
        found = run_steps(subject, tried)
        if found is None or found.kind != difference.kind:
            return False
        is_answer = found.kind == ANSWER
        return not is_answer or (found.bmv2, found.engine) == (difference.bmv2, difference.engine)

    last = steps[-1:]
    if still_differs(last):
        return last
    calls: list[Step] = [step for step in steps if isinstance(step, Call)]
    if not isinstance(steps[-1], Call) and still_differs(calls + last):
        steps = calls + last
    size = max(len(steps) // 2, 1)
    while runs < RUNS_AT_MOST:
        at, removed = 0, False
        while at < len(steps) and runs < RUNS_AT_MOST:
            tried = steps[:at] + steps[at + size :]
            if tried and still_differs(tried):
                steps, removed = tried, True
            else:
                at += size
        if size == 1 and not removed:
            break
        size = max(size // 2, 1)
    return steps


def write(
    folder: Path, subject: Subject, seed: int, number: int, steps: list[Step], difference: Difference
) -> Path:
    """Writes a case of a numbered configuration to a file and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{subject.name.replace('/', '_')}-{seed}-{number}.json"
    case = {
        "program": subject.name,
        "kind": difference.kind,
        "step": difference.step,
        "bmv2": difference.bmv2,
        "engine": difference.engine,
        "steps": [_to_json(step) for step in steps],
    }
    path.write_text(json.dumps(case, indent=1, default=_hex) + "\n", encoding="utf-8")
    return path


class CaseError(Exception):
    """The file is no written case."""


def read(path: Path) -> tuple[Subject, list[Step]]:
    """Returns the program and the steps of a written case. Raises `CaseError`."""
    try:
        case = json.loads(path.read_text(encoding="utf-8"))
        subject = next(subject for subject in SUBJECTS if subject.name == case["program"])
        return subject, [_from_json(step) for step in case["steps"]]
    except (OSError, ValueError, LookupError, TypeError, StopIteration) as error:
        raise CaseError(f"{path}: no case ({error!r}); name a file that this tester has written") from error


def _hex(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    raise TypeError(f"{value!r} cannot be written")


def _to_json(step: Step) -> dict[str, Any]:
    if isinstance(step, Call):
        return {"call": step.method, "service": step.service, "arguments": step.arguments}
    return {"port": step[0], "frame": step[1].hex()}


def _from_json(step: dict[str, Any]) -> Step:
    if "call" not in step:
        return step["port"], bytes.fromhex(step["frame"])
    arguments = json.loads(
        json.dumps(step["arguments"]),
        object_hook=lambda item: bytes.fromhex(item["hex"]) if item.keys() == {"hex"} else item,
    )
    return Call(step["service"], step["call"], tuple(arguments))
