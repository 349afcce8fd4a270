"""E1 to E10: claims of the EEE-MapReduce paper and of E-EON thesis chapter 4 on EEE and coalescing.

E2 and E8 are about time alone: idle time before sleep, and the latency of links without EEE. E9 and E10 are
in `load_claims`. Energy is the sum over all transmitters of a kind over the whole run, so that a longer run
uses more.
"""

from collections.abc import Iterable
from contextlib import suppress

from eeon_experiments.claims.model import (
    Check,
    Checks,
    Judges,
    Missing,
    change,
    compare,
    each,
    mean,
    means,
    percent,
    share,
    times,
    within,
)
from eeon_experiments.results import Results, Spread

from .load_claims import e9, e10
from .points import SCENARIOS, changes, point

_USED = "energy_used_joules"
_RUNTIME = "runtime_seconds"
_BEST = {"buffers": ["deep"], "windows": ["tuned"]}


def _e1(results: Results) -> Checks:
    legacy, ideal = {}, {}
    for scenario in SCENARIOS:
        at = point(scenario, eee="standard")
        with suppress(Missing):
            legacy[scenario] = compare(results, ("energy_legacy_joules", _USED), (at, at), lambda a, b: a / b)
            ideal[scenario] = compare(results, (_USED, "energy_ideal_joules"), (at, at), lambda a, b: a / b)
    _both_workloads(legacy)
    average, excess = mean(legacy.values()), mean(ideal.values())
    checks = [
        within(average, 4, 10, "legacy over Standard EEE, mean", times),
        Check(f"by scenario {each(legacy, times)}", all(2.5 <= one.mean <= 16 for one in legacy.values())),
        within(excess, 1.5, 3, f"Standard EEE over ideal: {each(ideal, times)}; mean", times),
    ]
    return Checks(checks, means(legacy, "legacy_over_standard_") | means(ideal, "standard_over_ideal_"))


def _e2(results: Results) -> Checks:
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


def _e3(results: Results) -> Checks:
    checks = []
    energies = []
    for eee, low, high in (("12us10", 0.65, 0.85), ("120us100", 0.5, 0.7)):
        runtime = changes(results, _RUNTIME, eee)
        if not runtime:
            raise Missing(f"runs with {eee} beside Standard EEE")
        worst = max(runtime, key=lambda name: runtime[name].mean)
        average, energy = mean(runtime.values()), mean(changes(results, _USED, eee).values()).plus(1)
        mean_words = f"{eee}: runtime, mean of {len(runtime)} cells"
        energy_words = f"{eee}: energy relative to Standard EEE"
        checks += [
            within(runtime[worst], -1, 0.05, f"{eee}: worst runtime ({worst})", name=f"runtime_worst_{eee}"),
            within(average, -1, 0.02, mean_words, name=f"runtime_mean_{eee}"),
            within(energy, low, high, energy_words, share, f"energy_{eee}"),
        ]
        energies.append(energy.mean)
    ordered = energies[1] < energies[0]
    return Checks([*checks, Check(f"120us100 saves {'more' if ordered else 'less'} than 12us10", ordered)])


def _e4(results: Results) -> Checks:
    def over(buffer: str, window: str, eee: str, column: str) -> Spread:
        cells = changes(results, column, eee, buffers=[buffer], windows=[window])
        if not cells:
            raise Missing(f"runs with {eee}, {buffer} buffers, {window} TCP")
        return mean(cells.values())

    energy = over("deep", "tuned", "1ms1000", _USED).plus(1)
    deep = over("deep", "tuned", "1ms1000", _RUNTIME)
    shallow = over("shallow", "tuned", "1ms1000", _RUNTIME)
    default = over("shallow", "default", "1ms1000", _RUNTIME)
    longest = over("shallow", "default", "10ms1000", _RUNTIME)
    relative = "1ms1000, deep and tuned: energy relative to Standard EEE"
    default_words = f"1ms1000, shallow with 64 KB: runtime {default.text(percent)}"
    longest_words = f"10ms1000, shallow with 64 KB: runtime {longest.text(percent)}"
    return Checks(
        [
            within(energy, 0.45, 0.65, relative, share, "energy_deep_tuned"),
            within(deep, -1, 0.04, "1ms1000, deep and tuned: runtime", name="runtime_deep_tuned"),
            within(shallow, 0.125, 0.5, "1ms1000, shallow and tuned: runtime", name="runtime_shallow_tuned"),
            Check(default_words, default.mean > shallow.mean + 0.05),
            Check(longest_words, longest.mean > default.mean),
        ],
        {"runtime_shallow_default": default.mean, "runtime_10ms_shallow_default": longest.mean},
    )


def _e5(results: Results) -> Checks:
    checks = []
    for scenario in ("batch_24", "batch_80"):
        held = point(scenario, eee="1ms1000", window="default")
        compared = {
            "1ms1000 against Standard EEE": (held, point(scenario, eee="standard", window="default")),
            "1ms1000 with 64 KB against 1 MB": (held, point(scenario, eee="1ms1000")),
            "10ms1000 against 1ms1000": (point(scenario, eee="10ms1000", window="default"), held),
        }
        with suppress(Missing):
            found = {what: change(results, _RUNTIME, *points) for what, points in compared.items()}
            checks += [
                within(one, -0.05, 0.05, f"{scenario}: runtime of {what}", name=f"{scenario}: {what}")
                for what, one in found.items()
            ]
    if not checks:
        raise Missing("batch runs with deep buffers and 64 KB")
    return Checks(checks)


def _e6(results: Results) -> Checks:
    def saved(speed: str, settings: Iterable[str]) -> dict[str, Spread]:
        return {
            f"{scenario} {eee}": one.scaled(-1)
            for eee in settings
            for scenario, one in changes(results, f"energy_{speed}_used_joules", eee, **_BEST).items()
        }

    fast, slow = saved("10g", ("12us10+", "120us100+")), saved("1g", ("12us10", "120us100"))
    if not fast or not slow:
        raise Missing("runs with `+` and with uniform settings")
    best = max(slow, key=lambda name: slow[name].mean)
    return Checks(
        [
            Check(f"10GbE saves {each(fast, share)}", all(0.25 <= one.mean <= 0.85 for one in fast.values())),
            within(slow[best], -1, 0.10, f"1GbE saves at most ({best})", share),
        ],
        means(fast, "saved_10g ") | means(slow, "saved_1g "),
    )


def _e7(results: Results) -> Checks:
    energy = [changes(results, _USED, eee, **_BEST) for eee in ("12us10+", "120us100+")]
    runtime = [changes(results, _RUNTIME, eee, **_BEST) for eee in ("12us10+", "120us100+")]
    saved = {
        scenario: mean(one[scenario].scaled(-1) for one in energy if scenario in one)
        for scenario in SCENARIOS
        if any(scenario in one for one in energy)
    }
    _both_workloads(saved)
    of_small = {name: one for name, one in saved.items() if name.startswith("small")}
    small = mean(of_small.values())
    largest = [name for name in saved if name.startswith("batch")][-1]
    worst = max((one for found in runtime for one in found.values()), key=lambda one: one.mean)
    more = small.mean > saved[largest].mean
    return Checks(
        [
            within(saved[largest], 0.10, 0.40, f"{largest} saves", share),
            within(small, 0.35, 0.75, f"small jobs save ({each(of_small, share)}), mean", share),
            Check(f"small jobs save {'more' if more else 'less'} than {largest}", more),
            within(worst, -1, 0.05, "worst runtime"),
        ],
        means(saved, "saved_") | {"runtime_worst": worst.mean},
    )


def _e8(results: Results) -> Checks:
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


def _both_workloads(found: Iterable[str]) -> None:
    names = list(found)
    for workload in ("batch", "small"):
        if not any(name.startswith(workload) for name in names):
            raise Missing(f"{workload} runs with deep buffers and tuned TCP")


JUDGES: Judges = {
    "E1": _e1,
    "E2": _e2,
    "E3": _e3,
    "E4": _e4,
    "E5": _e5,
    "E6": _e6,
    "E7": _e7,
    "E8": _e8,
    "E9": e9,
    "E10": e10,
}
