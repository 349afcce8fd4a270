"""Claims M1 to M12: marks, drops, and their costs (experiment `marking`).

T is the E-EON thesis, M the marking-threshold paper. Runtime and throughput are compared with DropTail on
shallow buffers, latency with DropTail at the same depth, as in the paper (M 4.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from eeon_experiments.claims.bands import (
    ACKS,
    LATENCY,
    RUNTIME,
    SYNS,
    THROUGHPUT,
    cuts,
    drop_share,
    dropped,
    extreme,
    mean_change,
    point,
    states,
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
THRESHOLDS = ("100us", "500us")
PROTECTED = ("ece", "ack_syn")
# The experiment's points with RED and CoDel, by buffer, protection and transport.
RED: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {
    ("shallow", "ect"): {"ecn": TARGETS, "dctcp": ("red_100us", "red_2ms")},
    ("shallow", "ece"): {"ecn": TARGETS, "dctcp": ("red_100us",)},
    ("shallow", "ack_syn"): {"ecn": TARGETS, "dctcp": ("red_100us", "red_500us")},
    ("deep", "ece"): {"ecn": TARGETS, "dctcp": ("red_100us",)},
    ("deep", "ack_syn"): {"ecn": TARGETS, "dctcp": TARGETS},
}
CODEL: dict[tuple[str, str], dict[str, tuple[int, ...]]] = {
    ("shallow", "ect"): {"ecn": (4,), "dctcp": (4,)},
    ("shallow", "ece"): {"ecn": (4,)},
    ("shallow", "ack_syn"): {"ecn": (2, 4)},
    ("deep", "ack_syn"): {"ecn": (2, 4), "dctcp": (2, 4)},
}


def _baseline(buffer: str) -> Point:
    return point(buffer=buffer, transport="newreno", queue="drop_tail")


def _red(buffer: str, protect: str, queues: tuple[str, ...] = TARGETS) -> list[Point]:
    return [
        point(buffer=buffer, transport=transport, queue=queue, protect=protect)
        for transport, known in RED[buffer, protect].items()
        for queue in queues
        if queue in known
    ]


def _codel(buffer: str, protect: str, levels: tuple[int, ...] = (1, 2, 3, 4)) -> list[Point]:
    return [
        point(buffer=buffer, transport=transport, queue=f"codel_{number}", protect=protect)
        for transport, known in CODEL[buffer, protect].items()
        for number in levels
        if number in known
    ]


def _threshold(buffer: str, transport: str, target: str, workload: str | None = None) -> Point:
    return point(buffer=buffer, transport=transport, queue=f"threshold_{target}", workload=workload)


def _m1(results: Results) -> Checks:
    base = _baseline("shallow")
    red_at, red = extreme(results, RUNTIME, _red("shallow", "ect"), base, largest=True)
    codel_at, codel = extreme(results, RUNTIME, _codel("shallow", "ect"), base, largest=True)
    _, slowest = extreme(results, THROUGHPUT, _red("shallow", "ect", ("red_100us",)), base, largest=False)
    order = "above" if red.mean > codel.mean else "not above"
    return Checks(
        [
            states(red, 0.35, f"worst runtime with RED ({words_of(red_at)})", "red_worst_runtime"),
            states(codel, 0.10, f"with CoDel ({words_of(codel_at)})", "codel_worst_runtime"),
            Check(f"RED's worst is {order} CoDel's", red.mean > codel.mean),
            within(slowest, -1, 0, "smallest throughput with aggressive RED"),
        ]
    )


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


@dataclass(frozen=True)
class _Left:
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
        found = [
            total(
                results,
                columns,
                point(buffer=buffer, transport=transport, queue="red_100us", protect=protect),
            )
            for buffer, transport in product(buffers, ("ecn", "dctcp"))
        ]
        common = set.intersection(*map(set, found))
        sums[protect] = {seed: sum(one[seed] for one in found) for seed in common}
    before, after = zip(*of_common_seeds(list(sums.values())), strict=True)
    ratio = Spread.of([b / a if a else 0.0 for a, b in zip(before, after, strict=True)])
    return _Left(fmean(before), fmean(after), ratio)


def _m5(results: Results) -> Checks:
    base = _baseline("shallow")
    checks = []
    for transport in ("ecn", "dctcp"):
        at = point(buffer="shallow", transport=transport, queue="red_100us", protect="ack_syn")
        gain = change(results, THROUGHPUT, at, base)
        checks.append(states(gain, 0.10, f"throughput, {transport} red_100us", f"throughput_{transport}"))
    lowest_at, lowest = extreme(results, LATENCY, _red("shallow", "ack_syn"), base, largest=False)
    words = f"lowest latency ({words_of(lowest_at)})"
    return Checks([*checks, within(lowest, -0.55, -0.25, words, name="latency_lowest")])


def _m6(results: Results) -> Checks:
    deep, shallow = _baseline("deep"), _baseline("shallow")
    loose = [one for protect in PROTECTED for one in _red("deep", protect, ("red_2ms",))]
    middle = [one for protect in PROTECTED for one in _red("deep", protect, ("red_500us",))]
    full = mean_change(results, THROUGHPUT, loose, deep)
    latency_loose = mean_change(results, LATENCY, loose, deep)
    latency = mean_change(results, LATENCY, middle, deep)
    runtime = mean_change(results, RUNTIME, middle, shallow)
    same = mean_change(results, RUNTIME, middle, deep)
    at_500us = "runtime at red_500us against"
    return Checks(
        [
            within(full, -0.05, 1, "throughput at red_2ms against deep DropTail", name="throughput_loose"),
            cuts(latency_loose, -0.60, "latency at red_2ms", "latency_loose"),
            cuts(latency, -0.85, "latency at red_500us", "latency_500us"),
            states(runtime, -0.10, f"{at_500us} shallow DropTail", "runtime_500us"),
            within(same, -0.05, 0.05, f"{at_500us} deep DropTail", name="runtime_500us_against_deep"),
        ]
    )


def _m7(results: Results) -> Checks:
    base = _baseline("shallow")
    ecn = [one for one in _codel("shallow", "ack_syn") if one["transport"] == "ecn"]
    fastest_at, fastest = extreme(results, RUNTIME, ecn, base, largest=False)
    hardest = [one for protect in PROTECTED for one in _codel("shallow", protect, (4,))]
    least_at, least = extreme(results, THROUGHPUT, hardest, base, largest=False)
    latency = mean_change(results, LATENCY, ecn, base)
    least_words = f"least throughput at level 4 ({words_of(least_at)})"
    return Checks(
        [
            states(fastest, -0.08, f"best runtime ({words_of(fastest_at)})", "runtime"),
            within(least, 0.025, 1, least_words, name="throughput_level_4"),
            cuts(latency, -0.40, "latency, mean of the levels", "latency"),
        ]
    )


def _m8(results: Results) -> Checks:
    deep = _baseline("deep")
    latency = mean_change(results, LATENCY, _codel("deep", "ack_syn", (2, 4)), deep)
    throughput = mean_change(results, THROUGHPUT, _codel("deep", "ack_syn", (4,)), deep)
    words = "throughput at level 4 against deep DropTail"
    checks = [
        cuts(latency, -0.80, "latency, levels 2 and 4", "latency"),
        within(throughput, -0.10, 0.01, words, name="throughput_level_4"),
    ]
    for number in (2, 4):
        ecn, dctcp = _codel("deep", "ack_syn", (number,))
        lower = change(results, LATENCY, ecn, dctcp)
        words = f"latency of ECN against DCTCP, level {number}"
        checks.append(within(lower, -1, -0.2, words, name=f"ecn_against_dctcp_level_{number}"))
    return Checks(checks)


def _m9(results: Results) -> Checks:
    base = _baseline("shallow")
    checks = []
    for protect in PROTECTED:
        points = [one for one in _red("shallow", protect) if one["transport"] == "ecn"]
        best_at, best = extreme(results, RUNTIME, points, base, largest=False)
        there = next(one for one in points if one["queue"] == "red_500us")
        gap = change(results, RUNTIME, there, best_at)
        words = f"{protect}: best at {best_at['queue']} ({best.text(percent)}), red_500us is slower by"
        checks.append(within(gap, 0, 0.01, words, name=f"gap_{protect}"))
    return Checks(checks)


def _m10(results: Results) -> Checks:
    checks, numbers = [], {}
    ecn = [
        one
        for one in (*_red("shallow", "ack_syn"), *_codel("shallow", "ack_syn"))
        if one["transport"] == "ecn"
    ]
    best_at, best = extreme(results, THROUGHPUT, ecn, _baseline("shallow"), largest=True)
    latency = change(results, LATENCY, best_at, _baseline("shallow"))
    checks += [
        states(best, 0.10, f"shallow: throughput ({words_of(best_at)})"),
        cuts(latency, -0.40, "latency there"),
    ]
    deep = [
        one for one in (*_red("deep", "ack_syn"), *_codel("deep", "ack_syn")) if one["transport"] == "ecn"
    ]
    gains = [change(results, THROUGHPUT, one, _baseline("deep")).mean for one in deep]
    full = [one for one, gain in zip(deep, gains, strict=True) if abs(gain) <= 0.05]
    if full:
        low_at, low = extreme(results, LATENCY, full, _baseline("deep"), largest=False)
        checks.append(cuts(low, -0.85, f"deep: latency ({words_of(low_at)}) at DropTail's throughput"))
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
        for target in THRESHOLDS:
            there = _threshold(buffer, transport, target)
            runtimes.append(level(results, RUNTIME, there).mean)
            red = point(buffer=buffer, transport=transport, queue=f"red_{target}", protect="ack_syn")
            words = f"runtime against RED ACK+SYN, {buffer} {transport} {target}"
            name = f"against_ack_syn_{buffer}_{transport}_{target}"
            checks.append(within(change(results, RUNTIME, there, red), -1, 0.02, words, name=name))
        spread = max(runtimes) / min(runtimes) - 1
        words = f"slowest against fastest threshold, {buffer} {transport} {percent(spread)}"
        checks.append(Check(words, spread <= 0.05, numbers={f"spread_{buffer}_{transport}": spread}))
    return Checks(checks)


def _m12(results: Results) -> Checks:
    checks = []
    for buffer, target in product(BUFFERS, ("100us", "500us")):
        ecn, dctcp = (_threshold(buffer, transport, target) for transport in ("ecn", "dctcp"))
        latency = change(results, LATENCY, ecn, dctcp)
        throughput = change(results, THROUGHPUT, ecn, dctcp)
        there = f"{buffer}_{target}"
        words = f"latency of ECN against DCTCP, {buffer} {target}"
        checks += [
            within(latency, -1, -0.05, words, name=f"latency_{there}"),
            within(throughput, -0.05, 0.05, "throughput", name=f"throughput_{there}"),
        ]
    for target in ("100us", "500us"):
        ecn, dctcp = (_threshold("shallow", transport, target, "short") for transport in ("ecn", "dctcp"))
        short = change(results, "fct_small_mean_seconds", dctcp, ecn)
        words = f"short flows' completion time, DCTCP against ECN, {target}"
        checks.append(within(short, -1, 0, words, name=f"short_flows_{target}"))
    return Checks(checks)


JUDGES: Judges = {
    "M1": _m1,
    "M2": _m2,
    "M3": _m3,
    "M4": _m4,
    "M5": _m5,
    "M6": _m6,
    "M7": _m7,
    "M8": _m8,
    "M9": _m9,
    "M10": _m10,
    "M11": _m11,
    "M12": _m12,
}
