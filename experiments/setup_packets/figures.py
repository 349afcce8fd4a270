"""RED and CoDel on buffers with a limit in packets."""

from eeon_experiments.report.alternatives import (
    BUFFERS,
    PROTECTION_COLOURS,
    PROTECTIONS,
    RUNTIME,
    TRANSPORTS,
)
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.drops import all_dropped
from eeon_experiments.report.runs import Runs

figure = Figures(__file__)

_QUEUES = {"red_100us": "RED 100 µs", "codel_4": "CoDel"}


def drawings(runs: Runs) -> list[Drawing]:
    by_flow, by_packet = (runs.where(paths=value) for value in (None, "by_packet"))
    return [
        _runtime(by_flow, "setup-packets-runtime"),
        _drops(by_flow),
        _runtime(by_packet, "setup-packets-paths"),
    ]


def _points(runs: Runs, buffer: str) -> dict[str, dict[str, str]]:
    return {
        f"{title}, {TRANSPORTS[transport]}": {"queue": queue, "transport": transport}
        for queue, title in _QUEUES.items()
        for transport in ("ecn", "dctcp")
        if len(runs.where(buffer=buffer, queue=queue, transport=transport))
    }


def _runtime(runs: Runs, name: str) -> Drawing:
    one = Rule("1 = DropTail, same depth", 1.0, "#888888", ":")
    panels = []
    for buffer, depth in BUFFERS.items():
        base: dict[str, str | None] = {"transport": "newreno", "queue": "drop_tail", "protect": None}
        points = _points(runs, buffer)
        series = [
            Series(
                protection,
                [runs.ratio(RUNTIME, base, buffer=buffer, protect=protect, **at) for at in points.values()],
                PROTECTION_COLOURS[protect],
            )
            for protect, protection in PROTECTIONS.items()
        ]
        rules = [one, *([paper(1.35, "ECT only, at most +35 %")] if buffer == "shallow" else [])]
        panels.append(Panel(depth, list(points), series, "bars", rules))
    return figure(name, panels)


def _drops(runs: Runs) -> Drawing:
    panels = []
    for buffer, title in BUFFERS.items():
        points = _points(runs, buffer)
        series = [
            Series(
                name,
                [runs.spread(all_dropped, buffer=buffer, protect=protect, **at) for at in points.values()],
                PROTECTION_COLOURS[protect],
            )
            for protect, name in PROTECTIONS.items()
        ]
        panels.append(Panel(title, list(points), series, "bars"))
    return figure("setup-packets-drops", panels)
