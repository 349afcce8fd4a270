"""Slowdown of flows by size, and its main findings as sentences with numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from eeon_experiments.report.drawing import Drawing, Panel, Rule, Series
from eeon_experiments.report.runs import Runs
from eeon_tools.svg import BLUE, GREEN, INK, ORANGE, SKY

_SIZES = {"websearch": "web search", "fb_hadoop": "Hadoop"}
_LOADS = {"l30": ("load 30 %", BLUE), "l50": ("load 50 %", GREEN), "l70": ("load 70 %", ORANGE)}
_THRESHOLDS = {
    "mark_1": "1",
    "mark_7": "7",
    "mark_20": "20",
    "mark_65": "65",
    "drop_tail": "drop tail",
}
_AQMS = {
    "mark_65": "threshold, 65",
    "red_ect": "RED, ECT spared",
    "red_ack_syn": "RED, ACK+SYN spared",
    "codel": "CoDel",
    "drop_tail": "drop tail",
}
_COLOURS = {"mark_1": BLUE, "mark_7": SKY, "mark_20": GREEN, "mark_65": ORANGE, "drop_tail": INK}
_NICS = {"fifo": ("one FIFO", ORANGE), "fair": ("flows take turns", BLUE)}
_TRANSPORTS = {"dctcp": ("DCTCP", ORANGE), "cubic_ecn": ("CUBIC with ECN", BLUE)}
_SMALL, _LARGE = ("slowdown_100kb_mean", "10 to 100 kB"), ("slowdown_10mb_mean", "1 to 10 MB")
_MEANS = {f"{what}, mean": column for column, what in (_SMALL, _LARGE)}
_CLASSES = {
    "10kb": "to 10 kB",
    "100kb": "to 100 kB",
    "1mb": "to 1 MB",
    "10mb": "to 10 MB",
    "above_10mb": "above",
}
_CORNERS: dict[str, dict[str, str]] = {
    "web search": {},
    "load 90 %": {"load": "l90"},
    "data mining": {"sizes": "datamining"},
    "storage": {"sizes": "storage"},
    "1 Gbps": {"rate": "1g"},
    "100 Gbps": {"rate": "100g"},
}
_USUAL = {"sizes": "websearch", "load": "l50", "rate": "10g", "transport": "dctcp"}
_FAIR = {**_USUAL, "nic": "fair"}
_WHERE = "16 hosts at 10 Gbps, all to all, web search at 50 % load"
_ONE = Rule("1 = alone", 1.0, "#888888", ":")
Line = tuple[str, str, Sequence[Mapping[str, str]]]
"""Name and colour of a line, and the point at each of its positions, without the host delay."""


def drawings(runs: Runs) -> list[Drawing]:
    """Returns slowdown over size, then over the threshold, then over the other axes."""
    found = [
        _by_size(runs),
        *(_by_threshold(runs, sizes, title) for sizes, title in _SIZES.items()),
        _by_nic(runs),
        _by_aqm(runs),
        _by_delay(runs),
        _corners(runs),
    ]
    return [one for one in found if any(panel.measured() for panel in one.panels)]


def _drawing(key: str, title: str, caption: str, axis: str, panels: list[Panel]) -> Drawing:
    return Drawing(
        f"workloads-{key}",
        title,
        "Not in the papers",
        f"A slowdown of 1 is the time of a flow that is alone. {caption}",
        axis,
        "slowdown",
        [panel for panel in panels if panel.measured()],
        scale="log",
        share_y=False,
        from_zero=False,
    )


def _delays(runs: Runs) -> list[str]:
    """Returns the two delays at which all other axes vary."""
    return _known(runs, "host_delay", ("0us", "50us"))


def _known(runs: Runs, axis: str, wanted: Iterable[str]) -> list[str]:
    return [one for one in wanted if one in runs.values(axis)]


def _panels(
    runs: Runs,
    positions: Sequence[str],
    lines: Sequence[Line],
    columns: Mapping[str, str] = _MEANS,
    kind: str = "lines",
) -> list[Panel]:
    """Returns a panel for each delay and each of the columns, which map to their titles."""
    return [
        Panel(
            f"{what}, host delay {delay}",
            positions,
            [
                Series(name, [runs.spread(column, **point, host_delay=delay) for point in points], colour)
                for name, colour, points in lines
            ],
            kind=kind,
            rules=[_ONE],
        )
        for delay in _delays(runs)
        for what, column in columns.items()
    ]


def _lines(
    runs: Runs, axis: str, named: Mapping[str, tuple[str, str]], at: Mapping[str, str], queues: Sequence[str]
) -> list[Line]:
    """Returns a line over the queues for each value of an axis that was run."""
    return [
        (name, colour, [{**at, axis: value, "queue": queue} for queue in queues])
        for value, (name, colour) in named.items()
        if value in runs.values(axis)
    ]


def _by_size(runs: Runs) -> Drawing:
    queues = _known(runs, "queue", ("mark_1", "mark_20", "mark_65", "drop_tail"))
    panels = [
        Panel(
            f"{words}, host delay {delay}",
            list(_CLASSES.values()),
            [
                Series(
                    _named(queue),
                    [
                        runs.spread(f"slowdown_{size}_{statistic}", **_FAIR, queue=queue, host_delay=delay)
                        for size in _CLASSES
                    ],
                    _COLOURS[queue],
                )
                for queue in queues
            ],
            rules=[_ONE],
        )
        for delay in _delays(runs)
        for statistic, words in (("p50", "median"), ("p99", "99th percentile"))
    ]
    return _drawing(
        "by-size",
        "Slowdown of web search flows over their size",
        f"{_WHERE}; fair queueing in the hosts.",
        "size of the flow",
        panels,
    )


def _by_threshold(runs: Runs, sizes: str, title: str) -> Drawing:
    queues = _known(runs, "queue", _THRESHOLDS)
    at = {**_USUAL, "sizes": sizes, "nic": "fifo"}
    columns = {
        f"{_SMALL[1]}, mean": _SMALL[0],
        f"{_SMALL[1]}, p99": "slowdown_100kb_p99",
        f"{_LARGE[1]}, mean": _LARGE[0],
    }
    lines = _lines(runs, "load", _LOADS, at, queues)
    return _drawing(
        sizes,
        f"Slowdown of flows of {title} under DCTCP",
        " ".join(["16 hosts at 10 Gbps, all to all, one FIFO in each.", *_told(runs, at, title)]),
        "threshold, frames of 1514 bytes",
        _panels(runs, [_THRESHOLDS[queue] for queue in queues], lines, columns),
    )


def _told(runs: Runs, at: dict[str, str], title: str) -> Iterator[str]:
    """Yields the effect of the threshold on small and large flows, and for web search that of the load."""
    for column, what in (_SMALL, _LARGE):
        parts = []
        for delay in _delays(runs):
            ends = [
                _text(runs, column, queue, at, host_delay=delay)
                for queue in ("mark_1", "mark_65", "drop_tail")
            ]
            parts.append(f"{ends[0]}, {ends[1]} and {ends[2]} with a host delay of {delay}")
        yield (
            f"Mean slowdown of {title} flows of {what} at 50 % load with a threshold of one frame, of 65 "
            f"frames, and with drop tail: {'; '.join(parts)}."
        )
    loads = _known(runs, "load", _LOADS)
    if at["sizes"] == "websearch" and len(loads) > 1:
        means = [
            f"{_text(runs, _SMALL[0], 'mark_65', at, load=load, host_delay='0us')} at {load[1:]} %"
            for load in loads
        ]
        yield (
            "With a threshold of 65 frames and hosts without delay, the mean slowdown of flows of "
            f"{_SMALL[1]} is {', '.join(means)} load. A large flow that its own link limits is never "
            "marked, so its window grows; the lower load has more such flows."
        )


def _by_nic(runs: Runs) -> Drawing:
    queues = _known(runs, "queue", _THRESHOLDS)
    lines = _lines(runs, "nic", _NICS, _USUAL, queues)
    parts = []
    for queue in ("mark_1", "mark_65", "drop_tail"):
        one, other = (
            _text(runs, _SMALL[0], queue, {**_USUAL, "nic": nic}, host_delay="0us")
            for nic in ("fifo", "fair")
        )
        parts.append(f"from {one} to {other} with {_named(queue)}")
    return _drawing(
        "nic",
        "Waiting time of flows in their own hosts",
        f"{_WHERE}. Much of a small flow's wait is behind large flows of its own host, which no switch "
        "marks. With fair queueing in the hosts (`nic: {queue: fair}`: flows take turns, as with Linux' "
        f"fq) and hosts without delay, the mean slowdown of flows of {_SMALL[1]} falls {'; '.join(parts)}.",
        "threshold, frames of 1514 bytes",
        _panels(runs, [_THRESHOLDS[queue] for queue in queues], lines),
    )


def _by_aqm(runs: Runs) -> Drawing:
    queues = _known(runs, "queue", _AQMS)
    lines = _lines(runs, "transport", _TRANSPORTS, _FAIR, queues)
    classic = {**_FAIR, "transport": "cubic_ecn"}
    ect, spared = (
        _text(runs, _SMALL[0], queue, classic, host_delay="50us") for queue in ("red_ect", "red_ack_syn")
    )
    return _drawing(
        "aqm",
        "Other AQMs, and a TCP with classic ECN",
        f"{_WHERE}; fair queueing in the hosts. RED and CoDel have a target of 20 us. DCTCP sends all "
        "packets as ECN-capable, CUBIC all but SYNs and ACKs. With a host delay of 50us, the mean slowdown "
        f"of CUBIC's flows of {_SMALL[1]} is {ect} if RED protects only ECN-capable packets, and {spared} "
        "if it protects ACKs and SYNs as well.",
        "queue",
        _panels(runs, [_AQMS[queue] for queue in queues], lines, kind="bars"),
    )


def _by_delay(runs: Runs) -> Drawing:
    delays = _known(runs, "host_delay", ("0us", "10us", "50us", "100us"))
    panels = [
        Panel(
            what,
            delays,
            [
                Series(
                    _named(queue),
                    [runs.spread(column, **_FAIR, queue=queue, host_delay=delay) for delay in delays],
                    _COLOURS[queue],
                )
                for queue in _known(runs, "queue", _THRESHOLDS)
            ],
            rules=[_ONE],
        )
        for what, column in _MEANS.items()
    ]
    return _drawing(
        "delay",
        "The threshold by host delay",
        " ".join([f"{_WHERE}; fair queueing in the hosts.", *_told_by_delay(runs)]),
        "host delay, way out and in together",
        panels,
    )


def _told_by_delay(runs: Runs) -> Iterator[str]:
    """Yields the numbers at the ends of the axis, and at the delay whose C x RTT / 7 is between them."""

    def means(column: str, delay: str, queues: tuple[str, ...]) -> str:
        return ", ".join(_text(runs, column, queue, _FAIR, host_delay=delay) for queue in queues)

    if "100us" not in runs.values("host_delay"):
        return
    ends, all_ = ("mark_1", "mark_65"), ("mark_1", "mark_7", "mark_20", "mark_65")
    yield (
        f"Without host delay, one frame is best for flows of {_SMALL[1]} "
        f"({means(_SMALL[0], '0us', ends)} with 1 and 65 frames), and costs flows of {_LARGE[1]} nothing "
        f"({means(_LARGE[0], '0us', ends)})."
    )
    yield (
        "With 50us, for which the rule C x RTT / 7 gives 13 frames, one frame no longer helps small flows "
        "and slows large ones. With 1, 7, 20 and 65 frames, small flows have "
        f"{means(_SMALL[0], '50us', all_)} and large ones {means(_LARGE[0], '50us', all_)}. With 100us the "
        f"effect is larger: large flows have {means(_LARGE[0], '100us', all_)}."
    )


def _corners(runs: Runs) -> Drawing:
    lines = [
        (
            _named(queue),
            _COLOURS[queue],
            [{**_FAIR, **corner, "queue": queue} for corner in _CORNERS.values()],
        )
        for queue in _known(runs, "queue", ("mark_1", "mark_65", "drop_tail"))
    ]
    at_100g = [
        _text(runs, _LARGE[0], queue, {**_FAIR, "rate": "100g"}, host_delay=delay)
        for delay in ("50us", "0us")
        for queue in ("mark_1", "mark_65", "drop_tail")
    ]
    return _drawing(
        "corners",
        "Other loads, sizes and rates",
        "Web search at 50 % load on 10 Gbps, and variants that change one of these. The hosts have fair "
        f"queueing. At 100 Gbps and a host delay of 50us, one frame costs flows of {_LARGE[1]} most: their "
        f"mean slowdown is {at_100g[0]} with one frame, {at_100g[1]} with 65 and {at_100g[2]} with drop "
        f"tail. Without delay it is {at_100g[3]}, {at_100g[4]} and {at_100g[5]}.",
        "what differs",
        _panels(runs, list(_CORNERS), lines, kind="bars"),
    )


def _named(queue: str) -> str:
    frames = _THRESHOLDS[queue]
    return "drop tail" if queue == "drop_tail" else "one frame" if frames == "1" else f"{frames} frames"


def _text(runs: Runs, column: str, queue: str, at: Mapping[str, str], **where: str) -> str:
    """Returns a mean over seeds as text, with minimum and maximum if there are several seeds."""
    one = runs.spread(column, **{**at, **where}, queue=queue)
    if one is None:
        return "unknown"
    return f"{one.mean:.1f} ({one.low:.1f} to {one.high:.1f})" if one.seeds > 1 else f"{one.mean:.1f}"
