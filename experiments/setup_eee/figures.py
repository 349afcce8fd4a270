"""Energy and runtime of coalescing with three copies of the input (block D)."""

from eeon_experiments.report.alternatives import FETCHES, RUNTIME, STANDARD_EEE, energy_by_fetches, lines
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Series, paper
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE, ORANGE, SKY, VERMILION

figure = Figures(__file__)

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
    return figure("setup-eee-energy", energy_by_fetches(own, "", _SETTINGS, _SCENARIOS, _SAVED))


def _shallow(runs: Runs) -> Drawing:
    settings = ("12us10", "120us100", "1ms1000", "10ms1000")
    series = []
    for (scenario, fetches), colour in _COLOURS.items():
        own = runs.where(scenario=scenario, fetches=fetches, buffer="shallow", window="tuned")
        values = [own.ratio(RUNTIME, {"eee": "standard"}, eee=eee) for eee in settings]
        series.append(Series(f"{_SCENARIOS[scenario]}, {FETCHES[fetches]}", values, colour))
    rules = [STANDARD_EEE, paper(1.25, "1ms1000, about +25 %")]
    return figure("setup-eee-runtime", [Panel("shallow buffers", list(settings), series, "bars", rules)])


def _loads(runs: Runs) -> Drawing:
    panels = []
    for fetches, title in FETCHES.items():
        own = runs.where(scenario="terasort_24", fetches=fetches)
        series = lines(own, RUNTIME, "load", _LOADS, "eee", _ON_10G, {"eee": "standard"})
        rules = [STANDARD_EEE, paper(1.2, "1ms1000 at 5 % load, +20 %")]
        panels.append(Panel(title, [f"{load} %" for load in _LOADS], series, rules=rules))
    return figure("setup-eee-loads", panels)
