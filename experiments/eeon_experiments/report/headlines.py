"""The main findings as sentences with numbers from the rows, each with its spread over seeds.

A finding whose points were not run is left out.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from eeon_experiments.claims.bands import mean_change
from eeon_experiments.claims.model import Missing, by_seed, change, compare, percent, share
from eeon_experiments.report.family import Family
from eeon_experiments.results import Results, Spread

_RUNTIME, _LATENCY = "runtime_seconds", "latency_mean_us"
_BASE = {"buffer": "shallow", "transport": "newreno", "queue": "drop_tail"}


def headlines(families: Sequence[Family]) -> list[str]:
    """Returns a sentence or two for each finding, ordered by relevance to a switch vendor."""
    known = {family.name: Results(list(family.rows)) for family in families}
    found = []
    for finding in (_threshold, _round_trip_time, _sizes, _who_is_dropped, _ect, _energy):
        with suppress(Missing, KeyError):
            found.append(finding(known))
    return found


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
        "In a shuffle with fifty flows per host and hosts without delay, a marking threshold hardly needs "
        f"tuning. From {frames[0]} to {frames[-1]} frames, with ECN and DCTCP on shallow buffers, the "
        f"runtimes of a seed differ by {apart.text(share)}, and their mean is {gain.text(percent)} against "
        f"DropTail{_seeds(gain)} (`threshold`). Any threshold below a third of the buffer is better there "
        "than RED as switches ship it."
    )


def _round_trip_time(known: Mapping[str, Results]) -> str:
    rows = known["rtt"]

    def cost(frames: int, rate: str, flows: int, delay: str) -> str:
        at = {"rate": rate, "flows": f"{flows}_at_{rate}", "delay": delay}
        low, high = {**at, "queue": f"mark_{frames}"}, {**at, "queue": "mark_200"}
        return change(rows, _RUNTIME, low, high).text(percent)

    far = [cost(1, "10g", flows, "400us") for flows in (2, 8, 50)]
    higher = [cost(frames, "10g", 2, "400us") for frames in (20, 65)]
    return (
        "It needs tuning when hosts add delay. At 10 Gbit/s and a round-trip time of 400 us, for which the "
        "rule C x RTT / 7 gives 47 frames, a threshold of 1 frame instead of 200 changes the time of two "
        f"DCTCP flows by {far[0]}, of eight by {far[1]} and of fifty by {far[2]}. For two flows, 20 frames "
        f"change it by {higher[0]} and 65 by {higher[1]}. Without host delay, 1 frame changes it by "
        f"{cost(1, '10g', 2, '0us')} at 10 Gbit/s and by {cost(1, '1g', 2, '0us')} at 1 Gbit/s (`rtt`)."
    )


def _sizes(known: Mapping[str, Results]) -> str:
    rows = known["workloads"]

    def change_of(column: str, delay: str) -> str:
        at = {"sizes": "websearch", "load": "l50", "host_delay": delay}
        at |= {"rate": "10g", "nic": "fair", "transport": "dctcp"}
        low, high = {**at, "queue": "mark_1"}, {**at, "queue": "mark_65"}
        return change(rows, column, low, high).text(percent)

    small, large = "slowdown_100kb_mean", "slowdown_10mb_mean"
    return (
        "Small flows need a low threshold; when hosts add delay, large flows need a high one. Under web "
        "search at 50 % load of 10 Gbit/s and with fair queueing in the hosts, one frame instead of 65 "
        "changes the mean slowdown of flows of 10 to 100 kB by "
        f"{change_of(small, '0us')} and of flows of 1 to 10 MB by {change_of(large, '0us')} "
        f"without host delay, and by {change_of(small, '50us')} and {change_of(large, '50us')} "
        "with 50 us (`workloads`)."
    )


def _who_is_dropped(known: Mapping[str, Results]) -> str:
    few, all_ = known["setup"], known["marking"]
    at = {"buffer": "shallow", "transport": "ecn", "queue": "red_100us"}
    harm, spared = (
        change(all_, _RUNTIME, {**at, "protect": protect}, _BASE) for protect in ("ect", "ack_syn")
    )
    five = {"fetches": "5", "factor": None}
    with_five = change(few, _RUNTIME, {**at, "protect": "ect", **five}, {**_BASE, **five})
    return (
        "RED that protects only ECT packets drops SYNs and ACKs, which are never ECT with classic ECN, and "
        "the job waits for their time-outs. At a target of 100 us the runtime changes by "
        f"{with_five.text(percent)}{_seeds(with_five)} with five fetches at a time, Hadoop's default "
        f"(`setup`; the paper says +35 %), and by {harm.text(percent)} with all fetches at once. With ACKs "
        f"and SYNs protected it changes by {spared.text(percent)}: RED still drops retransmissions, which "
        "are not ECT either (`marking`)."
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
        "The choice of packets that DCTCP sends as ECT decides whether RED hurts it. The runtime changes by "
        f"{found['dctcp_data_only'].text(percent)} if only new data is ECT, by "
        f"{found['dctcp'].text(percent)} if everything but SYNs is (ns-2), and by "
        f"{found['dctcp_linux'].text(percent)} if SYNs are as well (Linux){_seeds(found['dctcp'])} "
        "(`threshold`)."
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
        f"On deep buffers, 10GbE links use {above['standard'].text(percent)} more than the least possible "
        f"energy with Standard EEE, and {above['120us100'].text(percent)} with 120us100 coalescing, which "
        f"changes the mean latency by {latency.text(percent)} (`eee_ecn`)."
    )
