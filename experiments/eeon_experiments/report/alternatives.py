"""Parts that the experiments' figures share: names and colours of alternatives, and series along an axis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from eeon_tools.svg import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILION, YELLOW

from eeon_experiments.report.drawing import Series, paper
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


def energy_by_scenario(
    runs: Runs, speed: str, settings: Sequence[str], scenarios: Iterable[str]
) -> list[Series]:
    """Returns a series over scenarios for each EEE setting and for ideal links: the energy relative to
    Standard EEE. `speed`: `10g_` or `1g_` for links of one speed, empty for all."""
    used, ideal = (f"energy_{speed}{kind}_joules" for kind in ("used", "ideal"))
    bases = [{"scenario": one, "eee": "standard"} for one in scenarios]
    found = {eee: [runs.ratio(used, base, **{**base, "eee": eee}) for base in bases] for eee in settings}
    found["ideal"] = [runs.quotient(ideal, used, **base) for base in bases]
    return [Series(EEE[eee], values, EEE_COLOURS[eee]) for eee, values in found.items()]


def percent(share: Spread | None) -> Spread | None:
    """Returns a share in percent."""
    return None if share is None else share.scaled(100)
