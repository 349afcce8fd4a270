"""The page's data about one run, as plain data: ports with their series, flows, and packets with details.

Its size is bounded: a port's depth is the peak of each of a number of groups of changes, so no peak is lost;
of marks, drops and holds a limited number is kept in detail, evenly over the run, and the page shows how many
there were."""

from __future__ import annotations

import shlex
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from eeon_control.topology import Port, PortRole
from eeon_control.units import Packets

from eeon_tools.explain.values import plural
from eeon_tools.hops.recording import Recording, Visit, acts_from
from eeon_tools.replay.result import RunResult, RunTotals

if TYPE_CHECKING:
    from eeon_engine.hops import Hop

PERIODS = 2400
"""Number of periods for each port, shared by all runs of a page. Marks, drops and sleep are counted by
period."""
STEPS = 120_000
"""Maximum number of steps in the depths of all ports of all runs of a page."""
PORTS = 12
"""Maximum number of ports of a run whose series are kept: those with the deepest queues."""
DETAILS = 12_000
"""Maximum number of marks, drops and holds of all runs of a page that are kept in detail."""
FLOWS = 60
"""Flows of a run in the table: those with the most marks and drops, then those with the most bytes."""
_AHEAD = 4
_ALONE = "no packet waits before it"
_PS_PER_NS = 1000
_PS_PER_US = 10**6
_FRAME_BYTES = 1514
_MARK, _EARLY, _TAIL, _OTHER = "marked", "dropped early", "no room", "dropped"
_HOLD, _PAUSE = "held", "paused"


@dataclass
class _PortSeries:
    port: Port
    periods: int
    times: array[int] = field(default_factory=lambda: array("Q"))
    depths: array[int] = field(default_factory=lambda: array("Q"))
    marks: Counter[int] = field(default_factory=Counter)
    drops: Counter[int] = field(default_factory=Counter)
    asleep: Counter[int] = field(default_factory=Counter)
    deepest: tuple[int, int] = (0, 0)
    busy_ps: int = 0
    asleep_ps: int = 0
    wakes: int = 0
    longest_hold_ps: int = 0
    longest_pause_ps: int = 0
    queue: dict[int, str] = field(default_factory=dict)

    def change(self, depth: int, at_ps: int) -> None:
        self.times.append(at_ps)
        self.depths.append(depth)
        if depth > self.deepest[0]:
            self.deepest = (depth, at_ps)


@dataclass
class _Flow:
    packets: int = 0
    bytes: int = 0
    marks: int = 0
    drops: int = 0
    longest_hold_ps: int = 0
    longest_pause_ps: int = 0


_Key = tuple[int, str]
"""A packet by its number in the order of the hosts, and a node."""


def run_model(recording: Recording, result: RunResult | RunTotals, runs: int = 1) -> dict[str, object]:
    """Returns the model of one of `runs` runs of a page."""
    periods = max(200, PERIODS // runs)
    active_ps = _active(recording)
    period_ps = max(1, -(-active_ps // periods))
    series = {place: _PortSeries(port, periods) for place, port in recording.ports.items()}
    flows, details = _visits(recording, series, period_ps)
    kept, counts = _choose(details, DETAILS // runs)
    ahead, slowed = _walk(recording, series, period_ps, {(one.packet, one.node) for one in kept})
    steps = _share(series.values(), STEPS // runs)
    places = {place: at for at, place in enumerate(series)}
    total = result.total()
    energy = result.energy_joules
    return {
        "name": recording.name,
        "config": shlex.join(word for part in result.config for word in ("-c", part)),
        "end_us": recording.end_ps / _PS_PER_US,
        "active_us": active_ps / _PS_PER_US,
        "period_us": period_ps / _PS_PER_US,
        "truncated": recording.truncation(),
        "totals": {
            "sent": total.sent,
            "delivered": total.delivered,
            "marked": total.marked,
            "dropped early": total.early_dropped,
            "no room": total.tail_dropped,
            "data p50 us": result.latency_us["data"].p50,
            "data p99 us": result.latency_us["data"].p99,
            "energy mJ": 1000 * energy.used if energy.legacy else None,
            "energy, % of never asleep": 100 * energy.used / energy.legacy if energy.legacy else None,
            "wakes of switch ports": result.wakes,
        },
        "ports": [
            _port(recording, one, period_ps, steps.get((one.port.node, one.port.number), 0))
            for one in series.values()
        ],
        "flows": _flows(flows),
        "flow_count": sum(map(bool, flows)),
        "details": [_detail(recording, one, places[one.node, one.port], ahead, slowed) for one in kept],
        "detail_counts": counts,
    }


def _walk(
    recording: Recording, series: dict[tuple[str, int], _PortSeries], period_ps: int, asked: set[_Key]
) -> tuple[dict[_Key, str], dict[str, list[Hop]]]:
    """Fills in depths, sleep and load of ports. Returns, for each packet at a node in `asked`, the packets
    ahead of it when it was marked, dropped, held or paused; and the times at which the sender of each flow
    slowed down."""
    slowed: dict[str, list[Hop]] = {}
    ahead: dict[_Key, str] = {}
    asleep: dict[tuple[str, int], int] = {}
    judged: set[_Key] = set()
    for event in recording.hops.events():
        place = (event.node, event.port)
        one = series.get(place)
        if one is None:
            continue
        key = (event.packet, event.node)
        match event.kind:
            case "judged":
                if key in asked and event.values and event.values[0]:
                    judged.add(key)
            case "queued":
                if key in judged:
                    judged.remove(key)
                    ahead[key] = _ahead(one.queue)
                one.queue[event.packet] = recording.flow_name(event) if event.flow else ""
                one.change(event.queue_bytes + event.length, event.at_ps)
            case "held" | "paused":
                if key in asked and key not in ahead:
                    ahead[key] = _ahead(one.queue, last=True)
            case "sent":
                one.queue.pop(event.packet, None)
                one.busy_ps += event.until_ps - event.at_ps
                if one.port.role is not PortRole.HOST:
                    one.change(event.queue_bytes, event.at_ps)
            case "recirculated":
                one.change(event.queue_bytes, event.at_ps)
            case "slowed":
                slowed.setdefault(recording.flow_name(event), []).append(event)
            case "dropped":
                judged.discard(key)
                one.queue.pop(event.packet, None)
                if key in asked and key not in ahead:
                    ahead[key] = _ahead(one.queue)
            case "slept":
                asleep[place] = event.until_ps
            case "woke":
                one.wakes += 1
                _spread(one, asleep.pop(place, event.at_ps), event.at_ps, period_ps)
    for place, since in asleep.items():
        _spread(series[place], since, recording.end_ps, period_ps)
    return ahead, slowed


def _spread(one: _PortSeries, start_ps: int, end_ps: int, period_ps: int) -> None:
    """Divides a time asleep among the periods that it covers."""
    if end_ps <= start_ps:
        return
    one.asleep_ps += end_ps - start_ps
    first, last = start_ps // period_ps, (end_ps - 1) // period_ps
    for period in range(first, min(last, one.periods - 1) + 1):
        lower, upper = max(start_ps, period * period_ps), min(end_ps, (period + 1) * period_ps)
        one.asleep[period] += upper - lower


def _ahead(queue: dict[int, str], last: bool = False) -> str:
    """Returns the waiting packets by flow, most first; `last` excludes the last one, the packet itself."""
    flows = list(queue.values())[: len(queue) - 1 if last else None]
    if not flows:
        return _ALONE
    counts = sorted(Counter(flows).items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{count:,} of {name or 'other'}" for name, count in counts[:_AHEAD]]
    rest = sum(count for _, count in counts[_AHEAD:])
    if rest:
        parts.append(f"{rest:,} of {plural(len(counts) - _AHEAD, 'other flow')}")
    return f"{plural(len(flows), 'packet')} before it: {', '.join(parts)}"


def _visits(
    recording: Recording, series: dict[tuple[str, int], _PortSeries], period_ps: int
) -> tuple[dict[str, _Flow], dict[str, list[Visit]]]:
    flows: dict[str, _Flow] = {}
    details: dict[str, list[Visit]] = {kind: [] for kind in (_MARK, _EARLY, _TAIL, _OTHER, _HOLD, _PAUSE)}
    for visit in recording.visits():
        flow = flows.setdefault(visit.flow, _Flow())
        is_host = visit.node in recording.topology.hosts
        if is_host and not visit.lost:
            flow.packets += 1
            flow.bytes += visit.length
        one = series.get((visit.node, visit.port))
        if one is None or (is_host and not visit.dropped):
            continue
        kind = _kind(visit)
        period = (visit.queued_ps or visit.arrived_ps) // period_ps
        if kind == _MARK:
            one.marks[period] += 1
            flow.marks += 1
        elif kind and kind not in (_HOLD, _PAUSE):
            one.drops[period] += 1
            flow.drops += 1
        for either in (one, flow):
            either.longest_hold_ps = max(either.longest_hold_ps, visit.held_ps)
            either.longest_pause_ps = max(either.longest_pause_ps, visit.paused_ps)
        if kind:
            details[kind].append(visit)
    return flows, details


def _kind(visit: Visit) -> str:
    if visit.dropped:
        return {"early_dropped": _EARLY, "tail_dropped": _TAIL}.get(visit.dropped, _OTHER)
    if visit.verdict == "marked":
        return _MARK
    if visit.held_ps or visit.paused_ps:
        return _HOLD if visit.held_ps > visit.paused_ps else _PAUSE
    return ""


def _size(visit: Visit) -> int:
    """Returns the rank of a packet within its kind: the time that it waited, or the depth that it met."""
    by_time = {_HOLD: visit.held_ps, _PAUSE: visit.paused_ps}
    return by_time.get(_kind(visit), visit.decided_bytes)


def _choose(details: dict[str, list[Visit]], limit: int) -> tuple[list[Visit], dict[str, list[int]]]:
    """Returns each kind's share of `limit`: the first, others evenly over the run, and the largest, which may
    be one more. Also returns how many are kept of how many."""
    kinds = [kind for kind, found in details.items() if found]
    kept: list[Visit] = []
    counts = {}
    for kind in kinds:
        found = details[kind]
        share = max(1, limit // len(kinds))
        step = -(-len(found) // share)
        some = {id(one): one for one in found[::step]}
        longest = max(found, key=_size)
        some[id(longest)] = longest
        kept += some.values()
        counts[kind] = [len(some), len(found)]
    kept.sort(key=lambda one: (one.queued_ps or one.arrived_ps, one.packet))
    return kept, counts


def _share(series: Iterable[_PortSeries], steps: int) -> dict[tuple[str, int], int]:
    """Returns the steps of each port that is shown: a quarter of all in equal parts, the rest by its deepest
    queue."""
    switches = [one for one in series if one.port.role is not PortRole.HOST and one.deepest[0]]
    shown = sorted(switches, key=lambda one: -one.deepest[0])[:PORTS]
    deepest = sum(one.deepest[0] for one in shown)
    return {
        (one.port.node, one.port.number): steps // (4 * len(shown))
        + 3 * steps * one.deepest[0] // (4 * deepest)
        for one in shown
    }


def _port(recording: Recording, one: _PortSeries, period_ps: int, steps: int) -> dict[str, object]:
    port = one.port
    is_host = port.role is PortRole.HOST
    end = max(1, recording.end_ps)
    # A depth in packets counts as full frames.
    depth = None if is_host else acts_from(recording.config, port)
    packets = int(depth) if isinstance(depth, Packets) else None
    found: dict[str, object] = {
        "name": recording.name_of(port),
        "node": port.node,
        "peer": port.peer.node,
        "is_host": is_host,
        "rate_gbps": int(port.rate) / 1e9,
        "threshold": None if depth is None else int(depth) * (1 if packets is None else _FRAME_BYTES),
        "threshold_packets": packets,
        "buffer": None if is_host else int(recording.config.settings_of(port).queue.buffer_bytes) or None,
        "load": round(one.busy_ps / end, 6),
        "asleep": round(one.asleep_ps / end, 6),
        "marks": one.marks.total(),
        "drops": one.drops.total(),
        "deepest": one.deepest[0],
        "deepest_us": one.deepest[1] / _PS_PER_US,
        "longest_hold_us": one.longest_hold_ps / _PS_PER_US,
        "longest_pause_us": one.longest_pause_ps / _PS_PER_US,
        "wakes": one.wakes,
    }
    if steps:
        found["changes_a_step"], found["steps"] = _steps(one, steps)
        found["mark_counts"] = _flat(one.marks)
        found["drop_counts"] = _flat(one.drops)
        found["asleep_percent"] = _flat({at: round(100 * ps / period_ps) for at, ps in one.asleep.items()})
    return found


def _steps(one: _PortSeries, limit: int) -> tuple[int, list[int]]:
    """Returns the changes in each group, and at most `limit` steps: nanoseconds since the last step and the
    highest depth of a group in bytes, alternately, with a group's last depth if it is lower."""
    count = len(one.times)
    together = max(1, -(-2 * count // limit))
    found: list[int] = []
    before = 0

    def step(at_ps: int, depth: int) -> None:
        nonlocal before
        ns = at_ps // _PS_PER_NS
        found.extend((ns - before, depth))
        before = ns

    for first in range(0, count, together):
        last = min(first + together, count) - 1
        highest = max(one.depths[first : last + 1])
        step(one.times[first], highest)
        if one.depths[last] != highest:
            step(one.times[last], one.depths[last])
    return together, found


def _active(recording: Recording) -> int:
    """Returns the time of the last packet event, in picoseconds; after it there is only sleep."""
    packets, times = recording.hops.column("packet"), recording.hops.column("at_ps")
    return next((times[at] for at in range(len(packets) - 1, -1, -1) if packets[at]), 0) or recording.end_ps


def _flat(counts: dict[int, int]) -> list[int]:
    """Returns periods and values alternately, with each period as the difference from the last one."""
    places = sorted(counts)
    steps = [0, *places]
    return [number for before, at in pairwise(steps) for number in (at - before, counts[at])]


def _flows(flows: dict[str, _Flow]) -> list[dict[str, object]]:
    chosen: Iterable[tuple[str, _Flow]] = sorted(
        ((name, flow) for name, flow in flows.items() if name),
        key=lambda item: (-(item[1].marks + item[1].drops), -item[1].bytes, item[0]),
    )[:FLOWS]
    return [
        {
            "flow": name,
            "packets": flow.packets,
            "bytes": flow.bytes,
            "marks": flow.marks,
            "drops": flow.drops,
            "longest_hold_us": flow.longest_hold_ps / _PS_PER_US,
            "longest_pause_us": flow.longest_pause_ps / _PS_PER_US,
        }
        for name, flow in chosen
    ]


def _detail(
    recording: Recording, visit: Visit, port: int, ahead: dict[_Key, str], slowed: dict[str, list[Hop]]
) -> list[object]:
    """Returns `label, port, time in us, kind, queue bytes, queue packets, waited us, held us, paused us,
    flow, reason, packets ahead of it, reaction of its sender`; the last is empty if senders do not react, as
    in a replay."""
    return [
        visit.label,
        port,
        (visit.queued_ps or visit.arrived_ps) / _PS_PER_US,
        _kind(visit),
        visit.queue_bytes,
        visit.queue_packets,
        visit.waited_ps / _PS_PER_US,
        visit.held_ps / _PS_PER_US,
        visit.paused_ps / _PS_PER_US,
        visit.flow,
        f"{visit.kind}, {visit.length:,} B: {recording.reason(visit)}",
        ahead.get((visit.packet, visit.node), _ALONE),
        _reaction(visit, slowed),
    ]


def _reaction(visit: Visit, slowed: dict[str, list[Hop]]) -> str:
    if not slowed:
        return ""
    falls = slowed.get(visit.flow, [])
    decided_ps = visit.queued_ps or visit.arrived_ps
    after = bisect_right(falls, decided_ps, key=lambda fall: fall.at_ps)
    if after == len(falls):
        return "its sender did not slow down after that"
    fall = falls[after]
    later_us = (fall.at_ps - decided_ps) / _PS_PER_US
    window = f"window from {fall.length:,} B to {fall.queue_bytes:,} B"
    return f"its sender slowed down {later_us:,.1f} us later: {window}"
