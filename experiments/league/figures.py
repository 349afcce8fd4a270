"""The league table: each profile's slowdown of flows relative to the threshold found by `eeon tune`."""

from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs, over
from eeon_experiments.results import Spread
from eeon_tools.svg import BLUE, GREEN, ORANGE

figure = Figures(__file__)

_PROFILES = {
    "drop_tail": "drop tail",
    "c_rtt_7": "C x RTT / 7",
    "dctcp": "DCTCP, 65",
    "dcqcn": "DCQCN",
    "hpcc": "HPCC",
    "sonic": "SONiC",
    "cisco": "Cisco",
    "cumulus": "Cumulus",
}
_TRAFFICS = ("websearch", "storage", "shuffle")
_COLOURS = (BLUE, ORANGE)
_BEST = Rule("1 = the threshold that was found", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    """Returns the overall table, then a figure for each kind of traffic."""
    traffics = runs.values("traffic")
    means = {
        name: over(one.mean for traffic in traffics if (one := _against_best(runs, traffic, queue)))
        for queue, name in _PROFILES.items()
        if queue in runs.values("queue")
    }
    ranked = sorted((name for name in means if means[name] is not None), key=lambda name: _mean(means[name]))
    table = Panel(
        "mean over all traffics, lowest to highest",
        ranked,
        [Series("against the best found", [means[name] for name in ranked], GREEN)],
        kind="bars",
        rules=[_BEST],
    )
    told = ", ".join(f"{name} {_mean(means[name]):.2f}" for name in ranked)
    return [
        figure(
            "league",
            [table],
            caption="Mean slowdown of all flows, relative to that under the marking threshold that `eeon "
            "tune` found for the same traffic with another seed. Below 1 the profile is better. From best to "
            f"worst: {told}.",
        ),
        *(_of(runs, kind) for kind in _TRAFFICS if _of_kind(runs, kind)),
    ]


def _of(runs: Runs, kind: str) -> Drawing:
    queues = [queue for queue in _PROFILES if queue in runs.values("queue")]
    panels = []
    for delay in dict.fromkeys(traffic.split("_")[2] for traffic in _of_kind(runs, kind)):
        series = [
            Series(
                _load(kind, traffic.split("_")[1]),
                [_against_best(runs, traffic, queue) for queue in queues],
                colour,
            )
            for traffic, colour in zip(
                [one for one in _of_kind(runs, kind) if one.endswith(f"_{delay}")], _COLOURS, strict=False
            )
        ]
        names = [_PROFILES[queue] for queue in queues]
        panels.append(Panel(f"host delay {delay}", names, series, kind="bars", rules=[_BEST]))
    return figure(f"league-{kind}", panels)


def _of_kind(runs: Runs, kind: str) -> list[str]:
    return [one for one in runs.values("traffic") if one.startswith(kind) and len(runs.where(traffic=one))]


def _against_best(runs: Runs, traffic: str, queue: str) -> Spread | None:
    tuned = [one for one in runs.values("queue") if one.startswith("tuned_")]
    return runs.ratio("slowdown_mean", {"queue": tuned}, traffic=traffic, queue=queue)


def _load(kind: str, text: str) -> str:
    return f"{text} jobs at once" if kind == "shuffle" else f"load {text} %"


def _mean(one: Spread | None) -> float:
    return one.mean if one is not None else float("inf")
