"""A switch's gNMI data: leaves of OpenConfig's models for each attached port.

Sources: openconfig-interfaces 3.8.1, openconfig-qos 2.2.0 (the ECN counters), openconfig-p4rt 1.0.0 (`id`),
and this project's `eeon-qos`, which adds the current depth of a queue; OpenConfig has only maximum and mean.

The engine counts frames and bytes by port. Only the program knows the packets that an AQM marked and dropped:
E-EON's counts them in `verdicts` (p4src/include/control/counters.p4); other programs have no such leaves.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .._engine import SwitchHandle
from ..exceptions import EngineError
from ..json_types import PortStats
from ..values import PortInfo
from .messages import gnmi

QUEUE = "all"
"""Name of a port's single queue: the engine counts all its priorities together."""

_CLASSES, _VERDICTS = 8, 16
_CELLS_PER_PORT = _CLASSES * _VERDICTS
_VERDICT_CELLS, _RECEIVED_CELLS = 512 * _CELLS_PER_PORT, 512 * _CLASSES
MARKED, EARLY_DROPPED, TAIL_DROPPED = 1, 2, 3
"""Values of the program's `verdict_t` (p4src/include/types.p4)."""


MODELS = tuple(
    gnmi.ModelData(name=name, organization=organization, version=version)
    for name, organization, version in (
        ("openconfig-interfaces", "OpenConfig working group", "3.8.1"),
        ("openconfig-qos", "OpenConfig working group", "2.2.0"),
        ("openconfig-p4rt", "OpenConfig working group", "1.0.0"),
        ("eeon-qos", "E-EON", "1.0.0"),
    )
)
"""The YANG modules."""


class Step(NamedTuple):
    """One element of a path: its name and, for a list, its key."""

    name: str
    key: str | None


class Marks(NamedTuple):
    """The program's counts at a port."""

    packets: int
    octets: int
    dropped_packets: int


@dataclass(frozen=True, slots=True)
class Port:
    """The state of a port at one moment. `stats` is None without a program, `marks` without E-EON's."""

    number: int
    name: str
    is_up: bool
    stats: PortStats | None = None
    queued_bytes: int = 0
    marks: Marks | None = None

    def dropped(self) -> int | None:
        """Returns the packets dropped at the port's queue: by its limit, or the program's AQM or buffer."""
        if self.stats is None:
            return None
        return self.stats["drops"].get("queue_full", 0) + (self.marks.dropped_packets if self.marks else 0)


Value = str | int


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of the model, and its value at a port; None if the port has none."""

    steps: tuple[Step, ...]
    value: Callable[[Port], Value | None]
    module: str | None = None
    """Module of the leaf, if it differs from its tree's."""
    is_identity: bool = False
    is_count: bool = False
    """Whether it is a number of 64 bits that changes with every packet, so that it is sampled and not sent on
    change."""

    @property
    def is_config(self) -> bool:
        """Whether it is configuration and not state."""
        return len(self.steps) > 1 and self.steps[-2].name == "config"

    @property
    def is_key(self) -> bool:
        """Whether it names the entry of a list."""
        return len(self.steps) > 1 and self.steps[-2].key == self.steps[-1].name


def _leaf(path: str, value: Callable[[Port], Value | None], **more: bool | str) -> Leaf:
    steps = []
    for word in path.split("/"):
        name, _, key = word.rstrip("]").partition("[")
        steps.append(Step(name, key or None))
    return Leaf(tuple(steps), value, **more)  # type: ignore[arg-type] # the keys are those of Leaf


def _count(path: str, value: Callable[[Port], int | None], **more: str) -> Leaf:
    return _leaf(path, value, is_count=True, **more)


def _stat(key: str) -> Callable[[Port], int | None]:
    # `key` is any of the counts, but TypedDict accepts only literals.
    return lambda port: None if port.stats is None else int(port.stats[key])  # type: ignore[literal-required]


def _queue_length(port: Port) -> int | None:
    return None if port.stats is None else port.queued_bytes


_IF = "interfaces/interface[name]"
_COUNTERS = f"{_IF}/state/counters"
_QOS = "qos/interfaces/interface[interface-id]"
_QUEUE = f"{_QOS}/output/queues/queue[name]"

LEAVES: tuple[Leaf, ...] = (
    _leaf(f"{_IF}/name", lambda port: port.name),
    _leaf(f"{_IF}/config/name", lambda port: port.name),
    _leaf(f"{_IF}/state/name", lambda port: port.name),
    _leaf(f"{_IF}/state/type", lambda port: "iana-if-type:ethernetCsmacd", is_identity=True),
    _leaf(f"{_IF}/state/oper-status", lambda port: "UP" if port.is_up else "DOWN"),
    # finsy and other clients read a port's number here.
    _leaf(f"{_IF}/state/ifindex", lambda port: port.number),
    # The model's numbers start at 1.
    _leaf(f"{_IF}/state/id", lambda port: port.number or None, module="openconfig-p4rt"),
    _count(f"{_COUNTERS}/in-pkts", _stat("rx_packets")),
    _count(f"{_COUNTERS}/in-octets", _stat("rx_bytes")),
    _count(f"{_COUNTERS}/out-pkts", _stat("tx_packets")),
    _count(f"{_COUNTERS}/out-octets", _stat("tx_bytes")),
    _count(f"{_COUNTERS}/out-discards", Port.dropped),
    _leaf(f"{_QOS}/interface-id", lambda port: port.name),
    _leaf(f"{_QOS}/config/interface-id", lambda port: port.name),
    _leaf(f"{_QOS}/state/interface-id", lambda port: port.name),
    _leaf(f"{_QUEUE}/name", lambda port: QUEUE),
    _leaf(f"{_QUEUE}/config/name", lambda port: QUEUE),
    _leaf(f"{_QUEUE}/state/name", lambda port: QUEUE),
    _count(f"{_QUEUE}/state/queue-len", _queue_length, module="eeon-qos"),
    _count(f"{_QUEUE}/state/max-queue-len", _stat("max_queue_bytes")),
    _count(f"{_QUEUE}/state/transmit-pkts", _stat("tx_packets")),
    _count(f"{_QUEUE}/state/transmit-octets", _stat("tx_bytes")),
    _count(f"{_QUEUE}/state/dropped-pkts", Port.dropped),
    _count(f"{_QUEUE}/state/ecn-marked-pkts", lambda port: port.marks and port.marks.packets),
    _count(f"{_QUEUE}/state/ecn-marked-octets", lambda port: port.marks and port.marks.octets),
)
"""All leaves, in the order in which they are sent."""

TREES = tuple(dict.fromkeys(leaf.steps[0].name for leaf in LEAVES))


def modules_of(leaf: Leaf) -> str:
    """Returns the module of the leaf's tree."""
    return f"openconfig-{leaf.steps[0].name}"


def module_of(leaf: Leaf) -> str:
    return leaf.module or modules_of(leaf)


def read(
    control: SwitchHandle, ports: Iterable[PortInfo], wants_counts: Callable[[str], bool]
) -> Iterator[Port]:
    """Yields the ports one after another; packets move in between. `wants_counts` returns whether the counts
    of the port with this name are needed. Without a program, a port has no counts."""
    has_marks: bool | None = None
    for number, name, is_up in ports:
        if not wants_counts(name):
            yield Port(number, name, is_up)
            continue
        try:
            if has_marks is None:
                has_marks = _has_verdicts(control)
            stats = control.port_stats(number)
            marks = _marks(control, number) if has_marks else None
            yield Port(number, name, is_up, stats, control.queue_bytes(number), marks)
        except EngineError:
            # The switch has no program, or is replacing it.
            yield Port(number, name, is_up)


def _has_verdicts(control: SwitchHandle) -> bool:
    """Returns whether the program has E-EON's counters: with both names and exactly this number of cells."""
    for name, cells in (("verdicts", _VERDICT_CELLS), ("received", _RECEIVED_CELLS)):
        try:
            control.read_counters(name, cells - 1)
        except EngineError:
            return False
        try:
            control.read_counters(name, cells)
        except EngineError:
            continue
        return False
    return True


def _marks(control: SwitchHandle, port: int) -> Marks:
    cells = control.read_counters_range("verdicts", port * _CELLS_PER_PORT, (port + 1) * _CELLS_PER_PORT)
    marked = cells[MARKED::_VERDICTS]
    dropped = cells[EARLY_DROPPED::_VERDICTS] + cells[TAIL_DROPPED::_VERDICTS]
    return Marks(
        packets=sum(packets for _, packets in marked),
        octets=sum(octets for octets, _ in marked),
        dropped_packets=sum(packets for _, packets in dropped),
    )
