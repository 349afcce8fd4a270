"""Flow chasing against TCP alone with other reducers, maps and fetches."""

from __future__ import annotations

from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE, GREEN, ORANGE

_SET_UPS = {
    "maps_first": "maps before reducers",
    "reducers_216": "216 reducers",
    "fetches_20": "twenty fetches",
    "splits_64MB": "splits of 64 MB",
}
_COLUMNS = (
    ("reducer_shuffle_mean_seconds", "a reducer's shuffle, mean", BLUE, 0.9376, "-6.24 %"),
    ("shuffle_seconds", "the job's shuffle", GREEN, 0.952, "-4.8 %"),
    ("runtime_seconds", "the job's runtime", ORANGE, 0.98, "-2.0 %"),
)


def drawings(runs: Runs) -> list[Drawing]:
    """Every figure of the experiment."""
    there = [one for one in _SET_UPS if one in runs.values("set_up")]
    panels = []
    for column, title, colour, said, words in _COLUMNS:
        values = [
            runs.ratio(column, {"set_up": one, "scheduler": "none"}, set_up=one, scheduler="fca")
            for one in there
        ]
        rules = [Rule("1 = TCP alone", 1.0, "#888888", ":"), paper(said, f"{title}, {words}")]
        panels.append(
            Panel(title, [_SET_UPS[one] for one in there], [Series(title, values, colour)], "bars", rules)
        )
    return [
        Drawing(
            "setup-chasing-job",
            "Flow chasing against TCP alone in other set-ups",
            "Not in the paper: the set-ups behind its figures 9 to 11 (F1 to F3)",
            "The same job, seed by seed: 1 is TCP without a scheduler in the same set-up.",
            "",
            "TCP alone = 1",
            panels,
            unit="{:.3f}",
        )
    ]
