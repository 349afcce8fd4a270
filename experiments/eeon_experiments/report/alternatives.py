"""Parts that the experiments' figures share: names and colours of alternatives, and series along an axis."""

import re
from collections.abc import Iterable, Mapping, Sequence

from eeon_tools.svg import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILION, YELLOW

from eeon_experiments.report.drawing import Panel, Rule, Series, paper
from eeon_experiments.report.runs import Chosen, Metric, Runs
from eeon_experiments.results import Spread

RUNTIME = "runtime_seconds"
THROUGHPUT = "throughput_per_node_bps"
LATENCY = "latency_mean_us"

BUFFERS = {"shallow": "shallow buffers", "deep": "deep buffers"}
TRANSPORTS = {"newreno": "TCP", "ecn": "TCP-ECN", "dctcp": "DCTCP"}
TRANSPORT_COLOURS = {"newreno": GREY, "ecn": BLUE, "dctcp": ORANGE}
WITH_ECN = {name: (TRANSPORTS[name], TRANSPORT_COLOURS[name]) for name in ("ecn", "dctcp")}
PROTECTIONS = {"ect": "default (ECT only)", "ece": "ECE-bit", "ack_syn": "ACK+SYN"}
PROTECTION_COLOURS = {"ect": VERMILION, "ece": ORANGE, "ack_syn": BLUE}
THRESHOLD_COLOUR = GREEN
EEE = {
    "off": "legacy (no EEE)",
    "standard": "Standard EEE",
    "12us10": "12us10",
    "120us100": "120us100",
    "500us500": "500us500",
    "1ms1000": "1ms1000",
    "10ms1000": "10ms1000",
    "12us10+": "12us10+",
    "120us100+": "120us100+",
    "ideal": "ideal",
}
EEE_COLOURS = {
    "off": INK,
    "standard": GREY,
    "12us10": SKY,
    "120us100": BLUE,
    "500us500": YELLOW,
    "1ms1000": ORANGE,
    "10ms1000": VERMILION,
    "12us10+": PURPLE,
    "120us100+": "#882255",
    "ideal": GREEN,
}

CODEL = {
    "codel_1": "500\N{NO-BREAK SPACE}µs/20\N{NO-BREAK SPACE}ms",
    "codel_2": "800\N{NO-BREAK SPACE}µs/1.5\N{NO-BREAK SPACE}ms",
    "codel_3": "400\N{NO-BREAK SPACE}µs/1\N{NO-BREAK SPACE}ms",
    "codel_4": "300\N{NO-BREAK SPACE}µs/0.75\N{NO-BREAK SPACE}ms",
}
"""Target and interval of each of the papers' levels."""
FETCHES = {"all": "all fetches", "5": "five fetches"}
CEE_QUEUES = {"drop_tail": "drop tail", "red": "RED", "qcn_20": "QCN/20", "qcn_66": "QCN/66"}
CEE_TCPS = {"newreno": "NewReno", "cubic": "CUBIC", "vegas": "Vegas"}
CEE_BENCHMARKS = {"is": "IS", "ft": "FT", "cg": "CG", "mg": "MG", "bt": "BT"}
PFC = {"off": ("without PFC", ORANGE), "headroom": ("with PFC", BLUE)}
FLOW_CHASING = (
    ("reducer_shuffle_mean_seconds", "a reducer's shuffle, mean", BLUE),
    ("shuffle_seconds", "the job's shuffle", GREEN),
    ("runtime_seconds", "the job's runtime", ORANGE),
)
"""Column, title and colour of the times that flow chasing should shorten."""
FLOW_CHASING_PAPER = {
    "reducer_shuffle_mean_seconds": paper(0.9376, "a reducer's shuffle, -6.24 %"),
    "shuffle_seconds": paper(0.952, "the shuffle, -4.8 %", ":"),
    "runtime_seconds": paper(0.98, "the job, -2.0 %", "--"),
}

TCP_ALONE = Rule("1 = TCP alone", 1.0, "#888888", ":")
STANDARD_EEE = Rule("1 = Standard EEE", 1.0, "#888888", ":")
_WITHOUT_PFC = Rule("1 = drop tail without PFC", 1.0, "#888888", ":")

_DELAY = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s)$")
_NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def nanoseconds(value: str) -> float | None:
    """Returns the time at the end of an axis value (`red_500us`, `0us`) in nanoseconds, or None."""
    found = _DELAY.search(value)
    return float(found[1]) * _NANOSECONDS[found[2]] if found else None


def by_delay(values: Sequence[str], prefix: str, loose_first: bool = True) -> list[str]:
    """Returns the values such as `red_500us` with one prefix, longest time first, as on the papers' axes."""
    timed = {
        value: nanoseconds(value) for value in values if re.fullmatch(prefix + r"\d[\d.]*[num]?s", value)
    }
    return sorted(timed, key=lambda value: timed[value] or 0.0, reverse=loose_first)


def delay_label(value: str) -> str:
    """Returns the label on an axis of a setting such as `red_500us`: `500 µs`."""
    found = _DELAY.search(value)
    # The number stays beside its unit if the label is wrapped.
    return f"{found[1]}\N{NO-BREAK SPACE}{'µs' if found[2] == 'us' else found[2]}" if found else value


def along(
    runs: Runs,
    metric: Metric,
    axis: str,
    values: Iterable[str],
    base: Mapping[str, Chosen] | None = None,
    **point: Chosen,
) -> list[Spread | None]:
    """Returns the number at each value of an axis; with `base`, as a multiple of the number with its values
    of axes."""
    if base is None:
        return [runs.spread(metric, **point, **{axis: value}) for value in values]
    return [runs.ratio(metric, base, **point, **{axis: value}) for value in values]


def lines(
    runs: Runs,
    metric: Metric,
    axis: str,
    values: Iterable[str],
    by: str,
    alternatives: Mapping[str, tuple[str, str]],
    base: Mapping[str, Chosen] | None = None,
    **point: Chosen,
) -> list[Series]:
    """Returns a series along an axis for each alternative on the axis `by`, with its name and colour."""
    return [
        Series(name, along(runs, metric, axis, values, base, **{by: alternative}, **point), colour)
        for alternative, (name, colour) in alternatives.items()
    ]


def energy_by_fetches(
    runs: Runs, speed: str, settings: Sequence[str], scenarios: Mapping[str, str], saved: Sequence[Rule]
) -> list[Panel]:
    """Returns a panel for each number of fetches: over scenarios, the energy of each EEE setting and of ideal
    links relative to Standard EEE. `speed`: `10g_` or `1g_` for links of one speed, empty for all."""
    used, ideal = (f"energy_{speed}{kind}_joules" for kind in ("used", "ideal"))
    bases = [{"scenario": one, "eee": "standard"} for one in scenarios]
    panels = []
    for fetches, title in FETCHES.items():
        own = runs.where(fetches=fetches)
        found = {eee: [own.ratio(used, base, **{**base, "eee": eee}) for base in bases] for eee in settings}
        found["ideal"] = [own.quotient(ideal, used, **base) for base in bases]
        series = [Series(EEE[eee], values, EEE_COLOURS[eee]) for eee, values in found.items()]
        panels.append(Panel(title, list(scenarios.values()), series, "bars", [STANDARD_EEE, *saved]))
    return panels


def by_pfc(
    runs: Runs, column: str, axis: str, titles: Mapping[str, str], queues: Mapping[str, str]
) -> list[Panel]:
    """Returns a panel for each value of an axis: each queue with and without PFC, relative to drop tail
    without."""
    panels = []
    for value in (one for one in titles if one in runs.values(axis)):
        own = runs.where(**{axis: value})
        series = lines(own, column, "queue", queues, "pfc", PFC, {"queue": "drop_tail", "pfc": "off"})
        panels.append(Panel(titles[value], list(queues.values()), series, "bars", [_WITHOUT_PFC]))
    return panels


def by_flow_chasing(
    runs: Runs, axis: str, names: Mapping[str, str], name: str = "", **point: Chosen
) -> list[Panel]:
    """Returns a panel for each time that flow chasing should shorten, relative to TCP alone, along an axis.
    `name` of the series: by default that of the time."""
    there = [one for one in names if one in runs.values(axis)]
    panels = []
    for column, title, colour in FLOW_CHASING:
        values = along(runs, column, axis, there, {"scheduler": "none"}, scheduler="fca", **point)
        rules = [TCP_ALONE, FLOW_CHASING_PAPER[column]]
        series = [Series(name or title, values, colour)]
        panels.append(Panel(title, [names[one] for one in there], series, "bars", rules))
    return panels


def percent(share: Spread | None) -> Spread | None:
    """Returns a share in percent."""
    return None if share is None else share.scaled(100)
