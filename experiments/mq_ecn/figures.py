"""Shares of a link and latency, by the scope of the marking threshold."""

from eeon_experiments.report.alternatives import along, lines, percent
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Row
from eeon_tools.svg import BLUE, GREEN, ORANGE

figure = Figures(__file__)

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
        figure("mq-ecn-share", [share_of]),
        figure("mq-ecn-latency", [waits]),
    ]


def _rate(run: Row) -> float | None:
    seconds = run.number("runtime_seconds")
    return None if not seconds else 1 / seconds
