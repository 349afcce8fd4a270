"""MQ1 to MQ3: claims of the MQ-ECN paper (Bai, Chen, Chen and Wu, NSDI 2016) on earlier marking schemes for
queues that share a port by weight."""

from eeon_experiments.claims.model import (
    Check,
    Checks,
    Judges,
    change,
    compare,
    each,
    percent,
    share,
    times,
)
from eeon_experiments.results import Results, Spread

_RUNTIME, _LATENCY = "runtime_seconds", "latency_mean_us"
OTHERS = (1, 2, 4, 8, 16)
_FEW, _MANY = "queues_1", "queues_7"
_PORT, _QUEUE, _FRACTION = "port_32", "queue_32", "queue_5"


def shares(results: Results, marking: str) -> dict[str, Spread]:
    """Returns one flow's share of the link, by the number of flows of the other service.

    The fair share of each service is a half. Raises Missing.
    """

    def at(others: int) -> dict[str, str]:
        return {"traffic": f"against_{others}", "marking": marking}

    known = [others for others in OTHERS if results.select(**at(others)).finished] or [max(OTHERS)]
    columns = (_RUNTIME, _RUNTIME)
    return {
        f"{others}:": compare(results, columns, (at(0), at(others)), lambda alone, beside: alone / beside)
        for others in known
    }


def latency(results: Results, above: tuple[str, str], below: tuple[str, str]) -> Spread:
    """Returns the mean latency at one point as a multiple of that at another. A point is (traffic, marking).
    Raises Missing."""
    points = [dict(zip(("traffic", "marking"), one, strict=True)) for one in (above, below)]
    return compare(results, (_LATENCY, _LATENCY), (points[0], points[1]), lambda a, b: a / b)


def _mq1(results: Results) -> Checks:
    port, queue = shares(results, _PORT), shares(results, _QUEUE)
    crowded = {others: one for others, one in port.items() if int(others[:-1]) >= 4}
    falling = [one.mean for one in port.values()]
    return Checks(
        [
            Check(
                f"marking by the port, share by the other service's flows: {each(port, share)}",
                all(one.mean < 0.35 for one in crowded.values()) and falling == sorted(falling, reverse=True),
            ),
            Check(
                f"marking by the queue: {each(queue, share)}",
                all(0.45 <= one.mean <= 0.55 for one in queue.values()),
            ),
        ],
        {
            f"{marking}_{others[:-1]}": one.mean
            for marking, found in (("port", port), ("queue", queue))
            for others, one in found.items()
        },
    )


def _mq2(results: Results) -> Checks:
    growth = latency(results, (_MANY, _QUEUE), (_FEW, _QUEUE))
    against = latency(results, (_MANY, _QUEUE), (_MANY, _PORT))
    return Checks(
        [
            Check(f"seven busy queues against one: {growth.text(times)}", growth.mean >= 3),
            Check(f"against a threshold on the port: {against.text(times)}", against.mean >= 3),
        ],
        {"growth": growth.mean, "against_port": against.mean},
    )


def _mq3(results: Results) -> Checks:
    saved = latency(results, (_MANY, _FRACTION), (_MANY, _QUEUE))
    lost = change(
        results, _RUNTIME, {"traffic": _FEW, "marking": _FRACTION}, {"traffic": _FEW, "marking": _QUEUE}
    )
    return Checks(
        [
            Check(
                f"seven busy queues: latency {saved.text(times)} of the whole threshold's", saved.mean <= 0.5
            ),
            Check(f"one busy queue: time {lost.text(percent)}", lost.mean >= 0.05),
        ],
        {"latency": saved.mean, "time": lost.mean},
    )


JUDGES: Judges = {
    "MQ1": _mq1,
    "MQ2": _mq2,
    "MQ3": _mq3,
}
