"""The findings that matter, as sentences made from the rows: each number with its spread over seeds.

A finding whose points were not run is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from eeon_experiments.claims.bands import mean_change
from eeon_experiments.claims.model import Missing, Spread, by_seed, change, compare, percent, share
from eeon_experiments.report.family import Family
from eeon_experiments.results import Results

_RUNTIME, _LATENCY = "runtime_seconds", "latency_mean_us"
_BASE = {"buffer": "shallow", "transport": "newreno", "queue": "drop_tail"}


def headlines(families: Sequence[Family]) -> list[str]:
    """At most one sentence or two for each, in order of what a switch vendor would act on."""
    known = {family.name: Results(list(family.rows)) for family in families}
    makers: tuple[Callable[[Mapping[str, Results]], str], ...] = (
        _threshold,
        _who_is_dropped,
        _fetches,
        _ect,
        _energy,
    )
    return list(_made(makers, known))


def _made(
    makers: Sequence[Callable[[Mapping[str, Results]], str]], known: Mapping[str, Results]
) -> Iterator[str]:
    for maker in makers:
        try:
            yield maker(known)
        except (Missing, KeyError):
            continue


def _seeds(one: Spread) -> str:
    return "" if one.seeds > 1 else " (one seed)"


def _threshold(known: Mapping[str, Results]) -> str:
    rows = known["threshold"]
    frames = (1, 5, 20, 65)
    base = {**_BASE, "eee": None}
    points = [
        {"buffer": "shallow", "transport": kind, "queue": f"mark_{count}", "eee": None}
        for kind in ("ecn", "dctcp")
        for count in frames
    ]
    times = [by_seed(rows, _RUNTIME, one) for one in points]
    seeds = sorted(set.intersection(*(set(one) for one in times)))
    apart = Spread.of(
        [max(one[seed] for one in times) / min(one[seed] for one in times) - 1 for seed in seeds]
    )
    gain = mean_change(rows, _RUNTIME, points, base)
    return (
        f"A marking threshold hardly needs tuning: from {frames[0]} to {frames[-1]} frames, with ECN and "
        f"DCTCP on shallow buffers, runtimes of a seed are {apart.text(share)} apart, and their mean is "
        f"{gain.text(percent)} against DropTail{_seeds(gain)} (`threshold`). Ship it, at any setting below a "
        "third of the buffer, in place of RED."
    )


def _who_is_dropped(known: Mapping[str, Results]) -> str:
    rows = known["marking"]
    at = {"buffer": "shallow", "transport": "ecn", "queue": "red_100us"}
    base = _BASE
    harm, spared = (
        change(rows, _RUNTIME, {**at, "protect": protect}, base) for protect in ("ect", "ack_syn")
    )
    return (
        "RED that spares only ECT packets drops SYNs and ACKs, which are never ECT with classic ECN, and a "
        f"job waits for their time-outs: runtime {harm.text(percent)} at a target of 100 us. With ACKs and "
        f"SYNs spared it is {spared.text(percent)}: retransmissions are not ECT, either (`marking`)."
    )


def _fetches(known: Mapping[str, Results]) -> str:
    few, all_ = known["setup"], known["marking"]
    at = {"buffer": "shallow", "transport": "ecn", "queue": "red_100us", "protect": "ect"}
    with_all = change(all_, _RUNTIME, at, _BASE)
    five = {"fetches": "5", "factor": None}
    with_five = change(few, _RUNTIME, {**at, **five}, {**_BASE, **five})
    return (
        "How large that harm is hangs on how many connections open at once: with five fetches at a time, "
        f"Hadoop's own number, {with_five.text(percent)}{_seeds(with_five)} where all at once cost "
        f"{with_all.text(percent)} and the paper says +35 % (`setup`)."
    )


def _ect(known: Mapping[str, Results]) -> str:
    rows = known["threshold"]
    base = {**_BASE, "eee": None}
    found = {
        kind: change(
            rows, _RUNTIME, {"buffer": "shallow", "transport": kind, "queue": "red_100us", "eee": None}, base
        )
        for kind in ("dctcp_data_only", "dctcp", "dctcp_linux")
    }
    return (
        "What DCTCP sends as ECT decides whether RED hurts it: runtime "
        f"{found['dctcp_data_only'].text(percent)} where only new data is ECT, "
        f"{found['dctcp'].text(percent)} with all but SYNs (ns-2), {found['dctcp_linux'].text(percent)} "
        f"with SYNs as well, as Linux does{_seeds(found['dctcp'])} (`threshold`)."
    )


def _energy(known: Mapping[str, Results]) -> str:
    rows = known["eee_ecn"]
    used, ideal = "energy_10g_used_joules", "energy_10g_ideal_joules"
    above = {}
    for eee in ("standard", "120us100"):
        at = {"buffer": "deep", "control": "tcp", "eee": eee}
        above[eee] = compare(rows, (used, ideal), (at, at), lambda a, b: a / b - 1)
    latency = change(
        rows,
        _LATENCY,
        {"buffer": "deep", "control": "tcp", "eee": "120us100"},
        {"buffer": "deep", "control": "tcp", "eee": "off"},
    )
    return (
        f"Coalescing with 120us100 takes 10GbE links from {above['standard'].text(percent)} above the least "
        f"possible energy to {above['120us100'].text(percent)}; mean latency changes by "
        f"{latency.text(percent)} on deep buffers (`eee_ecn`)."
    )
