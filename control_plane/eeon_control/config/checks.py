"""What a configuration means together with a topology and a target's tick: the last check before planning.

Pure; returns Problems, errors and warnings alike, each at the line of the profile or attachment that causes
it. A profile used by a hundred ports is reported once a cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eeon_control.config.model import FabricConfig
from eeon_control.config.queues import MarkThreshold, Queue, Red
from eeon_control.config.timers import eee_ticks, red_thresholds
from eeon_control.errors import PlanError, Problem, Severity
from eeon_control.sources import KeyPath
from eeon_control.topology.model import Port, Topology
from eeon_control.units import Bytes, DataRate, Duration, Packets

_FULL_FRAME_BYTES = 1500  # only for warnings that compare a limit in packets with one in bytes


def check(config: FabricConfig, topology: Topology, tick: Duration) -> list[Problem]:
    """Every error and warning, without duplicates, in the order of the files' lines."""
    found = dict.fromkeys(
        [*_attachments(config, topology), *_queues(config, topology), *_eee(config, topology, tick)]
    )
    return sorted(found, key=lambda problem: (problem.place.file, problem.place.line))


def _attachments(config: FabricConfig, topology: Topology) -> Iterator[Problem]:
    document = config.document
    for name in config.switches:
        if name not in topology.switches:
            yield document.problem(
                ("switches", name),
                f"topology {topology.name} has no switch of that name; it has {_some(topology.switches)}",
                name,
            )
    for name in config.ports:
        if topology.port(name) is None:
            yield document.problem(
                ("ports", name),
                f"topology {topology.name} has no linked switch port of that name; a port is written leaf1:3",
                name,
            )
    missing = [port for port in topology.ports() if config.attached(port, "queue") is None]
    for role in dict.fromkeys(port.role for port in missing):
        ports = [port.name for port in missing if port.role is role]
        yield document.problem(
            ("roles", role.value),
            f"no queue profile for {len(ports)} port(s) of this role "
            f"({_some(ports)}); name one under roles.{role.value}.queue",
        )


def _queues(config: FabricConfig, topology: Topology) -> Iterator[Problem]:
    used: dict[tuple[str, DataRate], Port] = {}
    for port in topology.ports():
        name = config.attached(port, "queue")
        if name is not None:
            used.setdefault((name, port.rate), port)
    for (name, rate), port in used.items():
        yield from _queue(config, ("profiles", "queue", name), config.profiles.queue[name], rate, port)


def _queue(
    config: FabricConfig, path: KeyPath, queue: Queue, rate: DataRate, port: Port
) -> Iterator[Problem]:
    document = config.document

    def warning(key: str, text: str) -> Problem:
        return document.problem((*path, "aqm", key), text, severity=Severity.WARNING)

    aqm = queue.aqm
    if isinstance(aqm, MarkThreshold):
        for key, threshold in (("threshold", aqm.threshold), ("l4s_threshold", aqm.l4s_threshold)):
            if threshold is not None and threshold >= queue.buffer:
                yield warning(
                    key,
                    f"not below the buffer ({queue.buffer}): the port drops before it marks, "
                    "so nothing is ever marked",
                )
        return
    if not isinstance(aqm, Red):
        return
    try:
        low, high = red_thresholds(aqm, rate)
    except PlanError as error:
        yield document.problem((*path, "aqm"), f"{error} (port {port.name})")
        return
    key = "max" if aqm.max is not None else "target_delay"
    at_rate = f" at {rate}" if aqm.target_delay is not None else ""
    holds: Bytes | Packets = queue.buffer
    buffer = f"the buffer ({queue.buffer})"
    if isinstance(high, Packets):
        holds = Packets(queue.buffer // _FULL_FRAME_BYTES)
        buffer = f"the {holds} of {_FULL_FRAME_BYTES}B that the buffer ({queue.buffer}) holds"
    if low >= holds:
        yield warning(key, f"min is {low}{at_rate}, not below {buffer}: this is drop_tail")
    elif high > holds:
        yield warning(
            key, f"max is {high}{at_rate}, above {buffer}: a full buffer drops before every packet is marked"
        )
    if not aqm.ecn:
        yield warning("ecn", "without ECN, RED can only drop, ECT packets too")
    elif aqm.protect == "ect":
        yield warning(
            "protect",
            "only ECT packets are spared. Pure ACKs, SYNs and SYN-ACKs are never ECT, so "
            "with aggressive thresholds they are most of what is dropped and throughput "
            "falls (E-EON thesis sections 6.4.1 and 6.4.3; marking-threshold paper "
            "section 4.1); protect: ack_syn spares them",
        )
    if aqm.average_shift > 0:
        yield warning(
            "average_weight",
            "RED on the averaged queue behaves like drop_tail under shuffle bursts "
            "(E-EON thesis section 5.3.1); average_weight: 1 is instantaneous",
        )


def _eee(config: FabricConfig, topology: Topology, tick: Duration) -> Iterator[Problem]:
    used: dict[tuple[str, DataRate], Port] = {}
    nics = [host.port for host in topology.hosts.values()]
    for port in [*topology.ports(), *nics]:
        used.setdefault((config.attached(port, "eee") or "off", port.rate), port)
    for (name, rate), port in used.items():
        eee = config.profiles.eee[name]
        try:
            eee_ticks(eee, rate, port.overhead, tick)
        except PlanError as error:
            yield config.document.problem(_eee_place(config, name, port), f"{error} (port {port.name})", name)


def _eee_place(config: FabricConfig, name: str, port: Port) -> KeyPath:
    """The profile's own lines, or, for a preset, the line that attaches it."""
    own: KeyPath = ("profiles", "eee", name)
    levels: list[KeyPath] = [
        own,
        ("ports", port.name, "eee"),
        ("switches", port.node, "eee"),
        ("roles", port.role.value, "eee"),
    ]
    return next((path for path in levels if config.document.get(path) is not None), ())


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:5]) + (", ..." if len(listed) > 5 else "")
