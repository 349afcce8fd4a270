"""Shares of a link and latency, by the scope of the marking threshold."""

from eeon_experiments.report.alternatives import along, lines, percent
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Row
from eeon_tools.svg import BLUE, GREEN, ORANGE

_MARKINGS = {
    "port_32": ("32 KB, the port", ORANGE),
    "queue_32": ("32 KB, each queue", BLUE),
    "queue_5": ("4.6 KB, each queue", GREEN),
}
_HALF = Rule("its weight", 50.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    """Returns shares by the number of flows of the other service, then latency over busy queues."""
    others = [one for one in runs.values("traffic") if one.startswith("against_") and one != "against_0"]
    queues = [one for one in runs.values("traffic") if one.startswith("queues_")]

    alone = {"traffic": "against_0"}
    share_of = Panel(
        "one flow beside another service",
        [one.removeprefix("against_") for one in others],
        [
            Series(
                name,
                list(map(percent, along(runs, _rate, "traffic", others, alone, marking=marking))),
                colour,
            )
            for marking, (name, colour) in _MARKINGS.items()
        ],
        rules=[_HALF],
    )
    waits = Panel(
        "all packets, mean",
        [one.removeprefix("queues_") for one in queues],
        lines(runs, "latency_mean_us", "traffic", queues, "marking", _MARKINGS),
    )
    return [
        Drawing(
            "mq-ecn-share",
            "Two services of equal weight",
            "After the MQ-ECN paper, section 2",
            "The first service has one flow. If packets are marked by the bytes that wait at the port, it "
            "backs off because of the other service's queue.",
            "flows of the second service",
            "share of the link, %",
            [share_of],
        ),
        Drawing(
            "mq-ecn-latency",
            "Latency by the number of busy queues",
            "After the MQ-ECN paper, section 2",
            "Two flows in each queue. With a threshold per queue, more busy queues hold more packets in "
            "total.",
            "busy queues",
            "latency, us",
            [waits],
        ),
    ]


def _rate(run: Row) -> float | None:
    seconds = run.number("runtime_seconds")
    return None if not seconds else 1 / seconds
