"""The league table: each profile's slowdown of flows relative to the threshold found by `eeon tune`."""

from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs, over
from eeon_tools.svg import GREEN

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
_BEST = Rule("1 = the threshold that was found", 1.0, "#888888", ":")


def drawings(runs: Runs) -> list[Drawing]:
    """Returns the overall table, from best to worst."""
    tuned = {"queue": [one for one in runs.values("queue") if one.startswith("tuned_")]}
    means = {}
    for queue, name in _PROFILES.items():
        found = [
            runs.ratio("slowdown_mean", tuned, traffic=traffic, queue=queue)
            for traffic in runs.values("traffic")
        ]
        mean = over(one.mean for one in found if one is not None)
        if mean is not None:
            means[name] = mean
    ranked = sorted(means, key=lambda name: means[name].mean)
    values = [means[name] for name in ranked]
    table = Panel(
        "mean over all traffics, lowest to highest",
        ranked,
        [Series("against the best found", values, GREEN)],
        kind="bars",
        rules=[_BEST],
    )
    told = ", ".join(f"{name} {means[name].mean:.2f}" for name in ranked)
    caption = (
        "Mean slowdown of all flows, relative to that under the marking threshold that `eeon tune` found for "
        f"the same traffic with another seed. Below 1 the profile is better. From best to worst: {told}."
    )
    return [Figures(__file__)("league", [table], caption=caption)]
