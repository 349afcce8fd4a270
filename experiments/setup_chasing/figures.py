"""Flow chasing relative to TCP alone with other numbers of reducers, maps and fetches."""

from eeon_experiments.report.alternatives import by_flow_chasing
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs

figure = Figures(__file__)

_SET_UPS = {
    "maps_first": "maps before reducers",
    "reducers_216": "216 reducers",
    "fetches_20": "twenty fetches",
    "splits_64MB": "splits of 64 MB",
}


def drawings(runs: Runs) -> list[Drawing]:
    return [figure("setup-chasing-job", by_flow_chasing(runs, "set_up", _SET_UPS))]
