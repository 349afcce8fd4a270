"""The savings of coalescing with three copies of the input, on 24 and on 80 nodes."""

from eeon_experiments.report.alternatives import energy_by_fetches
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, paper
from eeon_experiments.report.runs import Runs

figure = Figures(__file__)

_SCENARIOS = {
    "batch_24": "batch 1.2:1",
    "batch_80": "batch 4:1",
    "small_24": "small 1.2:1",
    "small_80": "small 4:1",
}
_SAVED = (paper(0.65, "35 to 75 % saved"), paper(0.25, "35 to 75 % saved"))


def drawings(runs: Runs) -> list[Drawing]:
    return [
        figure(
            "setup-scale-10g", energy_by_fetches(runs, "10g_", ("120us100", "120us100+"), _SCENARIOS, _SAVED)
        )
    ]
