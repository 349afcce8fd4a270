"""The shape of a hot spot's queue, and the first finished flow's share of the link."""

from eeon_experiments.report.alternatives import CEE_QUEUES, CEE_TCPS, PFC, lines
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, paper
from eeon_experiments.report.runs import Metric, Runs
from eeon_experiments.results import Row

from .claims import first_share

figure = Figures(__file__)

_SHAPE: tuple[tuple[Metric, str, str, str], ...] = (
    ("queue_falls", "falls of the queue below half of its maximum", "times", "{:,.0f}"),
    ("tail_dropped_data", "dropped packets of data", "packets", "{:,.0f}"),
)


def drawings(runs: Runs) -> list[Drawing]:
    return [_queue(runs), _shares(runs)]


def _there(runs: Runs, full: str, quick: str) -> str:
    """Returns the full form of a case if it was run, otherwise the quick form."""
    return full if len(runs.where(case=full)) else quick


def _queue(runs: Runs) -> Drawing:
    case = _there(runs, "episode", "short_episode")
    own = runs.where(case=case, queue="drop_tail", unknown=None)
    panels = []
    for metric, title, label, unit in _SHAPE:
        series = lines(own, metric, "tcp", CEE_TCPS, "pfc", PFC)
        panels.append(Panel(title, list(CEE_TCPS.values()), series, "bars", y_label=label, unit=unit))
    return figure("cee-queue-shape", panels)


def _shares(runs: Runs) -> Drawing:
    case = _there(runs, "second", "tenth")
    own = runs.where(case=case, tcp="newreno", unknown=None)
    queues = [one for one in CEE_QUEUES if len(own.where(queue=one))]

    def percent(run: Row) -> float | None:
        share = first_share(run, case)
        return None if share is None else 100 * share

    series = lines(own, percent, "queue", queues, "pfc", PFC)
    rules = [paper(40, "QCN/66, one flow has more than 40 %")]
    return figure(
        "cee-queue-shares",
        [Panel("five flows", [CEE_QUEUES[queue] for queue in queues], series, "bars", rules)],
    )
