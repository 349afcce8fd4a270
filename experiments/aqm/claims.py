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
    Point,
    change,
    claim,
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


CLAIMS = (
    claim(
        "Q1",
        "RED with a target delay of 100 us costs 30 % of throughput; 1 ms cuts the latency of deep buffers "
        "by 85 %, with a runtime still about 5 % better than shallow DropTail's.",
        "T 5.3.1, figure 5.2",
        "throughput -60 % to -15 %; latency -92.5 % to -70 %; runtime -10 % to 0 %",
        _q1,
    ),
    claim(
        "Q2",
        "Fixed RED thresholds of 70/70, 25/51 and 25/75 packets cost 10 % of runtime; 50/150 keeps the "
        "runtime and cuts latency by up to 90 %.",
        "T 5.3.1, table 5.3, figure 5.3",
        "deep buffers, mean of drops and ECN: +5 % to +20 % each; 50/150 within 5 %, latency -95 % to -80 %",
        _q2,
    ),
    claim(
        "Q3",
        "RED on the average queue length behaves like DropTail; RED on the instantaneous length works.",
        "T 5.3.1",
        "averaged: runtime within 5 % and latency within 20 % of DropTail's; instantaneous: latency 20 % "
        "lower or more",
        _q3,
    ),
    claim(
        "Q4",
        "CoDel 500us/20ms: delay about -25 % on shallow, -35 % on deep buffers with about 10 % of "
        "execution time gained. 800us/1.5ms: shallow delay halved without loss of throughput; deep below "
        "700 us from about 6 ms. 300us/0.75ms: below 400 us, but throughput is hurt.",
        "T 5.3.2, figure 5.4",
        "with drops: -50 % to -12.5 %; -67.5 % to -17.5 %; runtime -20 % to -5 %; -75 % to -25 % and "
        "throughput -5 % or better; DropTail 3 to 12 ms; below 700 us; below 400 us and throughput 5 % "
        "lower or more",
        _q4,
    ),
    claim(
        "Q5",
        "Delay with CoDel is lowest with drops, then with ECN, and highest with DCTCP.",
        "T 5.3.2",
        "this order at levels 2 and 4 on deep buffers",
        _q5,
    ),
)
