"""Judges of claims of thesis chapter 7: coalescing on the 10GbE links, alone and combined with RED and ECN.

Energy is that of the 10GbE transmitters, as in the thesis. `ideal` is the ideal energy of the same run in J1,
and of the run without EEE in J3 and J5, which are about the cost of a job. Changes are relative to the run
without EEE with the same buffer and control, unless stated otherwise. Where the thesis names no baseline (J4,
J5), the comparison with the other baseline is given as well.
"""

from eeon_experiments.claims.model import (
    Check,
    Checks,
    Judges,
    Point,
    by_seed,
    change,
    compare,
    each,
    mean,
    means,
    of_common_seeds,
    percent,
    within,
)
from eeon_experiments.results import Results, Spread

_USED, _IDEAL = "energy_10g_used_joules", "energy_10g_ideal_joules"
_RUNTIME, _LATENCY = "runtime_seconds", "latency_mean_us"
_BUFFERS = ("shallow", "deep")


def _point(buffer: str, control: str, eee: str = "off") -> Point:
    return {"buffer": buffer, "control": control, "eee": eee}


def _above_ideal(results: Results, point: Point, ideal_of: Point) -> Spread:
    """Returns the energy in excess of the ideal of the run at `ideal_of`, which a longer run cannot reach."""
    return compare(results, (_USED, _IDEAL), (point, ideal_of), lambda used, ideal: used / ideal - 1)


def _above_awake(results: Results, eee: str) -> Spread:
    """Returns the energy in excess of the ideal of the run without EEE, for RED with ECN, mean of both
    depths."""
    return mean(
        _above_ideal(results, _point(buffer, "red_ecn", eee), _point(buffer, "red_ecn"))
        for buffer in _BUFFERS
    )


def _changes(results: Results, column: str, control: str, eee: str) -> dict[str, Spread]:
    return {
        buffer: change(results, column, _point(buffer, control, eee), _point(buffer, control))
        for buffer in _BUFFERS
    }


def _j3(results: Results) -> Checks:
    middle, longest = (_changes(results, _RUNTIME, "red_ecn", eee) for eee in ("500us500", "1ms1000"))
    above = {eee: _above_awake(results, eee) for eee in ("120us100", "500us500", "1ms1000")}
    lost = min(above["500us500"].mean, above["1ms1000"].mean) > above["120us100"].mean
    return Checks(
        [
            within(mean(middle.values()), 0.125, 0.5, f"500us500: runtime {each(middle)}; mean"),
            within(mean(longest.values()), 0.5, 1.5, f"1ms1000: runtime {each(longest)}; mean"),
            Check(f"energy above ideal: {each(above)}", lost),
        ],
        means(middle, "runtime_500us500_")
        | means(longest, "runtime_1ms1000_")
        | {f"{eee}_above_ideal": one.mean for eee, one in above.items()},
    )


def _j4(results: Results) -> Checks:
    of_drop_tail = {buffer: _added_to_drop_tail(results, buffer) for buffer in _BUFFERS}
    words = f"added latency, relative to drop tail's: {each(of_drop_tail)}"
    return Checks([Check(words, True, part=False)], means(of_drop_tail, "latency_of_drop_tail_"))


def _added_to_drop_tail(results: Results, buffer: str) -> Spread:
    """Returns the latency that 1ms1000 adds to RED with ECN, as a share of drop tail's at this depth."""
    added = by_seed(results, _LATENCY, _point(buffer, "red_ecn", "1ms1000"))
    before = by_seed(results, _LATENCY, _point(buffer, "red_ecn"))
    whole = by_seed(results, _LATENCY, _point(buffer, "tcp"))
    found = of_common_seeds([added, before, whole], f"{buffer}: drop tail and RED with ECN")
    return Spread.of([(late - early) / all_ for late, early, all_ in found.values()])


def _j5(results: Results) -> Checks:
    runtime = _changes(results, _RUNTIME, "red_ecn", "120us100")
    throughput = _changes(results, "throughput_per_node_bps", "red_ecn", "120us100")
    above = _above_awake(results, "120us100")
    latency = {
        buffer: change(results, _LATENCY, _point(buffer, "red_ecn", "120us100"), _point("deep", "tcp"))
        for buffer in _BUFFERS
    }
    standard, of_tcp = (
        mean(
            change(results, _USED, _point(buffer, "red_ecn", "120us100"), _point(buffer, control, "standard"))
            for buffer in _BUFFERS
        )
        for control in ("red_ecn", "tcp")
    )
    return Checks(
        [
            Check(f"runtime {each(runtime)}", all(one.mean <= 0.05 for one in runtime.values())),
            Check(f"throughput {each(throughput)}", all(one.mean >= -0.05 for one in throughput.values())),
            within(above, 0, 0.2, "energy above ideal"),
            Check(
                f"latency against deep drop tail {each(latency)}",
                all(one.mean <= -0.5 for one in latency.values()),
            ),
            within(standard, -1, -0.35, "energy against Standard EEE", percent),
            Check(f"against Standard EEE of TCP over drop tail {of_tcp.text(percent)}", True, part=False),
        ],
        means(runtime, "runtime_")
        | means(latency, "latency_")
        | {
            "above_ideal": above.mean,
            "energy_against_standard": standard.mean,
            "energy_against_standard_of_tcp": of_tcp.mean,
        },
    )


JUDGES: Judges = {"J3": _j3, "J4": _j4, "J5": _j5}
