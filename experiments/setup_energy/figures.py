"""The effect of the number of copies of the input on energy (block D)."""

from eeon_experiments.report.alternatives import EEE, EEE_COLOURS
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.runs import Runs

figure = Figures(__file__)

_COPIES = {"1": "one", "3": "three (Hadoop)", "all": "one a worker"}
_SHUFFLE = ("standard", "120us100", "1ms1000")
_JOBS = ("standard", "12us10_all", "120us100_all", "1ms1000_all", "120us100+")
_ONE = Rule("1 = ideal", 1.0, "#888888", ":")
_OF_IDEAL = {
    "chapter7": paper(1.8, "Standard EEE, thesis chapter 7, nearly 1.8"),
    "batch_24": paper(2.0, "Standard EEE, EEE paper, about 2", "--"),
    "small_24": paper(2.0, "Standard EEE, EEE paper, about 2", "--"),
}


def drawings(runs: Runs) -> list[Drawing]:
    own = runs.where(fetches="all", control="tcp")
    panels = [
        _panel(own, "chapter7", "10GbE, one shuffle, deep buffers", "deep", "10g_", _SHUFFLE),
        _panel(own, "batch_24", "all ports, batch job of 24 nodes", "deep_10mb", "", _JOBS),
        _panel(own, "small_24", "all ports, small jobs of 24 nodes", "deep_10mb", "", _JOBS),
    ]
    return [figure("setup-energy-copies", panels)]


def _panel(
    runs: Runs, scenario: str, title: str, buffer: str, speed: str, settings: tuple[str, ...]
) -> Panel:
    copies = [one for one in _COPIES if one in runs.values("replicas")]
    used, ideal = (f"energy_{speed}{kind}_joules" for kind in ("used", "ideal"))
    series = []
    for eee in settings:
        name = eee.removesuffix("_all")
        values = [
            runs.quotient(used, ideal, scenario=scenario, buffer=buffer, replicas=one, eee=eee)
            for one in copies
        ]
        series.append(Series(EEE[name], values, EEE_COLOURS[name]))
    rules = [_ONE, _OF_IDEAL[scenario]]
    return Panel(title, [_COPIES[one] for one in copies], series, "bars", rules)
