"""Judges of claims of `marking`: shares of drops, and the best of several settings."""

from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import NamedTuple

from eeon_experiments.claims.bands import (
    ACKS,
    LATENCY,
    RUNTIME,
    SYNS,
    THROUGHPUT,
    band,
    cut,
    drop_share,
    dropped,
    extreme,
    point,
)
from eeon_experiments.claims.model import (
    Check,
    Checks,
    Judges,
    Point,
    change,
    level,
    of_common_seeds,
    percent,
    share,
    total,
    within,
    words_of,
)
from eeon_experiments.results import Results, Spread
from eeon_tools.trace.frames import CLASS_NAMES

BUFFERS = ("shallow", "deep")
TARGETS = ("red_100us", "red_500us", "red_2ms")
CODEL = ("codel_2", "codel_4")


def _baseline(buffer: str) -> Point:
    return point(buffer=buffer, transport="newreno", queue="drop_tail")


def _with_ecn(buffer: str, protect: str, queues: Sequence[str]) -> list[Point]:
    return [point(buffer=buffer, transport="ecn", queue=queue, protect=protect) for queue in queues]


def _m2(results: Results) -> Checks:
    checks = []
    for buffer, transport in (("shallow", "ecn"), ("shallow", "dctcp"), ("deep", "dctcp")):
        loose = point(buffer=buffer, transport=transport, queue="red_2ms", protect="ect")
        data = drop_share(results, ("data",), loose)
        words = f"data among drops, {buffer} {transport} red_2ms"
        checks.append(within(data, 0.9, 1, words, share, f"data_share_{buffer}_{transport}_loose"))
    for buffer, (transport, classes, name) in product(
        BUFFERS, (("ecn", ACKS, "ACKs"), ("dctcp", SYNS, "SYNs"))
    ):
        aggressive = point(buffer=buffer, transport=transport, queue="red_100us", protect="ect")
        some = drop_share(results, classes, aggressive)
        words = f"{name} among drops, {buffer} {transport} red_100us"
        checks.append(within(some, 0.5, 1, words, share, f"{name}_share_{buffer}_{transport}_aggressive"))
    return Checks(checks)


def _m3(results: Results) -> Checks:
    checks = []
    for buffer, transport in product(BUFFERS, ("ecn", "dctcp")):
        at = point(buffer=buffer, transport=transport, queue="red_100us", protect="ece")
        words = f"plain ACKs among drops, {buffer} {transport} red_100us"
        if not sum(dropped(results, CLASS_NAMES, at).values()):
            checks.append(Check(f"{words}: nothing was dropped", False))
            continue
        acks = drop_share(results, ("ack",), at)
        checks.append(within(acks, 0.5, 1, words, share, f"ack_share_{buffer}_{transport}"))
    return Checks(checks)


def _m4(results: Results) -> Checks:
    early = _left_with_ack_syn(results, BUFFERS, ("early",))
    deep = _left_with_ack_syn(results, ("deep",), ("early", "tail"))
    every = _left_with_ack_syn(results, BUFFERS, ("early", "tail"))
    words = "with ACK+SYN relative to those without, red_100us"
    early_words = f"early drops {words} ({early.counts})"
    deep_words = f"all drops on deep buffers {words} ({deep.counts})"
    told = f"all drops on both {every.ratio.text(share)} ({every.counts})"
    return Checks(
        [
            within(early.ratio, 0, 0.02, early_words, share, "ratio_early"),
            within(deep.ratio, 0, 0.02, deep_words, share, "ratio_deep"),
            Check(told, holds=True, part=False),
        ],
        {"ratio": every.ratio.mean, "drops_default": every.before, "drops_ack_syn": every.after},
    )


class _Left(NamedTuple):
    """Dropped packets per seed before and after ACK+SYN protection, and their ratio, seed by seed."""

    before: float
    after: float
    ratio: Spread

    @property
    def counts(self) -> str:
        return f"{self.after:,.0f} of {self.before:,.0f} per seed"


def _left_with_ack_syn(results: Results, buffers: Sequence[str], kinds: Sequence[str]) -> _Left:
    columns = [f"{kind}_dropped_{name}" for name in CLASS_NAMES for kind in kinds]
    sums: dict[str, dict[int, float]] = {}
    for protect in ("ect", "ack_syn"):
        points = (
            point(buffer=buffer, transport=transport, queue="red_100us", protect=protect)
            for buffer, transport in product(buffers, ("ecn", "dctcp"))
        )
        found = [total(results, columns, one) for one in points]
        sums[protect] = {seed: sum(one) for seed, one in of_common_seeds(found).items()}
    before, after = zip(*of_common_seeds(list(sums.values())).values(), strict=True)
    ratio = Spread.of([b / a if a else 0.0 for a, b in zip(before, after, strict=True)])
    return _Left(fmean(before), fmean(after), ratio)


def _m9(results: Results) -> Checks:
    base = _baseline("shallow")
    checks = []
    for protect in ("ece", "ack_syn"):
        points = _with_ecn("shallow", protect, TARGETS)
        best_at, best = extreme(results, RUNTIME, points, base, largest=False)
        gap = change(results, RUNTIME, points[TARGETS.index("red_500us")], best_at)
        words = f"{protect}: best at {best_at['queue']} ({best.text(percent)}), red_500us is slower by"
        checks.append(within(gap, 0, 0.01, words, name=f"gap_{protect}"))
    return Checks(checks)


def _m10(results: Results) -> Checks:
    checks, numbers = [], {}
    shallow = _with_ecn("shallow", "ack_syn", (*TARGETS, *CODEL))
    best_at, best = extreme(results, THROUGHPUT, shallow, _baseline("shallow"), largest=True)
    latency = change(results, LATENCY, best_at, _baseline("shallow"))
    checks += [
        within(best, *band(0.10), f"shallow: throughput ({words_of(best_at)})"),
        within(latency, *cut(-0.40), "latency there"),
    ]
    deep = _with_ecn("deep", "ack_syn", (*TARGETS, *CODEL))
    gains = [change(results, THROUGHPUT, one, _baseline("deep")).mean for one in deep]
    full = [one for one, gain in zip(deep, gains, strict=True) if abs(gain) <= 0.05]
    if full:
        low_at, low = extreme(results, LATENCY, full, _baseline("deep"), largest=False)
        words = f"deep: latency ({words_of(low_at)}) at DropTail's throughput"
        checks.append(within(low, *cut(-0.85), words))
        numbers["deep_latency"] = low.mean
    else:
        nearest = min(gains, key=abs)
        words = (
            f"deep: no setting is within 5 % of DropTail's throughput, the nearest is at {percent(nearest)}"
        )
        checks.append(Check(words, False))
        numbers["deep_nearest_throughput"] = nearest
    return Checks(checks, {**numbers, "shallow_throughput": best.mean, "shallow_latency": latency.mean})


def _m11(results: Results) -> Checks:
    checks = []
    for buffer, transport in product(BUFFERS, ("ecn", "dctcp")):
        runtimes = []
        for target in ("100us", "500us"):
            there = point(buffer=buffer, transport=transport, queue=f"threshold_{target}", workload=None)
            runtimes.append(level(results, RUNTIME, there).mean)
            red = point(buffer=buffer, transport=transport, queue=f"red_{target}", protect="ack_syn")
            words = f"runtime against RED ACK+SYN, {buffer} {transport} {target}"
            name = f"against_ack_syn_{buffer}_{transport}_{target}"
            checks.append(within(change(results, RUNTIME, there, red), -1, 0.02, words, name=name))
        spread = max(runtimes) / min(runtimes) - 1
        words = f"slowest against fastest threshold, {buffer} {transport} {percent(spread)}"
        checks.append(Check(words, spread <= 0.05, numbers={f"spread_{buffer}_{transport}": spread}))
    return Checks(checks)


JUDGES: Judges = {"M2": _m2, "M3": _m3, "M4": _m4, "M9": _m9, "M10": _m10, "M11": _m11}
