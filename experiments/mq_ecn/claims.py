"""The judge of claim MQ1 of the MQ-ECN paper (Bai, Chen, Chen and Wu, NSDI 2016): shares of a port."""

from eeon_experiments.claims.model import Check, Checks, Judges, compare, each, share
from eeon_experiments.results import Results, Spread

_RUNTIME = "runtime_seconds"
OTHERS = (1, 2, 4, 8, 16)


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


def _mq1(results: Results) -> Checks:
    port, queue = shares(results, "port_32"), shares(results, "queue_32")
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


JUDGES: Judges = {"MQ1": _mq1}
