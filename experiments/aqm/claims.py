"""Claims Q1 to Q5: AQM alone (experiment `aqm`, chapter 5 of the E-EON thesis).

Runtime and throughput are compared with DropTail on shallow buffers, delay with DropTail at the same depth
(5.2.1).
"""

from eeon_experiments.claims.bands import (
    LATENCY,
    RUNTIME,
    THROUGHPUT,
    cuts,
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
    means,
    within,
    words_of,
)
from eeon_experiments.results import Results, Spread

BUFFERS = ("shallow", "deep")
TRANSPORTS = ("newreno", "ecn", "dctcp")


def _baseline(buffer: str) -> Point:
    return point(buffer=buffer, transport="plain", queue="drop_tail")


def _points(buffer: str, queue: str, transports: tuple[str, ...]) -> list[Point]:
    return [point(buffer=buffer, transport=transport, queue=queue) for transport in transports]


def _q1(results: Results) -> Checks:
    shallow = _baseline("shallow")
    hard = [one for buffer in BUFFERS for one in _points(buffer, "red_100us", ("newreno", "ecn"))]
    worst_at, worst = extreme(results, THROUGHPUT, hard, shallow, largest=False)
    soft = _points("deep", "red_1ms", ("newreno", "ecn"))
    latency = mean_change(results, LATENCY, soft, _baseline("deep"))
    runtime = mean_change(results, RUNTIME, soft, shallow)
    return Checks(
        [
            states(worst, -0.30, f"least throughput at 100 us ({words_of(worst_at)})", "throughput_100us"),
            cuts(latency, -0.85, "deep latency at 1 ms", "latency_1ms"),
            states(runtime, -0.05, "runtime there against shallow DropTail", "runtime_1ms"),
        ]
    )


def _q2(results: Results) -> Checks:
    shallow = _baseline("shallow")
    checks = []
    for queue in ("red_70_70", "red_25_51", "red_25_75"):
        points = _points("deep", queue, ("newreno", "ecn"))
        runtime = mean_change(results, RUNTIME, points, shallow)
        checks.append(states(runtime, 0.10, f"runtime at {queue}", f"runtime_{queue}"))
    deep = _points("deep", "red_50_150", ("newreno", "ecn"))
    runtime = mean_change(results, RUNTIME, deep, shallow)
    lowest_at, lowest = extreme(results, LATENCY, deep, _baseline("deep"), largest=False)
    checks += [
        within(runtime, -0.05, 0.05, "runtime at red_50_150", name="runtime_red_50_150"),
        cuts(lowest, -0.90, f"latency there ({words_of(lowest_at)})", "latency_red_50_150"),
    ]
    return Checks(checks)


def _q3(results: Results) -> Checks:
    averaged, instant = (
        point(buffer="deep", transport="newreno", queue=queue)
        for queue in ("red_500us_averaged", "red_500us")
    )
    runtime, latency = (change(results, column, averaged, _baseline("deep")) for column in (RUNTIME, LATENCY))
    other = change(results, LATENCY, instant, averaged)
    against = "latency, instantaneous against averaged"
    return Checks(
        [
            within(runtime, -0.05, 0.05, "averaged against DropTail: runtime", name="runtime_averaged"),
            within(latency, -0.2, 0.2, "latency", name="latency_averaged"),
            within(other, -1, -0.2, against, name="latency_instantaneous"),
        ]
    )


def _microseconds(value: float) -> str:
    return f"{value:,.0f} us"


def _delay(measured: Spread, holds: bool, what: str, name: str) -> Check:
    return Check(f"{what} {measured.text(_microseconds)}", holds, numbers={name: measured.mean})


def _q4(results: Results) -> Checks:
    shallow, deep = _baseline("shallow"), _baseline("deep")
    plain = {
        (b, n): point(buffer=b, transport="newreno", queue=f"codel_{n}") for b in BUFFERS for n in (1, 2, 4)
    }
    first_shallow = change(results, LATENCY, plain["shallow", 1], shallow)
    first_deep = change(results, LATENCY, plain["deep", 1], deep)
    first_runtime = change(results, RUNTIME, plain["deep", 1], shallow)
    second_shallow = change(results, LATENCY, plain["shallow", 2], shallow)
    second_throughput = change(results, THROUGHPUT, plain["shallow", 2], shallow)
    whole = level(results, LATENCY, deep)
    second, fourth = (level(results, LATENCY, plain["deep", number]) for number in (2, 4))
    fourth_throughput = change(results, THROUGHPUT, plain["deep", 4], deep)
    against = "throughput against deep DropTail"
    return Checks(
        [
            cuts(first_shallow, -0.25, "500us/20ms: shallow delay", "delay_1_shallow"),
            cuts(first_deep, -0.35, "deep delay", "delay_1_deep"),
            states(first_runtime, -0.10, "runtime against shallow DropTail", "runtime_1_deep"),
            cuts(second_shallow, -0.50, "800us/1.5ms: shallow delay", "delay_2_shallow"),
            within(second_throughput, -0.05, 1, "throughput", name="throughput_2_shallow"),
            _delay(whole, 3_000 <= whole.mean <= 12_000, "deep DropTail's delay", "delay_us_drop_tail_deep"),
            _delay(second, second.mean < 700, "800us/1.5ms: deep delay", "delay_us_2_deep"),
            _delay(fourth, fourth.mean < 400, "300us/0.75ms: deep delay", "delay_us_4_deep"),
            within(fourth_throughput, -1, -0.05, against, name="throughput_4_deep"),
        ]
    )


def _q5(results: Results) -> Checks:
    checks = []
    for number in (2, 4):
        delays = [level(results, LATENCY, one) for one in _points("deep", f"codel_{number}", TRANSPORTS)]
        ordered = delays[0].mean < delays[1].mean < delays[2].mean
        words = f"level {number}: drops, ECN, DCTCP {', '.join(one.text(_microseconds) for one in delays)}"
        numbers = means(dict(zip(TRANSPORTS, delays, strict=True)), f"delay_us_{number}_")
        checks.append(Check(words, ordered, numbers=numbers))
    return Checks(checks)


JUDGES: Judges = {
    "Q1": _q1,
    "Q2": _q2,
    "Q3": _q3,
    "Q4": _q4,
    "Q5": _q5,
}
