"""E2 and E8: effects of time alone: idle time before sleep, and the latency of links without EEE."""

from contextlib import suppress

from eeon_experiments.claims.model import Check, Checks, Missing, change, each, means, within
from eeon_experiments.results import Results, Spread

from .points import point

_USED = "energy_used_joules"
_RUNTIME = "runtime_seconds"


def e2(results: Results) -> Checks:
    base = point("small_24", eee="standard", stall="0us")
    runtime, energy = {}, {}
    for stall in ("10us", "50us", "500us", "5ms"):
        other = point("small_24", eee="standard", stall=stall)
        with suppress(Missing):
            runtime[stall] = change(results, _RUNTIME, base, other)
            energy[stall] = change(results, _USED, other, base)
    if not runtime:
        raise Missing("runs with a stall time")
    worst = max(runtime.values(), key=lambda one: one.mean)
    least = min(energy.values(), key=lambda one: one.mean)
    return Checks(
        [
            within(worst, -1, 0.03, "runtime of stall 0 against the best other stall time"),
            within(least, -0.01, 100, f"energy against stall 0: {each(energy)}; lowest"),
        ],
        means(energy, "energy_change_") | means(runtime, "runtime_change_of_stall_0_against_"),
    )


def e8(results: Results) -> Checks:
    small, batch = _slowed(results, "small_24"), _slowed(results, "batch_24")
    checks = [
        within(small["100us"], -1, 0.05, "small jobs at 100 us a link"),
        within(batch["5ms"], -1, 0.25, "batch at 5 ms"),
        within(batch["10ms"], 0.05, 100, "batch at 10 ms"),
        Check(f"small jobs: {each(small)}", small["5ms"].mean > 0.05),
        Check(f"batch: {each(batch)}", batch["5ms"].mean < small["5ms"].mean),
    ]
    if "1ms" in small and "1ms" in batch:
        checks += [
            within(small["1ms"], 0.05, 100, "small jobs at 1 ms"),
            within(batch["1ms"], -1, 0.05, "batch at 1 ms"),
        ]
    return Checks(checks, means(small, "small_24_") | means(batch, "batch_24_"))


def _slowed(results: Results, scenario: str) -> dict[str, Spread]:
    base = point(scenario, window="default", eee="off", delay="0us")
    found = {}
    for delay in ("10us", "50us", "100us", "200us", "500us", "1ms", "5ms", "10ms"):
        other = point(scenario, window="default", eee="off", delay=delay)
        with suppress(Missing):
            found[delay] = change(results, _RUNTIME, other, base)
    for needed in ("5ms", "100us") if scenario == "small_24" else ("5ms", "10ms"):
        if needed not in found:
            raise Missing(f"{scenario} with {needed} on every link")
    return found
