"""Energy and runtime of coalescing with three copies of the input (block D)."""

from eeon_experiments.report.alternatives import FETCHES, RUNTIME, STANDARD_EEE, energy_by_fetches, lines
from eeon_experiments.report.drawing import Drawing, Panel, Series, paper
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE, ORANGE, SKY, VERMILION

_SCENARIOS = {"batch_24": "batch job", "small_24": "small jobs"}
_SETTINGS = ("12us10", "120us100", "1ms1000", "12us10+", "120us100+")
_LOADS = ("5", "10", "25", "40")
_ON_10G = {"120us100_10g": ("120us100", BLUE), "1ms1000_10g": ("1ms1000", ORANGE)}
_SAVED = (paper(0.75, "12us10, 75 %"), paper(0.6, "120us100, 60 %", ":"), paper(0.55, "1ms1000, 55 %", "--"))
_COLOURS = {
    ("batch_24", "all"): ORANGE,
    ("batch_24", "5"): VERMILION,
    ("small_24", "all"): BLUE,
    ("small_24", "5"): SKY,
}


def drawings(runs: Runs) -> list[Drawing]:
    return [_energy(runs.where(load=None)), _shallow(runs.where(load=None)), _loads(runs)]


def _energy(runs: Runs) -> Drawing:
    own = runs.where(buffer="deep", window="tuned")
    return Drawing(
        "setup-eee-energy",
        "Energy with three copies of the input",
        "Not in the papers: the set-up behind EEE paper, figures 7 and 9 (E3, E4, E7)",
        "All ports of 24 nodes, deep buffers, 1 MB windows. The paper's numbers are means over its "
        "scenarios.",
        "",
        "energy, Standard EEE = 1",
        energy_by_fetches(own, "", _SETTINGS, _SCENARIOS, _SAVED),
    )


def _shallow(runs: Runs) -> Drawing:
    settings = ("12us10", "120us100", "1ms1000", "10ms1000")
    series = []
    for (scenario, fetches), colour in _COLOURS.items():
        own = runs.where(scenario=scenario, fetches=fetches, buffer="shallow", window="tuned")
        values = [own.ratio(RUNTIME, {"eee": "standard"}, eee=eee) for eee in settings]
        series.append(Series(f"{_SCENARIOS[scenario]}, {FETCHES[fetches]}", values, colour))
    rules = [STANDARD_EEE, paper(1.25, "1ms1000, about +25 %")]
    return Drawing(
        "setup-eee-runtime",
        "Runtime on shallow buffers with three copies of the input",
        "Not in the papers: the set-up behind EEE paper, figure 7 (E3, E4)",
        "24 nodes, 1 MB windows. The scale is logarithmic.",
        "",
        "runtime, Standard EEE = 1",
        [Panel("shallow buffers", list(settings), series, "bars", rules)],
        scale="log",
    )


def _loads(runs: Runs) -> Drawing:
    panels = []
    for fetches, title in FETCHES.items():
        own = runs.where(scenario="terasort_24", fetches=fetches)
        series = lines(own, RUNTIME, "load", _LOADS, "eee", _ON_10G, {"eee": "standard"})
        rules = [STANDARD_EEE, paper(1.2, "1ms1000 at 5 % load, +20 %")]
        panels.append(Panel(title, [f"{load} %" for load in _LOADS], series, rules=rules))
    return Drawing(
        "setup-eee-loads",
        "Runtime by CPU load with three copies of the input",
        "Not in the papers: the set-up behind thesis, figure 4.11 (E9)",
        "Terasort jobs on 24 nodes, shallow buffers; coalescing on 10GbE links only.",
        "CPU load",
        "runtime, Standard EEE = 1",
        panels,
        from_zero=False,
    )
