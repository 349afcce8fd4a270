"""The last check before planning: a configuration together with a topology and a target's tick.

Pure; returns Problems, both errors and warnings, each at the line of the profile or attachment that causes
it. A profile used by a hundred ports is reported once per cause.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from eeon_control.config.advice import hold_warning, queue_warnings
from eeon_control.config.classes import DEFAULT_CLASS
from eeon_control.config.model import FabricConfig
from eeon_control.config.pfc import LEAST_WATCH, lateness, pause_time, shortage
from eeon_control.config.queues import Queue
from eeon_control.config.target_settings import queue_depth
from eeon_control.constants import CONTROL_PRIORITY
from eeon_control.errors import Place, PlanError, Problem, Severity
from eeon_control.model_base import FULL_FRAME_BYTES
from eeon_control.port_settings import Aqm, Settings, codec
from eeon_control.printable import some
from eeon_control.sources import Document, KeyPath
from eeon_control.topology import base_rtt
from eeon_control.topology.model import Port, Topology
from eeon_control.units import Bytes, DataRate, Duration
from eeon_control.validation import did_you_mean

_SHOWN = 5  # maximum number of names in a message


def check(config: FabricConfig, topology: Topology, tick: Duration) -> list[Problem]:
    """Returns every error and warning, without duplicates, in the order of the files' lines."""
    used = [
        _Used(port, config.attached(port, "queue"), config.attached(port, "eee") or "off")
        for port in topology.ports()
    ]
    rounding = _Rounding(tick)
    found = dict.fromkeys(
        [
            *_attachments(config, topology, used),
            *_queues(config, topology, used, rounding),
            *_eee(config, topology, used, rounding),
            *rounding.problems(),
            *_assumed(topology),
            *_unequal(config, topology),
            *_scopes(config, used),
            *_qcn(config, used),
            *_pfc(config, topology),
            *_quanta(config),
            *_first_on_bmv2(config, used),
            *_target_settings(config, topology, used),
        ]
    )
    return sorted(found, key=lambda problem: (problem.place.file, problem.place.line))


class _Used(NamedTuple):
    """A switch port and the names of its profiles."""

    port: Port
    queue: str | None
    eee: str


@dataclass
class _Rounding:
    """Collects the times of settings that a target with this tick rounds up."""

    tick: Duration
    _found: dict[str, None] = field(default_factory=dict)

    def of(self, settings: Settings) -> None:
        """Collects rounded times of `settings`. Raises PlanError if the target cannot express them."""
        settings.to_action(self.tick)
        for key, span in settings.spans().items():
            up = codec.from_ticks(codec.to_ticks(span, self.tick), self.tick)
            if up != span:
                self._found[f"{key} {span} to {up}"] = None

    def problems(self) -> Iterator[Problem]:
        """Yields one warning for all times that were rounded up."""
        if self._found:
            rule = f"times are rounded up to this target's {self.tick} tick: {', '.join(self._found)}"
            yield Problem(Place("targets"), "", "", rule, Severity.WARNING)


def _assumed(topology: Topology) -> Iterator[Problem]:
    if topology.assumed:
        yield Problem(Place(topology.source), "", "", topology.assumed, Severity.WARNING)


def _unequal(config: FabricConfig, topology: Topology) -> Iterator[Problem]:
    """Warns once for all switches about links of different rates over which flows are spread evenly."""
    if not config.routing.ecmp or config.routing.max_paths == 1:
        return
    leaves = {leaf.name for leaf in topology.leaves}
    found: dict[str, dict[DataRate, Port]] = {}
    for name, switch in topology.switches.items():
        to_switches = [port for port in switch.ports if port.peer.node in topology.switches]
        groups: dict[str, list[Port]] = {}  # by peer; "": any of the next tier
        # Packets down from a spine go to one pod, and links to other pods do not matter.
        has_leaf = name in leaves or any(port.peer.node in leaves for port in to_switches)
        for port in to_switches:
            groups.setdefault(port.peer.node, []).append(port)
            if has_leaf and port.peer.node not in leaves:
                groups.setdefault("", []).append(port)
        for group in groups.values():
            rates = {port.rate: port for port in reversed(group)}
            if len(rates) > 1:
                found.setdefault(name, rates)
    if not found:
        return
    first = next(iter(found.values()))
    links = " and ".join(f"{first[rate].name} {rate}" for rate in sorted(first, reverse=True))
    more = f" ({len(found)} such switches)" if len(found) > 1 else ""
    rule = (
        f"ECMP spreads flows evenly over links of different rates: {links}{more}. The slower link gets as "
        "many flows and fills first; give the links one rate, or use one path with routing.ecmp: false"
    )
    yield Problem(Place(topology.source), "", "", rule, Severity.WARNING)


def _attachments(config: FabricConfig, topology: Topology, used: list[_Used]) -> Iterator[Problem]:
    document = config.document
    yield from _names(config.document, topology, (), config.switches, config.ports)
    missing = [one.port for one in used if one.queue is None]
    for role in dict.fromkeys(port.role for port in missing):
        ports = [port.name for port in missing if port.role is role]
        yield document.problem(
            ("roles", role.value),
            f"no queue profile for {len(ports)} port(s) of this role "
            f"({some(ports, _SHOWN)}); name one under roles.{role.value}.queue",
        )


def check_names(document: Document, topology: Topology) -> list[Problem]:
    """Returns problems of unknown switches and ports, in files that violate the schema elsewhere."""
    return list(_names(document, topology, (), *(document.mapping((key,)) for key in ("switches", "ports"))))


def _names(
    document: Document, topology: Topology, at: KeyPath, switches: Iterable[str], ports: Iterable[str]
) -> Iterator[Problem]:
    """Yields a problem for each switch and port below `at` that is not in the topology."""
    for name in switches:
        if name not in topology.switches:
            near = did_you_mean(name, topology.switches)
            yield document.problem(
                (*at, "switches", name),
                f"topology {topology.name} has no switch of that name{near}; "
                f"it has {some(topology.switches, _SHOWN)}",
                name,
            )
    for name in ports:
        if topology.port(name) is None:
            switch = topology.switches.get(name.rpartition(":")[0])
            if switch is not None:
                near = f"; {switch.name} has ports {some((str(one.number) for one in switch.ports), _SHOWN)}"
            else:
                near = did_you_mean(name.rpartition(":")[0], topology.switches)
            yield document.problem(
                (*at, "ports", name),
                f"topology {topology.name} has no linked switch port of that name{near}; "
                "a port is written leaf1:3",
                name,
            )


def _queues(
    config: FabricConfig, topology: Topology, used: list[_Used], rounding: _Rounding
) -> Iterator[Problem]:
    kinds: dict[tuple[str, DataRate], Port] = {}
    for port, name, _ in used:
        if name is not None:
            kinds.setdefault((name, port.rate), port)
    rtt = base_rtt(topology)
    for (name, rate), port in kinds.items():
        queue = config.profiles.queue[name]
        if queue.buffer_bytes < FULL_FRAME_BYTES:
            yield config.document.warning(
                ("profiles", "queue", name, "buffer"),
                f"is smaller than a full frame ({FULL_FRAME_BYTES}B): every full frame is dropped",
            )
        for path, aqm in _aqms(name, queue):
            try:
                rounding.of(aqm.settings_at(rate))
            except PlanError as error:
                yield config.document.problem(path, f"{error} (port {port.name})")
            else:
                yield from queue_warnings(config, path, aqm, queue, rate, rtt)


def _aqms(name: str, queue: Queue) -> Iterator[tuple[KeyPath, Aqm]]:
    """Yields every AQM of a queue profile with its key path."""
    path: KeyPath = ("profiles", "queue", name)
    yield (*path, "aqm"), queue.aqm
    for of_class, aqm in queue.class_aqm.items():
        yield (*path, "class_aqm", of_class), aqm


def _queues_in_use(config: FabricConfig, used: list[_Used]) -> Iterator[tuple[str, Queue]]:
    for name in dict.fromkeys(one.queue for one in used if one.queue is not None):
        yield name, config.profiles.queue[name]


def _scopes(config: FabricConfig, used: list[_Used]) -> Iterator[Problem]:
    """Checks that AQMs per queue have traffic classes, and that each belongs to a known class."""
    for name, queue in _queues_in_use(config, used):
        path: KeyPath = ("profiles", "queue", name)
        if config.classes and queue.scope != "port":
            yield from _class_aqms(config, (*path, "class_aqm"), queue)
        elif not config.classes and (queue.scope == "queue" or queue.class_aqm):
            key = "scope" if queue.scope == "queue" else "class_aqm"
            rule = "needs traffic classes: without them a port has one queue; add `classes`"
            yield config.document.problem((*path, key), rule)
        elif queue.class_aqm:
            rule = "needs scope: queue; with scope: port a port has one AQM"
            yield config.document.problem((*path, "class_aqm"), rule)


def _unknown_classes(config: FabricConfig, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields the unknown classes among the names, each with a suggestion."""
    known = {DEFAULT_CLASS, *config.classes}
    for name in names:
        if name not in known:
            yield name, f"{did_you_mean(name, known)}; there are {some(sorted(known), _SHOWN)}"


def _class_aqms(config: FabricConfig, path: KeyPath, queue: Queue) -> Iterator[Problem]:
    for name, near in _unknown_classes(config, queue.class_aqm):
        yield config.document.problem((*path, name), f"unknown class{near}", name)
    for priority, (first, *others) in config.priorities_in_use.items():
        for name in others:
            if queue.class_aqm.get(name, queue.aqm) != queue.class_aqm.get(first, queue.aqm):
                yield config.document.problem(
                    (*path, name),
                    f"class {first} shares the queue of priority {priority} and has another AQM; give both "
                    "the same AQM, or different priorities",
                    name,
                )


def _qcn(config: FabricConfig, used: list[_Used]) -> Iterator[Problem]:
    for name, queue in _queues_in_use(config, used):
        qcn = queue.qcn
        if qcn is None:
            continue
        path: KeyPath = ("profiles", "queue", name, "qcn")
        if not config.classes:
            yield config.document.problem(
                path, "needs traffic classes: QCN samples the queues of classes; add `classes`"
            )
        for one, near in _unknown_classes(config, qcn.classes):
            yield config.document.problem((*path, "classes"), f"unknown class {one}{near}", one)
        if qcn.set_point >= queue.buffer_bytes:
            yield config.document.problem(
                (*path, "set_point"),
                f"{qcn.set_point} is not below the buffer ({queue.buffer}): no queue could exceed it",
            )
        elif 3 * qcn.set_point > 2 * queue.buffer_bytes:
            yield config.document.warning(
                (*path, "set_point"),
                f"{qcn.set_point} is above two thirds of the buffer ({queue.buffer}): the room above it is "
                "too small for strong feedback, and the queue overflows before senders slow down enough",
            )
        modes = {queue.class_aqm.get(one, queue.aqm).mode for one in qcn.classes} - {"drop_tail"}
        if modes:
            yield config.document.warning(
                path,
                "senders get two congestion signals: QCN messages, and the marks or drops of "
                f"{some(sorted(modes))}",
            )


def _eee(
    config: FabricConfig, topology: Topology, used: list[_Used], rounding: _Rounding
) -> Iterator[Problem]:
    kinds: dict[tuple[str, DataRate], Port] = {}
    beside: dict[tuple[str, str, DataRate], Port] = {}
    for port, queue, eee in used:
        kinds.setdefault((eee, port.rate), port)
        if queue is not None:
            beside.setdefault((eee, queue, port.rate), port)
    for host in topology.hosts.values():
        kinds.setdefault((config.attached(host.port, "eee") or "off", host.port.rate), host.port)
    for (name, rate), port in kinds.items():
        try:
            rounding.of(config.eee_at(name, rate).settings_at(rate, port.overhead))
        except PlanError as error:
            yield config.document.problem(_eee_place(config, name, port), f"{error} (port {port.name})", name)
    for (name, queue, rate), port in beside.items():
        if text := hold_warning(config.eee_at(name, rate), config.profiles.queue[queue], rate):
            place = _eee_place(config, name, port)
            yield config.document.warning(place, text, name)


def _pfc(config: FabricConfig, topology: Topology) -> Iterator[Problem]:
    """Checks that lossless classes share no priority with other classes, and have headroom on every link."""
    for priority, name in config.lossless.items():
        names = config.priorities_in_use[priority]
        lossy = [one for one in names if one not in config.classes or config.classes[one].pfc != name]
        owner = next(one for one in names if one in config.classes and config.classes[one].pfc == name)
        place: KeyPath = ("classes", owner, "pfc")
        if lossy:
            yield config.document.problem(
                place,
                f"pfc profile {name} makes priority {priority} lossless, but classes without that profile "
                f"share it ({', '.join(lossy)}); give them different priorities, or one profile",
                name,
            )
        if priority == CONTROL_PRIORITY:
            yield config.document.problem(
                place,
                f"priority {priority} carries the switches' own frames, which a pause would stop; use a "
                f"priority from 0 to {CONTROL_PRIORITY - 1}",
                name,
            )
        yield from _starved(config, owner, priority)
        kinds = {
            (port.rate, port.delay, port.overhead, config.attached(port, "eee")): port
            for port in topology.ports()
        }
        for port in kinds.values():
            yield from _thresholds(config, port, priority, name)
        if kinds:
            yield from _watchdog(config, name, min(port.rate for port in kinds.values()))


def _starved(config: FabricConfig, lossless: str, priority: int) -> Iterator[Problem]:
    """Warns of classes that are served before a lossless one and may starve it."""
    above = [
        name
        for name, one in config.classes.items()
        if one.priority > priority and None in (one.quantum, config.classes[lossless].quantum)
    ]
    if above:
        yield config.document.warning(
            ("classes", lossless, "priority"),
            f"class {lossless} is lossless, but classes of higher priority ({', '.join(above)}) can starve "
            "it: on switches without timers (BMv2), a pause then ends before it is repeated, and packets "
            "are dropped; give each class a quantum, or the lossless class the highest priority",
        )


def _thresholds(config: FabricConfig, port: Port, priority: int, name: str) -> Iterator[Problem]:
    path: KeyPath = ("profiles", "pfc", name)
    try:
        at = config.pfc_at(port, priority)
    except PlanError as error:
        yield config.document.problem(path, f"{error} (port {port.name})", name)
        return
    unchecked = config.profiles.pfc[name].headroom == "unchecked"
    severity = Severity.WARNING if unchecked else Severity.ERROR
    if missing := shortage(at):
        yield config.document.problem(
            path,
            f"limit {at.limit} is {Bytes(at.limit - at.xoff)} above xoff {at.xoff}, but the headroom at "
            f"{port.rate} is {at.headroom.total} (port {port.name}): packets of the class may be dropped; "
            f"lower xoff by {missing}, or raise limit to {Bytes(at.xoff + at.headroom.total)}, "
            "or set xoff: auto",
            name,
            severity=severity,
        )
    if (late := lateness(at, port.rate)) > at.pause_time // 2:
        yield config.document.problem(
            path,
            f"pause {at.pause} lasts {at.pause_time} at {port.rate}, and the frame that repeats it after "
            f"half that time may be {late} late (port {port.name}): the neighbour resumes before it "
            "arrives; set a longer pause",
            name,
            severity=severity,
        )
    eee = config.eee_of(port)
    if eee.mode != "off" and eee.hold is not None and eee.hold > at.pause_time:
        yield config.document.warning(
            path,
            f"a pause lasts {at.pause_time} at {port.rate}, but EEE on port {port.name} may hold packets "
            f"longer ({eee.hold}): on switches without timers (BMv2), the pause may end before it is "
            "repeated",
            name,
        )


def _watchdog(config: FabricConfig, name: str, slowest: DataRate) -> Iterator[Problem]:
    """Warns of times so short that ordinary pauses look like a storm, or like its end."""
    profile = config.profiles.pfc[name]
    if profile.watchdog is None:
        return
    pause = pause_time(slowest, profile.pause)
    least = max(LEAST_WATCH, pause)
    for key, time in (("detect", profile.watchdog.detect), ("restore", profile.watchdog.restore)):
        if time < least:
            mistake = "ordinary pauses for a storm" if key == "detect" else "gaps between pauses for its end"
            yield config.document.warning(
                ("profiles", "pfc", name, "watchdog", key),
                f"one pause lasts {pause} at {slowest}, and the controller needs {LEAST_WATCH} to read the "
                f"switch a few times: {time} mistakes {mistake}; set {least} or more",
            )


def _quanta(config: FabricConfig) -> Iterator[Problem]:
    """Checks that each queue has at most one quantum, and the queue of the switches' own frames none."""
    owners: dict[int, str] = {}
    for name, one in config.classes.items():
        if one.quantum is None:
            continue
        path: KeyPath = ("classes", name, "quantum")
        if one.priority == CONTROL_PRIORITY:
            yield config.document.problem(
                path,
                f"priority {one.priority} carries the switches' own frames, which never wait for a turn; "
                f"use a priority from 0 to {CONTROL_PRIORITY - 1}, or leave the quantum out",
            )
        other = owners.setdefault(one.priority, name)
        if config.classes[other].quantum != one.quantum:
            yield config.document.problem(
                path,
                f"class {other} gives the queue of priority {one.priority} a quantum of "
                f"{config.classes[other].quantum}, this class {one.quantum}; give both the same quantum, or "
                "different priorities",
            )


def _first_on_bmv2(config: FabricConfig, used: list[_Used]) -> Iterator[Problem]:
    """Refuses classes behind which the switches' own frames would wait: BMv2 cannot send them first."""
    has_qcn = any(queue.qcn for _, queue in _queues_in_use(config, used))
    if config.target_settings.bmv2 is None or not (config.lossless or has_qcn):
        return
    for name, one in config.classes.items():
        if one.priority == CONTROL_PRIORITY and one.pfc is None:
            made = "pauses" if config.lossless else "congestion notification messages"
            yield config.document.problem(
                ("classes", name, "priority"),
                f"BMv2 sends its own frames ({made}) from the queue of priority {one.priority}, where they "
                f"would wait behind this class; use a priority from 0 to {CONTROL_PRIORITY - 1}, or leave "
                "target_settings.bmv2 out for switches that send these frames first (eeon-switch, a twin)",
            )


def _target_settings(config: FabricConfig, topology: Topology, used: list[_Used]) -> Iterator[Problem]:
    bmv2 = config.target_settings.bmv2
    if bmv2 is None:
        return
    path: KeyPath = ("target_settings", "bmv2")
    yield from _names(config.document, topology, path, bmv2.switches, bmv2.ports)
    for one in used:
        outside = one.queue is not None and config.profiles.queue[one.queue].held_packets == "outside"
        if outside and queue_depth(config.bmv2_levels(one.port)) == "auto":
            yield config.document.problem(
                path,
                f"queue_depth: auto covers only the buffer, but queue profile {one.queue} keeps held "
                "packets outside it, as many as arrive during a hold; set a number of packets, because "
                "BMv2's queue must never overflow",
            )


def _eee_place(config: FabricConfig, name: str, port: Port) -> KeyPath:
    """Returns the key path of the profile, or, for a preset, of its attachment."""
    own: KeyPath = ("profiles", "eee", name)
    attached = [path for path, given in config.levels(port, "eee") if given is not None]
    return next((path for path in [own, *attached] if config.document.get(path) is not None), ())
