"""Figures 2 to 10 of the EEE paper (thesis 4.2 to 4.10): EEE and coalescing on two-rack clusters."""

from collections.abc import Sequence

from eeon_experiments.report.alternatives import (
    BUFFERS,
    EEE,
    EEE_COLOURS,
    RUNTIME,
    along,
    delay_label,
    nanoseconds,
    percent,
)
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import BASELINE, Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.runs import Runs, over
from eeon_experiments.results import Spread
from eeon_tools.svg import BLUE, INK, ORANGE, SKY

from .load_figures import load_drawings

figure = Figures(__file__)

USED = "energy_used_joules"
_SCENARIOS = {
    "batch_24": "batch 1.2:1",
    "batch_50": "batch 2.5:1",
    "batch_80": "batch 4:1",
    "small_24": "small 1.2:1",
    "small_50": "small 2.5:1",
    "small_80": "small 4:1",
}
_WINDOWS = {"default": "64 KB windows", "tuned": "1 MB windows"}
_UNIFORM = ("12us10", "120us100", "1ms1000", "10ms1000")
_PLUS = ("12us10", "120us100", "1ms1000", "12us10+", "120us100+")
_CORNERS = [(buffer, window) for buffer in BUFFERS for window in _WINDOWS]
_CORNER_COLOURS = {
    ("shallow", "default"): ORANGE,
    ("shallow", "tuned"): "#882255",
    ("deep", "default"): SKY,
    ("deep", "tuned"): BLUE,
}
_COMPUTED = {"off": "legacy", "ideal": "ideal"}
_ONE = Rule("Standard EEE = 1", 1.0, "#888888", ":")
_OF_LEGACY = (
    paper(5.0, "legacy, 5 to 8"),
    paper(8.0, "legacy, 5 to 8"),
    paper(0.5, "ideal, about 0.5", "--"),
)
_ON_AVERAGE = {
    RUNTIME: [paper(1.01, "12us10 and 120us100, below +1 %", "--")],
    USED: [paper(0.75, "12us10, 75 % of the energy"), paper(0.6, "120us100, 60 %", ":")],
}
_SAVED_BY_PLUS = (paper(0.8, "`+`, batch 4:1, 20 % saved"), paper(0.5, "`+`, small, 50 to 60 %", "--"))
_SAVED = {
    "1g": [paper(0.95, "1GbE, at most 5 % saved", "--")],
    "10g": [paper(0.65, "10GbE, 35 to 75 % saved"), paper(0.25, "10GbE, 35 to 75 % saved")],
}


def drawings(runs: Runs) -> list[Drawing]:
    plain = runs.where(stall=None, delay=None, load=None, rho=None)
    scenarios = [name for name in _SCENARIOS if name in plain.values("scenario")]
    return [
        _fixed_latency(runs.where(stall=None, load=None, rho=None)),
        *_stall(runs.where(delay=None, load=None, rho=None)),
        _legacy(plain, scenarios),
        _average(plain, scenarios),
        _all(plain, scenarios),
        _plus(plain, scenarios),
        _by_speed(plain, scenarios),
        *load_drawings(runs),
    ]


def _timed(runs: Runs, axis: str) -> list[str]:
    return sorted(runs.values(axis), key=lambda value: nanoseconds(value) or 0.0)


def _fixed_latency(runs: Runs) -> Drawing:
    delays = _timed(runs, "delay")
    series = []
    for scenario, colour in (("small_24", ORANGE), ("batch_24", BLUE)):
        base = {"scenario": scenario, "delay": delays[0] if delays else "0us"}
        values = along(runs, RUNTIME, "delay", delays, base, scenario=scenario)
        series.append(Series(scenario.split("_")[0] + " jobs", values, colour))
    panel = Panel("24 nodes", [delay_label(delay) for delay in delays], series, rules=[BASELINE])
    return figure("eee-delay", [panel])


def _stall(runs: Runs) -> list[Drawing]:
    stalls = _timed(runs, "stall")
    positions = [delay_label(stall) for stall in stalls]
    first = stalls[0] if stalls else "0us"
    energy = []
    for name, prefix, colour in (("1GbE", "1g_", SKY), ("10GbE", "10g_", BLUE), ("all ports", "", INK)):
        used, legacy = (f"energy_{prefix}{kind}_joules" for kind in ("used", "legacy"))
        energy.append(
            Series(name, [percent(runs.quotient(used, legacy, stall=stall)) for stall in stalls], colour)
        )
    runtime = along(runs, RUNTIME, "stall", stalls, {"stall": first})
    return [
        figure("eee-stall-energy", [Panel("small jobs, 24 nodes", positions, energy)]),
        figure(
            "eee-stall-runtime",
            [Panel("small jobs, 24 nodes", positions, [Series("runtime", runtime, BLUE)], rules=[_ONE])],
        ),
    ]


def _standard(scenario: str, buffer: str, window: str) -> dict[str, str]:
    return {"scenario": scenario, "buffer": buffer, "window": window, "eee": "standard"}


def _relative(runs: Runs, metric: str, eee: str, scenario: str, buffer: str, window: str) -> Spread | None:
    """Returns a number of one setting as a multiple of Standard EEE's at the same point.

    `off` and `ideal` are computed from the run with Standard EEE: as the energy of its links if they had
    never slept, or had slept and woken in no time. Time and packets are the same.
    """
    base = _standard(scenario, buffer, window)
    if eee in _COMPUTED:
        return runs.quotient(metric.replace("used", _COMPUTED[eee]), metric, **base)
    return runs.ratio(metric, base, **{**base, "eee": eee})


def _settings(
    runs: Runs, metric: str, settings: Sequence[str], scenarios: Sequence[str], buffer: str, window: str
) -> list[Series]:
    return [
        Series(
            EEE[eee],
            [_relative(runs, metric, eee, scenario, buffer, window) for scenario in scenarios],
            EEE_COLOURS[eee],
        )
        for eee in settings
    ]


def _legacy(runs: Runs, scenarios: Sequence[str]) -> Drawing:
    series = _settings(runs, USED, ("off", "standard", "ideal"), scenarios, "deep", "tuned")
    return figure(
        "eee-legacy", [Panel("", [_SCENARIOS[name] for name in scenarios], series, "bars", _OF_LEGACY)]
    )


def _average(runs: Runs, scenarios: Sequence[str]) -> Drawing:
    panels = []
    for metric, word in ((RUNTIME, "runtime"), (USED, "energy")):
        series = []
        for buffer, window in _CORNERS:
            values = []
            for eee in _UNIFORM:
                found = [_relative(runs, metric, eee, name, buffer, window) for name in scenarios]
                values.append(over(value.mean for value in found if value is not None))
            name = f"{BUFFERS[buffer]}, {_WINDOWS[window]}"
            series.append(Series(name, values, _CORNER_COLOURS[buffer, window]))
        panels.append(Panel(word, list(_UNIFORM), series, "bars", [_ONE, *_ON_AVERAGE[metric]]))
    return figure("eee-average", panels)


def _all(runs: Runs, scenarios: Sequence[str]) -> Drawing:
    positions = [_SCENARIOS[name] for name in scenarios]
    panels = []
    for buffer, window in _CORNERS:
        for metric, word in ((RUNTIME, "runtime"), (USED, "energy")):
            series = _settings(runs, metric, _UNIFORM, scenarios, buffer, window)
            title = f"{word}, {BUFFERS[buffer]}, {_WINDOWS[window]}"
            panels.append(Panel(title, positions, series, "bars", [_ONE], y_label="Standard EEE = 1"))
    return figure("eee-all", panels)


def _plus(runs: Runs, scenarios: Sequence[str]) -> Drawing:
    series = _settings(runs, USED, (*_PLUS, "ideal"), scenarios, "deep", "tuned")
    return figure(
        "eee-plus",
        [Panel("", [_SCENARIOS[name] for name in scenarios], series, "bars", [_ONE, *_SAVED_BY_PLUS])],
    )


def _by_speed(runs: Runs, scenarios: Sequence[str]) -> Drawing:
    positions = [_SCENARIOS[name] for name in scenarios]
    panels = [
        Panel(
            title,
            positions,
            _settings(runs, f"energy_{speed}_used_joules", (*_PLUS, "ideal"), scenarios, "deep", "tuned"),
            "bars",
            [_ONE, *_SAVED[speed]],
        )
        for speed, title in (("1g", "1GbE"), ("10g", "10GbE"))
    ]
    return figure("eee-by-speed", panels)
