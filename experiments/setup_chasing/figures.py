"""Flow chasing relative to TCP alone with other numbers of reducers, maps and fetches."""

from eeon_experiments.report.alternatives import by_flow_chasing
from eeon_experiments.report.drawing import Drawing
from eeon_experiments.report.runs import Runs

_SET_UPS = {
    "maps_first": "maps before reducers",
    "reducers_216": "216 reducers",
    "fetches_20": "twenty fetches",
    "splits_64MB": "splits of 64 MB",
}


def drawings(runs: Runs) -> list[Drawing]:
    return [
        Drawing(
            "setup-chasing-job",
            "Flow chasing against TCP alone in other set-ups",
            "Not in the paper: the set-ups behind its figures 9 to 11 (F1 to F3)",
            "The same job, compared seed by seed: 1 is TCP without a scheduler in the same set-up.",
            "",
            "TCP alone = 1",
            by_flow_chasing(runs, "set_up", _SET_UPS),
            unit="{:.3f}",
        )
    ]
