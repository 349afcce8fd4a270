"""F1 to F4: the flow-chasing paper's claims on its scheduler (Ren and Wang, KSII TIIS 10(4), 2016).

Changes are from TCP alone to flow chasing, for the whole job if it was run, else for a tenth of it.
"""

import json

from eeon_experiments.claims.model import (
    Check,
    Checks,
    Judges,
    Missing,
    Point,
    by_seed,
    change,
    level,
    percent,
    within,
)
from eeon_experiments.results import Results

_TRANSFER, _SHUFFLE, _RUNTIME = "reducer_shuffle_mean_seconds", "shuffle_seconds", "runtime_seconds"
SIZES = ("200GB", "20GB", "5GB")
_EXAMPLE_MARGIN = 0.05


def job(scheduler: str, size: str) -> Point:
    """Returns the job's point with the assumed values of the unknowns."""
    return {"case": "terasort", "size": size, "scheduler": scheduler, "unknown": None}


def largest(results: Results) -> str:
    """Returns the largest size that was run with and without flow chasing. Raises Missing."""
    for size in SIZES:
        if all(results.select(**job(scheduler, size)).finished for scheduler in ("none", "fca")):
            return size
    raise Missing("no job with and without flow chasing")


def _saved(results: Results, column: str, low: float, high: float, what: str) -> Check:
    """Checks the change of a time; its figure is `change`."""
    size = largest(results)
    changed = change(results, column, job("fca", size), job("none", size))
    before, after = (level(results, column, job(scheduler, size)) for scheduler in ("none", "fca"))
    words = f"{what}, {size}: {before.mean:.2f} s without, {after.mean:.2f} s with flow chasing,"
    return within(changed, low, high, words, name="change")


def _f3(results: Results) -> Checks:
    check = _saved(results, _RUNTIME, -0.07, 0.0, "the job's runtime")
    size = largest(results)
    transfer, shuffle = (
        change(results, column, job("fca", size), job("none", size)) for column in (_TRANSFER, _SHUFFLE)
    )
    ordered = check.numbers["change"] >= shuffle.mean >= transfer.mean
    words = (
        f"the change {'falls' if ordered else 'does not fall'} from the job to the shuffle "
        f"({percent(shuffle.mean)}) and to a reducer's shuffle ({percent(transfer.mean)})"
    )
    return Checks([check, Check(words, ordered)])


def _took(results: Results, case: str, scheduler: str) -> dict[str, float]:
    """Returns the time in seconds of each transfer in the worked example. Raises Missing."""
    point = {"case": case, "scheduler": scheduler}
    by_seed(results, _RUNTIME, point)
    told = results.select(**point).finished[0].get("coflow_completions_json")
    if not isinstance(told, str):
        raise Missing(f"no completions of {case} with {scheduler}")
    return {name.rpartition("/")[2]: seconds for name, seconds in json.loads(told).items() if seconds}


_EXAMPLES = (
    ("fair sharing", "example", "exact_fair", {"a": 6.0, "b": 4.0}),
    ("chasing", "example", "exact_fca", {"a": 6.0, "b": 3.0}),
    ("B 2 s later, myopic", "example_later", "exact_myopic", {"a": 6.0, "b": 3.0}),
    ("B 2 s later, work-conserving", "example_later", "exact_fca", {"a": 6.0, "b": 2.0}),
)


def _f4(results: Results) -> Checks:
    checks = []
    for what, case, scheduler, expected in _EXAMPLES:
        took = _took(results, case, scheduler)
        if took.keys() != expected.keys():
            raise Missing(f"a transfer of {case} with {scheduler}, which has failed")
        holds = all(abs(took[name] / seconds - 1) <= _EXAMPLE_MARGIN for name, seconds in expected.items())
        words = f"{what}: A {took['a']:.3f} s, B {took['b']:.3f} s"
        numbers = {f"{case}_{scheduler}_{name}": seconds for name, seconds in took.items()}
        checks.append(Check(words, holds, numbers=numbers))
    return Checks(checks)


JUDGES: Judges = {
    "F1": lambda results: Checks([_saved(results, _TRANSFER, -0.112, -0.012, "a reducer's shuffle, mean")]),
    "F2": lambda results: Checks([_saved(results, _SHUFFLE, -0.098, 0.0, "the job's shuffle")]),
    "F3": _f3,
    "F4": _f4,
}
