"""Descriptions of plans in words: the changes at each port, with equal changes grouped. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eeon_control.config.classes import PRIORITIES
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.fabric.diff import Change, ChangeKind
from eeon_control.fabric.planning import FabricPlan
from eeon_control.plan import Action, Entry, Exact, Lpm, classes, pfc, qcn
from eeon_control.plan.routes import ADMIT
from eeon_control.port_settings import QUEUE_AQM, TABLES
from eeon_control.printable import some
from eeon_control.routing import ROUTE_TABLES
from eeon_control.topology import Topology
from eeon_control.units import Bytes, Duration

_MESSAGES = "how congestion notification messages are made and forwarded"
_PLACES_SHOWN = 12  # maximum number of switches per line, and of port ranges per switch
_WORDED_DEFAULTS = ("dscp_priority", "cnm_source", "cnm_queue")
_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]*)")
_ROUTES_SHOWN = 4  # maximum number per switch and kind of change; otherwise only their number is shown
_DONE = {ChangeKind.INSERT: "added", ChangeKind.MODIFY: "changed", ChangeKind.DELETE: "removed"}


@dataclass(frozen=True)
class Line:
    """`where`: a port, ports or switches, such as `leaf1:3 (to h3)`. `what`: the change there.

    `ports` and `switches`: the same for programs; `ports` is empty for changes of a whole switch. These are
    the keys of a plan in JSON, too.
    """

    where: str
    what: str
    switches: tuple[str, ...]
    ports: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def describe(topology: Topology, plan: FabricPlan, tick: Duration) -> list[Line]:
    """Returns all changes of a plan; ports, or switches, with the same changes share a line."""
    ports: dict[str, list[tuple[str, int]]] = defaultdict(list)
    switches: dict[str, list[str]] = defaultdict(list)
    for name, one in plan.switches.items():
        if one.push_pipeline:
            keeps = "it has all tables of the running program, and entries are kept"
            why = keeps if one.keep_entries else "it replaces another program, or none"
            switches[f"the E-EON program is loaded; {why}"].append(name)
        for text in _switch_words(one.changes):
            switches[text].append(name)
        for number, texts in _port_words(one.changes, tick).items():
            ports["; ".join(texts)].append((name, number))
    lines = [
        Line(some(_runs((name, "") for name in names), _PLACES_SHOWN), text, tuple(names), ())
        for text, names in switches.items()
    ]
    return lines + [_port_line(topology, text, where) for text, where in ports.items()]


def _port_words(changes: Iterable[Change], tick: Duration) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for change in changes:
        table, match = change.entry.table, change.entry.match
        if len(match) != 1 or not isinstance(match[0], Exact):
            continue
        before, after = _action(change.before), _action(change.after)
        number, priority = divmod(match[0].value, PRIORITIES)  # in tables of queues
        if table == qcn.POINTS:
            old, new = qcn.summary(before), qcn.summary(after)
            if old == new:  # only numbers that are computed from these differ
                old, new = _text(change.before), _text(change.after)
            found[number].append(f"QCN of priority {priority} {old} -> {new}")
        elif table == QUEUE_AQM.name:
            text = QUEUE_AQM.describe_change(before, after, tick)
            found[number].append(f"priority {priority}: {text}")
        elif table in TABLES:
            found[match[0].value].append(TABLES[table].describe_change(before, after, tick))
    return dict(sorted(found.items()))


def _switch_words(changes: Iterable[Change]) -> list[str]:
    """Returns the changes of the whole switch in words: the ECMP seed, defaults of tables, routes."""
    texts: list[str] = []
    routes: dict[ChangeKind, list[str]] = defaultdict(list)
    admits: Counter[ChangeKind] = Counter()
    of_pfc: list[Change] = []
    copies = False
    for change in changes:
        entry = change.entry
        if entry.table == "switch_config":
            texts += _switch_config_words(_action(change.before), _action(change.after))
        elif entry.is_default and entry.table not in _WORDED_DEFAULTS:
            texts.append(f"default of {entry.table}: {_text(change.before)} -> {_text(change.after)}")
        elif entry.table == ADMIT:
            admits[change.kind] += 1
        elif entry.table in classes.TABLES:
            texts += _class_words(change)
        elif entry.table == CLONE_SESSIONS:
            copies = True
        elif entry.table in qcn.TABLES:
            if entry.table != qcn.POINTS and _MESSAGES not in texts:
                texts.append(_MESSAGES)
        elif entry.table in pfc.TABLES:
            of_pfc.append(change)
        elif entry.table in ROUTE_TABLES.values() and isinstance(entry.match[0], Lpm):
            routes[change.kind].append(_route(change, entry.match[0]))
        elif entry.table not in (*TABLES, QUEUE_AQM.name):
            texts.append(f"{entry.table} {entry.match_text}: {_text(change.before)} -> {_text(change.after)}")
    texts += _pfc_words(of_pfc)
    texts += (
        f"own address {_DONE[kind]} at {count} {'port' if count == 1 else 'ports'}"
        for kind, count in admits.items()
    )
    # The clone session changes together with PFC or QCN, and is mentioned only if it changes alone.
    if copies and not of_pfc and _MESSAGES not in texts:
        texts.append("the clone session for the switch's own frames")
    for kind, words in routes.items():
        texts += words if len(words) <= _ROUTES_SHOWN else [f"{len(words)} routes {_DONE[kind]}"]
    return texts


def _switch_config_words(before: Action | None, after: Action | None) -> Iterator[str]:
    old, new = (None if one is None else classes.has_priorities(one) for one in (before, after))
    if old != new:
        yield f"packets go to {'the queue of their class' if new else 'one queue per port'}"
    old, new = (None if one is None else classes.is_per_packet(one) for one in (before, after))
    if (old or False) != (new or False):
        yield f"{'packets' if new else 'flows'} are spread over equal-cost paths"
    if before is None or after is None or dict(before.params) != dict(after.params):
        yield "the ECMP hash seed changes"


def _class_words(change: Change) -> Iterator[str]:
    """Yields `DSCP 26: priority 3 -> 5`; for the default, `other packets: priority 0 -> 1`."""
    old, new = (_priority(one) for one in (change.before, change.after))
    match = change.entry.match
    if match and isinstance(match[0], Exact):
        what, missing = f"{match[0].field.upper()} {match[0].value}", "by default"
    else:
        what, missing = "other packets", "priority 0"
    if (old or missing) != (new or missing):
        yield f"{what}: {old or missing} -> {new or missing}"


def _pfc_words(changes: list[Change]) -> Iterator[str]:
    """Yields `priority 3 at ports 1-4: lossy -> lossless, pauses above 80KB, resumes at 77KB, limit 90KB`."""
    groups: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    others: set[int] = set()
    for change in changes:
        match = change.entry.match[0]
        if not isinstance(match, Exact) or change.entry.table != pfc.GROUPS:
            others.add(match.value if match.field == "port" else match.value // PRIORITIES)
        else:
            port, priority = divmod(match.value, PRIORITIES)
            old, new = (_lossless(_action(one)) for one in (change.before, change.after))
            groups[priority, old, new].append(port)
    for (priority, old, new), ports in groups.items():
        yield f"priority {priority} at port{'s' if len(ports) > 1 else ''} {_ranges(ports)}: {old} -> {new}"
    if others := others.difference(*groups.values()):
        yield f"how pauses are made and obeyed at port{'s' if len(others) > 1 else ''} {_ranges(others)}"


def _lossless(action: Action | None) -> str:
    if action is None:
        return "lossy"
    values = dict(action.params)
    above, until, limit = (Bytes(values.get(f"{key}_bytes", 0)) for key in ("xoff", "xon", "limit"))
    return f"lossless, pauses above {above}, resumes at {until}, limit {limit}"


def _priority(entry: Entry | None) -> str | None:
    action = _action(entry)
    return None if action is None else f"priority {dict(action.params).get('priority', 0)}"


def _route(change: Change, prefix: Lpm) -> str:
    name = f"route {prefix.text}"
    if change.before is None:
        return f"{name} added, {_hops(change.after)}"
    if change.after is None:
        return f"{name} removed, was {_hops(change.before)}"
    old, new = _hops(change.before), _hops(change.after)
    return f"{name} {old} -> {new}" if old != new else f"{name}: next-hop addresses change, {new}"


def _hops(entry: Entry | None) -> str:
    assert entry is not None
    ports = sorted(value for action in entry.actions for key, value in action.params if key == "port")
    if len(ports) != len(entry.actions):
        return entry.action_text
    return f"via port{'s' if len(ports) > 1 else ''} {_ranges(ports)}"


def _port_line(topology: Topology, text: str, where: list[tuple[str, int]]) -> Line:
    by_switch: dict[str, list[int]] = defaultdict(list)
    for name, number in where:
        by_switch[name].append(number)
    runs = _runs((name, f":{_ranges(numbers)}") for name, numbers in by_switch.items())
    head = some(runs, _PLACES_SHOWN)
    names = tuple(f"{name}:{number}" for name, number in where)
    found = [topology.port(name) for name in names]
    if len(names) == 1:
        note = f"to {found[0].peer.node}" if found[0] is not None else "no link"
    else:
        roles = {one.role for one in found if one is not None}
        role = f"{roles.pop().replace('_', '-')}, " if len(roles) == 1 and None not in found else ""
        note = f"{role}{len(names)} ports"
    return Line(f"{head} ({note})", text, tuple(by_switch), names)


def _runs(places: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yields the names of switches with their ports. Three or more consecutively numbered switches with equal
    ports are `leaf1:1-4 to leaf128:1-4`."""
    run: list[tuple[str, str]] = []
    for name, ports in places:
        if run and (_after(run[-1][0]), run[-1][1]) != (name, ports):
            yield from _run(run)
            run = []
        run.append((name, ports))
    yield from _run(run)


def _run(places: list[tuple[str, str]]) -> list[str]:
    shown = ["".join(place) for place in places]
    return [f"{shown[0]} to {shown[-1]}"] if len(shown) > 2 else shown


def _after(name: str) -> str | None:
    match = _NUMBERED.fullmatch(name)
    return None if match is None else f"{match[1]}{int(match[2]) + 1}"


def _ranges(numbers: Iterable[int]) -> str:
    """Returns `1-3,7` for 1, 2, 3, 7."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    more = sum(map(len, runs[_PLACES_SHOWN:]))
    return ",".join(shown[:_PLACES_SHOWN]) + (f" and {more} more" if more else "")


def _action(entry: Entry | None) -> Action | None:
    return entry.actions[0] if entry is not None and entry.actions else None


def _text(entry: Entry | None) -> str:
    return entry.action_text if entry is not None else "none"
