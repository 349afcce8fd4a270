"""The cost of coalescing on shallow buffers when held packets wait outside the buffer."""

from eeon_experiments.report.alternatives import LATENCY, RUNTIME, STANDARD_EEE, lines
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Drawing, Panel, Series, paper
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE, ORANGE

figure = Figures(__file__)

_PLACES = {
    ("batch_24", "tuned"): "batch, 1 MB windows",
    ("batch_24", "default"): "batch, 64 KB windows",
    ("small_24", "tuned"): "small, 1 MB windows",
    ("small_24", "default"): "small, 64 KB windows",
}
_COPIES = {"all": "a copy at each worker", "3": "three copies"}
_DEPTHS = {
    "shallow_300kb": ("shallow buffers", paper(1.12, "TCP, 1ms1000, +12 %")),
    "deep_3mb": ("deep buffers", paper(1.06, "TCP, 1ms1000, +6 %")),
}
_CONTROLS = {"tcp": ("TCP on drop tail", BLUE), "red_ecn": ("RED with ECN", ORANGE)}
_PAPER = {"1ms1000": [paper(1.25, "1ms1000, about +25 %")], "10ms1000": []}


def drawings(runs: Runs) -> list[Drawing]:
    return [_runtime(runs), _latency(runs)]


def _runtime(runs: Runs) -> Drawing:
    panels = []
    for eee, rules in _PAPER.items():
        own = runs.where(buffer="shallow", replicas=None)
        there = [
            (scenario, window)
            for scenario, window in _PLACES
            if len(own.where(scenario=scenario, window=window, eee=eee))
        ]
        values = [
            own.ratio(RUNTIME, {"eee": "standard"}, scenario=scenario, window=window, eee=eee)
            for scenario, window in there
        ]
        series = [Series("runtime", values, BLUE)]
        panels.append(Panel(eee, [_PLACES[place] for place in there], series, "bars", [STANDARD_EEE, *rules]))
    return figure("setup-held-runtime", panels)


def _latency(runs: Runs) -> Drawing:
    panels = []
    for buffer, (title, rule) in _DEPTHS.items():
        own = runs.where(scenario="chapter7", buffer=buffer)
        awake = {"eee": "off"}
        series = lines(own, LATENCY, "replicas", _COPIES, "control", _CONTROLS, awake, eee="1ms1000_10g")
        panels.append(Panel(title, list(_COPIES.values()), series, "bars", [rule]))
    return figure("setup-held-latency", panels)
