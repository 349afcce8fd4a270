"""Figures 7.1 to 7.7 of the thesis: coalescing with and without RED and ECN."""

from collections.abc import Mapping, Sequence

from eeon_experiments.report.alternatives import (
    BUFFERS,
    EEE,
    LATENCY,
    RUNTIME,
    THROUGHPUT,
    along,
    lines,
)
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import BASELINE, Drawing, Panel, Rule, Series, paper
from eeon_experiments.report.runs import Chosen, Metric, Runs, over
from eeon_experiments.results import Row
from eeon_tools.svg import BLUE, GREEN, INK, ORANGE, PURPLE, SKY

figure = Figures(__file__)

ENERGY = "energy_10g_used_joules"
_BUFFERS = {"shallow": (BUFFERS["shallow"], SKY), "deep": (BUFFERS["deep"], BLUE)}
_CONTROLS = {"tcp": "TCP on DropTail", "red_ecn": "RED and ECN"}
_SHALLOW = {"buffer": "shallow", "control": "tcp", "eee": "off"}
_DEEP = {**_SHALLOW, "buffer": "deep"}
_ADDED_LATENCY = (paper(1.12, "shallow buffers, +12 %"), paper(1.06, "deep buffers, +6 %", "--"))
_LEGACY = paper(5.0, "legacy, above 5")
_ASLEEP = (paper(1.8, "Standard EEE, nearly 1.8"), paper(1.1, "120us100, about 1.1", "--"))
_SLOWER = (paper(1.25, "500us500, about +25 %"), paper(1.5, "1ms1000, above +50 %", "--"))


def ideal(run: Row) -> float | None:
    """Returns the energy of 10GbE transmitters that sleep and wake in no time, in joules."""
    return run.number("energy_10g_ideal_joules")


def drawings(runs: Runs) -> list[Drawing]:
    settings = [eee for eee in EEE if eee in runs.values("eee")]
    return [
        _depth(runs),
        _latency(runs, settings),
        _runtime(runs, settings),
        _energy(runs, settings),
        _control(runs, settings),
        _four(runs, settings),
        _together(runs, settings),
        _every_link(runs),
    ]


def _by_buffer(
    runs: Runs, metric: Metric, settings: Sequence[str], control: str, base: Mapping[str, Chosen]
) -> list[Series]:
    return lines(runs, metric, "eee", settings, "buffer", _BUFFERS, base, control=control)


def _names(settings: Sequence[str]) -> list[str]:
    return [EEE.get(eee, eee).replace(" (no EEE)", "") for eee in settings]


def _depth(runs: Runs) -> Drawing:
    values = along(runs, LATENCY, "buffer", list(BUFFERS), None, control="tcp", eee="off")
    scaled = [None if value is None else value.scaled(1e-3) for value in values]
    panel = Panel(
        "TCP on DropTail, no EEE", list(BUFFERS.values()), [Series("mean latency", scaled, BLUE)], "bars"
    )
    return figure("eee-ecn-depth", [panel])


def _latency(runs: Runs, settings: Sequence[str]) -> Drawing:
    series = _by_buffer(runs, LATENCY, settings, "tcp", {"eee": "off"})
    return figure(
        "eee-ecn-latency",
        [Panel("TCP on DropTail", _names(settings), series, "bars", [BASELINE, *_ADDED_LATENCY])],
    )


def _runtime(runs: Runs, settings: Sequence[str]) -> Drawing:
    panels = [
        Panel(word, _names(settings), _by_buffer(runs, metric, settings, "tcp", _SHALLOW), "bars", [BASELINE])
        for metric, word in ((RUNTIME, "runtime"), (THROUGHPUT, "throughput"))
    ]
    return figure("eee-ecn-runtime", panels)


def _against_ideal(runs: Runs, settings: Sequence[str], control: str) -> list[Series]:
    found = []
    for buffer, (title, colour) in _BUFFERS.items():
        floor = runs.by_seed(ideal, buffer=buffer, control=control, eee="off")
        values = []
        for eee in settings:
            used = runs.by_seed(ENERGY, buffer=buffer, control=control, eee=eee)
            values.append(over(used[seed] / floor[seed] for seed in used if floor.get(seed)))
        found.append(Series(title, values, colour))
    return found


def _energy(runs: Runs, settings: Sequence[str]) -> Drawing:
    asleep = [eee for eee in settings if eee != "off"]
    rule = Rule("ideal = 1", 1.0, GREEN, ":")
    panels = [
        Panel("all", _names(settings), _against_ideal(runs, settings, "tcp"), "bars", [rule, _LEGACY]),
        Panel(
            "without legacy", _names(asleep), _against_ideal(runs, asleep, "tcp"), "bars", [rule, *_ASLEEP]
        ),
    ]
    return figure("eee-ecn-energy", panels)


def _control(runs: Runs, settings: Sequence[str]) -> Drawing:
    controls = {"tcp": (_CONTROLS["tcp"], ORANGE), "red_ecn": (_CONTROLS["red_ecn"], BLUE)}
    series = lines(runs, LATENCY, "eee", settings, "control", controls, _DEEP, buffer="deep")
    return figure("eee-ecn-control", [Panel("deep buffers", _names(settings), series, "bars", [BASELINE])])


def _four(runs: Runs, settings: Sequence[str]) -> Drawing:
    names = _names(settings)
    asleep = [eee for eee in settings if eee != "off"]
    panels = [
        Panel("runtime", names, _by_buffer(runs, RUNTIME, settings, "red_ecn", _SHALLOW), "bars",
              [BASELINE, *_SLOWER],
              y_label="shallow DropTail, no EEE = 1"),
        Panel("latency", names, _by_buffer(runs, LATENCY, settings, "red_ecn", _DEEP), "bars", [BASELINE],
              y_label="deep DropTail, no EEE = 1"),
        Panel("throughput", names, _by_buffer(runs, THROUGHPUT, settings, "red_ecn", _SHALLOW), "bars",
              [BASELINE], y_label="shallow DropTail, no EEE = 1"),
        Panel("energy of 10GbE links", _names(asleep), _against_ideal(runs, asleep, "red_ecn"), "bars",
              [BASELINE, _ASLEEP[1]], y_label="ideal = 1"),
    ]  # fmt: skip
    return figure("eee-ecn-four", panels)


def _together(runs: Runs, settings: Sequence[str]) -> Drawing:
    asleep = [eee for eee in settings if eee != "off"]
    panels = []
    for control, control_name in _CONTROLS.items():
        for index, (buffer, title) in enumerate(BUFFERS.items()):
            energy = _against_ideal(runs, asleep, control)[index].values
            point = {"buffer": buffer, "control": control}
            series = [
                Series("runtime", along(runs, RUNTIME, "eee", asleep, _SHALLOW, **point), INK),
                Series("throughput", along(runs, THROUGHPUT, "eee", asleep, _SHALLOW, **point), SKY),
                Series("latency", along(runs, LATENCY, "eee", asleep, _DEEP, **point), PURPLE),
                Series("energy of 10GbE links", energy, GREEN),
            ]
            panels.append(Panel(f"{control_name}, {title}", _names(asleep), series, "bars", [BASELINE]))
    return figure("eee-ecn-together", panels)


def _every_link(runs: Runs) -> Drawing:
    whole = [eee for eee in runs.values("eee") if eee.endswith("_all")]
    settings = [eee for one in whole for eee in (one.removesuffix("_all"), one)]
    names = [f"{eee.removesuffix('_all')}{', every link' * eee.endswith('_all')}" for eee in settings]
    panels = [
        Panel(word, names, _by_buffer(runs, metric, settings, "red_ecn", base), "bars", [BASELINE])
        for metric, word, base in (
            (RUNTIME, "runtime, shallow DropTail = 1", _SHALLOW),
            (LATENCY, "latency, RED and ECN without EEE = 1", {"eee": "off"}),
        )
    ]
    return figure("eee-ecn-every-link", panels)
