"""Flow chasing compared with TCP alone and other schedulers, and the settings that the paper leaves open."""

from collections.abc import Sequence

from eeon_experiments.report.alternatives import FLOW_CHASING, TCP_ALONE, along, by_flow_chasing
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Series
from eeon_experiments.report.runs import Chosen, Runs

figure = Figures(__file__)

_SCHEDULERS = {
    "fca": "flow chasing",
    "fca_remaining": "by what is left",
    "fca_myopic": "myopic",
    "fca_preempt": "preempt (ours)",
    "fair": "fair",
    "sebf": "SEBF",
    "scf": "SCF",
    "dclas": "D-CLAS",
}
_UNKNOWNS = {
    "deep_buffers": "buffers 3 MB",
    "newreno": "NewReno",
    "reducers_216": "216 reducers",
    "fetches_20": "20 fetches at a time",
    "maps_first": "maps first",
}
_OF_CONTROL = {
    "control_30ms": "control 30 ms",
    "capacity_90": "90 % given out",
    "capacity_99": "99 % given out",
}
_TCP_ALONE: dict[str, Chosen] = {"scheduler": "none"}
_TENTH = "20GB"


def drawings(runs: Runs) -> list[Drawing]:
    jobs = runs.where(case="terasort")
    return [_sizes(jobs), _schedulers(jobs), _unknowns(jobs)]


def _sizes(runs: Runs) -> Drawing:
    sizes = {size: size for size in ("200GB", "20GB", "5GB")}
    return figure("flow-chasing-job", by_flow_chasing(runs, "size", sizes, "flow chasing", unknown=None))


def _schedulers(runs: Runs) -> Drawing:
    schedulers = [one for one in _SCHEDULERS if one in runs.values("scheduler")]
    own = runs.where(size=_TENTH, unknown=None)
    series = [
        Series(title, along(own, column, "scheduler", schedulers, _TCP_ALONE), colour)
        for column, title, colour in FLOW_CHASING
    ]
    names: Sequence[str] = [_SCHEDULERS[one] for one in schedulers]
    return figure("flow-chasing-schedulers", [Panel("20 GB", names, series, "bars", [TCP_ALONE])])


def _unknowns(runs: Runs) -> Drawing:
    panels = []
    for what, unknowns, base in (
        ("job, TCP and buffers", _UNKNOWNS, _TCP_ALONE),
        ("the scheduler's own", _OF_CONTROL, {**_TCP_ALONE, "unknown": None}),
    ):
        present = [one for one in unknowns if one in runs.values("unknown")]
        series = [
            Series(
                title,
                along(runs, column, "unknown", present, base, size=_TENTH, scheduler="fca"),
                colour,
            )
            for column, title, colour in FLOW_CHASING
        ]
        panels.append(Panel(what, [unknowns[one] for one in present], series, "bars", [TCP_ALONE]))
    return figure("flow-chasing-unknowns", panels)
