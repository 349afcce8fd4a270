"""The savings of coalescing with three copies of the input, on 24 and on 80 nodes."""

from eeon_experiments.report.alternatives import energy_by_fetches
from eeon_experiments.report.drawing import Drawing, paper
from eeon_experiments.report.runs import Runs

_SCENARIOS = {
    "batch_24": "batch 1.2:1",
    "batch_80": "batch 4:1",
    "small_24": "small 1.2:1",
    "small_80": "small 4:1",
}
_SAVED = (paper(0.65, "35 to 75 % saved"), paper(0.25, "35 to 75 % saved"))


def drawings(runs: Runs) -> list[Drawing]:
    return [
        Drawing(
            "setup-scale-10g",
            "Energy of 10GbE ports with three copies of the input",
            "Not in the papers: the set-up behind EEE paper, figure 10 (E6)",
            "24 nodes (1.2:1) and 80 nodes (4:1), deep buffers, 1 MB windows.",
            "",
            "energy, Standard EEE = 1",
            energy_by_fetches(runs, "10g_", ("120us100", "120us100+"), _SCENARIOS, _SAVED),
        )
    ]
