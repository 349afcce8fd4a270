"""Queries with each TCP and queue, with and without PFC, and the settings that the notes leave open."""

from eeon_experiments.report.alternatives import CEE_QUEUES, CEE_TCPS, PFC
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Spread
from eeon_tools.svg import BLUE, ORANGE

figure = Figures(__file__)

_UNKNOWNS: dict[str | None, str] = {
    None: "as assumed",
    "load_60": "60 % background",
    "answer_in_all": "20 KB in all",
    "rto_slop": "time-outs of 20 ms",
    "long_background": "answers of 1 MB",
}
_QUERY = "query_mean_us"
_US_TO_MS = 1e-3


def drawings(runs: Runs) -> list[Drawing]:
    return [_queries(runs), _unknowns(runs)]


def _series(runs: Runs, queues: list[str], **point: str | None) -> list[Series]:
    found = []
    for pfc, (title, colour) in PFC.items():
        spreads = [runs.spread(_QUERY, queue=queue, pfc=pfc, **point) for queue in queues]
        values = [None if one is None else one.scaled(_US_TO_MS) for one in spreads]
        found.append(Series(title, values, colour))
    return found


def _there(runs: Runs) -> list[str]:
    return [queue for queue in CEE_QUEUES if queue in runs.values("queue")]


def _queries(runs: Runs) -> Drawing:
    queues = _there(runs)
    names = [CEE_QUEUES[queue] for queue in queues]
    return figure(
        "cee-commercial-queries",
        [
            Panel(title, names, _series(runs, queues, tcp=tcp, unknown=None), "bars")
            for tcp, title in CEE_TCPS.items()
        ],
    )


def _unknowns(runs: Runs) -> Drawing:
    queues = _there(runs)
    names = [CEE_QUEUES[queue] for queue in queues]
    one = Rule("1 = without PFC", 1.0, "#888888", ":")
    colours = (BLUE, ORANGE, "#009e73", "#cc79a7", "#56b4e9")

    def by_pfc(queue: str, tcp: str, unknown: str | None) -> Spread | None:
        return runs.ratio(_QUERY, {"pfc": "off"}, queue=queue, pfc="headroom", tcp=tcp, unknown=unknown)

    def panel(tcp: str, title: str) -> Panel:
        series = [
            Series(words, [by_pfc(queue, tcp, unknown) for queue in queues], colour)
            for (unknown, words), colour in zip(_UNKNOWNS.items(), colours, strict=True)
        ]
        return Panel(title, names, series, "bars", [one])

    return figure("cee-commercial-unknowns", [panel(tcp, title) for tcp, title in CEE_TCPS.items()])
