"""Reads the entries, counters and registers of switches as plain values.

`read_counters`, `read_registers`, `read_entries` and `read_status` read all switches or raise one error.
`observe` reads each switch separately: a failure of one does not hide the others.

Cells are requested one by one: the program's arrays cover all possible ports, of which a switch has some
dozens. Registers are read over P4Runtime if the switch supports that (the engine), else over Thrift (BMv2).
A switch's clock is available only over Thrift.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from finsy import GRPCStatusCode
from finsy.proto import p4r

from eeon_control import constants
from eeon_control import program as programs
from eeon_control.errors import FabricError, NoRegisters
from eeon_control.fabric import port_states, thrift
from eeon_control.fabric.concurrent import in_turn
from eeon_control.fabric.routes import routes_of
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.thrift import ThriftClient
from eeon_control.plan import TABLES, Entry, pfc, qcn
from eeon_control.program import Program
from eeon_control.routing import SwitchRoutes
from eeon_control.targets import Target, resolve
from eeon_control.topology import Switch, Topology

Cell = tuple[str, int]
"""A cell of a counter or register: its P4Info alias, and its index."""

_NS_TO_PS = 1000
_NO_REGISTERS = "this target serves no registers over P4Runtime (BMv2 does not, the engine does)"
# The counters' number of cells for a port's classes, and for a class's verdicts.
_CLASS_CELLS = constants.RECEIVED_CELLS // constants.PORT_CELLS
_VERDICT_CELLS = constants.VERDICT_CELLS // constants.RECEIVED_CELLS


@dataclass(frozen=True)
class ReceivedCount:
    """Packets of one class that entered a switch on one port. Bytes are frame bytes without FCS."""

    switch: str
    port: int
    packet_class: str
    packets: int
    bytes: int


@dataclass(frozen=True)
class VerdictCount:
    """Packets of one class with one verdict at one port.

    `port` is the egress port for forwarded, marked, early_dropped and tail_dropped, and the ingress port for
    the other verdicts.
    """

    switch: str
    port: int
    packet_class: str
    verdict: str
    packets: int
    bytes: int


@dataclass(frozen=True)
class FabricCounters:
    """Every cell of every linked port, zeros included, by switch, port, class and verdict."""

    received: tuple[ReceivedCount, ...]
    verdicts: tuple[VerdictCount, ...]


async def read_counters(topology: Topology, targets: Mapping[str, str | Target]) -> FabricCounters:
    """Reads both counters of every switch. Raises FabricError."""
    return (await _observe_all(topology, targets, Wanted(counters=True))).counters


async def read_registers(
    topology: Topology, targets: Mapping[str, str | Target], names: Iterable[str]
) -> dict[tuple[str, int], dict[str, int]]:
    """Reads per-port registers by P4Info alias: {(switch, port): {name: value}}. Raises FabricError."""
    found = await _observe_all(topology, targets, Wanted(registers=tuple(names)))
    registers: dict[tuple[str, int], dict[str, int]] = {}
    for name, one in found.switches.items():
        if one.registers is None:
            raise NoRegisters(f"{name}: {_NO_REGISTERS}")
        registers |= {(name, port): dict(values) for port, values in one.registers.items()}
    return registers


async def read_entries(topology: Topology, targets: Mapping[str, str | Target]) -> dict[str, list[Entry]]:
    """Reads the controller's tables on every switch, defaults included. Raises FabricError."""
    found = await _observe_all(topology, targets, Wanted(entries=True))
    return {name: list(one.entries) for name, one in found.switches.items()}


async def read_status(topology: Topology, targets: Mapping[str, str | Target]) -> dict[str, str]:
    """Returns one line per switch: ready, other program, or why unreachable. Raises for wrong targets."""
    schema = programs.load().schema()

    async def one(name: str, target: Target) -> str:
        async with P4RuntimeSession(name, target, schema) as session:
            return "ready" if await session.has_pipeline() else "other program or none"

    resolved = resolve(topology, targets)
    lines = await in_turn(one(name, target) for name, target in resolved.items())
    return {
        name: str(line).partition(": ")[2] if isinstance(line, FabricError) else line
        for name, line in zip(resolved, lines, strict=True)
    }


async def _observe_all(
    topology: Topology, targets: Mapping[str, str | Target], wanted: Wanted
) -> FabricObservation:
    """Reads every switch. Raises FabricError with the reasons of those that could not be read."""
    found = await observe(topology, targets, wanted)
    if found.failures:
        raise FabricError("\n".join(found.failures.values()))
    return found


async def counters_of(session: P4RuntimeSession, switch: Switch) -> FabricCounters:
    """Returns both counters of one switch's linked ports. Raises FabricError."""
    received = {
        ("received", port.number * _CLASS_CELLS + number): (port.number, name)
        for port in switch.ports
        for number, name in enumerate(constants.CLASSES)
    }
    verdicts = {
        ("verdicts", index * _VERDICT_CELLS + number): (*of_class, name)
        for (_, index), of_class in received.items()
        for number, name in enumerate(constants.VERDICTS)
    }
    cells = [*received, *verdicts]
    data = await _counters(session, cells)
    if len(data) != len(cells):
        raise FabricError(f"{session.name}: asked for {len(cells)} counter cells, got {len(data)}")
    return FabricCounters(
        tuple(ReceivedCount(switch.name, *place, *data[cell]) for cell, place in received.items()),
        tuple(VerdictCount(switch.name, *place, *data[cell]) for cell, place in verdicts.items()),
    )


async def _registers(
    session: P4RuntimeSession, target: Target, program: Program, cells: Collection[Cell]
) -> dict[Cell, int]:
    """Reads registers over P4Runtime, else over Thrift. Raises FabricError; NoRegisters without either."""
    try:
        return await _over_p4runtime(session, cells)
    except NoRegisters as error:
        if target.thrift is None:
            raise NoRegisters(f"{error}; give `thrift` in the targets file") from None
        return await thrift.read(session.name, target, program, cells)


async def _over_p4runtime(session: P4RuntimeSession, cells: Collection[Cell]) -> dict[Cell, int]:
    ids = {}
    for name in dict.fromkeys(name for name, _ in cells):
        try:
            ids[name] = session.schema.registers[name].id
        except (KeyError, ValueError):
            raise FabricError(f"{session.name}: the program has no register {name}") from None
    names = {number: name for name, number in ids.items()}
    entities = [
        p4r.Entity(register_entry=p4r.RegisterEntry(register_id=ids[name], index=p4r.Index(index=index)))
        for name, index in cells
    ]
    values: dict[Cell, int] = {}
    try:
        async for entity in session.read(entities):
            entry = entity.register_entry
            value = int.from_bytes(entry.data.bitstring, "big")
            values[names[entry.register_id], entry.index.index] = value
    except FabricError as error:
        if error.code is GRPCStatusCode.UNIMPLEMENTED:
            raise NoRegisters(f"{session.name}: {_NO_REGISTERS}") from None
        raise
    if len(values) != len(entities):
        raise FabricError(f"{session.name}: asked for {len(entities)} register cells, got {len(values)}")
    return values


@dataclass(frozen=True)
class Wanted:
    """The parts to read. `routes`: with their groups; `registers`: P4Info aliases of per-port registers;
    `ports`: link states; `queues`: the tables of `OF_QUEUES` whose cells to read, with `entries`."""

    entries: bool = False
    routes: bool = False
    counters: bool = False
    registers: tuple[str, ...] = ()
    clock: bool = False
    ports: bool = False
    queues: tuple[str, ...] = ()


@dataclass(frozen=True)
class Observation:
    """One switch at one moment; parts that were not requested are empty.

    `at_ps`: the computer's monotonic clock. `registers`: port -> alias -> value, None if the switch's
    registers cannot be read. `elapsed_us`: since the switch started, None if its clock cannot be read.
    `missing`: why registers, ports or clock are missing, after an error. `ports`: number -> whether it is up,
    None if the switch does not report it. `cells`: the values of `OF_QUEUES`, without registers if these
    cannot be read.
    """

    at_ps: int
    entries: tuple[Entry, ...] = ()
    counters: FabricCounters = field(default_factory=lambda: FabricCounters((), ()))
    registers: Mapping[int, Mapping[str, int]] | None = None
    elapsed_us: int | None = None
    missing: str | None = None
    routes: SwitchRoutes | None = None
    ports: Mapping[int, bool] | None = None
    cells: Mapping[Cell, int] = field(default_factory=dict)

    def now_ticks(self, tick_ps: int) -> int | None:
        """Returns the switch's clock in ticks of its timestamps."""
        return None if self.elapsed_us is None else self.elapsed_us * 1_000_000 // tick_ps


@dataclass(frozen=True)
class FabricObservation:
    """The observed switches, in topology order: those that answered, and why the others did not."""

    switches: Mapping[str, Observation]
    failures: Mapping[str, str]

    @property
    def down(self) -> dict[str, frozenset[int]]:
        """Switch -> numbers of the ports that it reports as down."""
        return {
            name: frozenset(number for number, up in (one.ports or {}).items() if not up)
            for name, one in self.switches.items()
        }

    @property
    def counters(self) -> FabricCounters:
        return FabricCounters(
            tuple(count for one in self.switches.values() for count in one.counters.received),
            tuple(count for one in self.switches.values() for count in one.counters.verdicts),
        )


async def observe(
    topology: Topology, targets: Mapping[str, str | Target], wanted: Wanted, part: Topology | None = None
) -> FabricObservation:
    """Reads every switch and linked port of `topology`, or only those of its `part`.

    Raises FabricError only if the targets do not fit the topology.
    """
    resolved = resolve(topology, targets)
    program = programs.load()
    schema = program.schema()
    looked_at = (topology if part is None else part).switches
    chosen = {name: resolved[name] for name in looked_at}

    async def one(name: str, target: Target) -> Observation:
        async with P4RuntimeSession(name, target, schema) as session:
            if not await session.has_pipeline():
                raise FabricError(f"{name}: does not run this program; `eeon config apply` loads it")
            return await observe_switch(session, looked_at[name], target, wanted, program)

    results = await in_turn(one(name, target) for name, target in chosen.items())
    found = dict(zip(chosen, results, strict=True))
    return FabricObservation(
        {name: result for name, result in found.items() if isinstance(result, Observation)},
        {name: str(result) for name, result in found.items() if isinstance(result, FabricError)},
    )


async def observe_switch(
    session: P4RuntimeSession,
    switch: Switch,
    target: Target,
    wanted: Wanted,
    program: Program,
    entries: Sequence[Entry] = (),
) -> Observation:
    """Reads one switch on an open session. `entries`: known ones, if none are wanted. Raises FabricError."""
    if wanted.entries:
        entries = await session.read_entries(TABLES)
    routes = await routes_of(session) if wanted.routes else None
    counters = await counters_of(session, switch) if wanted.counters else FabricCounters((), ())
    registers: Mapping[int, Mapping[str, int]] | None = None
    ports: Mapping[int, bool] | None = None
    elapsed_us = missing = None
    if wanted.ports:
        try:
            ports = await port_states.read(session, target)
        except FabricError as error:
            missing = str(error)
    of_ports = [(name, port.number) for name in wanted.registers for port in switch.ports]
    counted, kept = _cells_of(switch, entries, wanted.queues)
    cells = await _packets(session, counted)
    at_ps = time.monotonic_ns() * _NS_TO_PS
    try:
        if of_ports or kept:
            found = await _registers(session, target, program, [*of_ports, *kept])
            cells |= {cell: found[cell] for cell in kept}
        if of_ports:
            registers = {
                port.number: {name: found[name, port.number] for name in wanted.registers}
                for port in switch.ports
            }
        if wanted.clock and target.thrift is not None:
            elapsed_us = await thrift.ask(session.name, target, ThriftClient.elapsed_us)
    except NoRegisters:
        pass
    except FabricError as error:
        if error.code is not None:  # of P4Runtime
            raise
        missing = str(error)
    return Observation(at_ps, tuple(entries), counters, registers, elapsed_us, missing, routes, ports, cells)


@dataclass(frozen=True)
class QueueCells:
    """The counters and registers of each queue with an entry in a table, and one counter of each port."""

    counters: tuple[str, ...]
    registers: tuple[str, ...]
    of_port: str


OF_QUEUES = {
    # `pause_sent_at`: time of the current pause sent; 0: none.
    pfc.GROUPS: QueueCells(
        ("pauses_sent", "pauses_received", "lossless_dropped"),
        ("ingress_bytes", "pause_sent_at"),
        "control_ignored",
    ),
    qcn.POINTS: QueueCells(("qcn_samples", "cnms_made"), (), "cnms_ignored"),
}


def _cells_of(
    switch: Switch, entries: Iterable[Entry], tables: Iterable[str]
) -> tuple[list[Cell], list[Cell]]:
    """Returns the counters and the registers of the queues with an entry in these tables."""
    counters: list[Cell] = []
    registers: list[Cell] = []
    for table in tables:
        of = OF_QUEUES[table]
        queues = [one.match[0].value for one in entries if one.table == table and not one.is_default]
        counters += [(name, queue) for name in of.counters for queue in queues]
        counters += [(of.of_port, port.number) for port in switch.ports]
        registers += [(name, queue) for name in of.registers for queue in queues]
    return counters, registers


@dataclass(frozen=True)
class QueueLook:
    """A pausable queue: waiting packets, and since the switch started, departed packets and received pauses,
    obeyed or not."""

    waiting: int
    departed: int
    pauses: int


async def look_at_queues(
    session: P4RuntimeSession, target: Target, queues: Sequence[int], program: Program
) -> dict[int, QueueLook]:
    """Reads pausable queues. The tickets of their packets distinguish waiting packets from departed ones.

    Raises FabricError, also if registers can be read neither over P4Runtime nor over Thrift.
    """
    counts = await _packets(session, [("pauses_received", queue) for queue in queues])
    names = ("ticket_next", "ticket_serving")
    cells = [(name, queue) for name in names for queue in queues]
    registers = await _registers(session, target, program, cells)
    values = 1 << constants.TICKET_BITS
    return {
        queue: QueueLook(
            (registers["ticket_next", queue] - registers["ticket_serving", queue]) % values,
            registers["ticket_serving", queue],
            counts.get(("pauses_received", queue), 0),
        )
        for queue in queues
    }


async def _packets(session: P4RuntimeSession, cells: Collection[Cell]) -> dict[Cell, int]:
    return {cell: packets for cell, (packets, _) in (await _counters(session, cells)).items()}


async def _counters(session: P4RuntimeSession, cells: Collection[Cell]) -> dict[Cell, tuple[int, int]]:
    """Reads counters, packets and bytes, by P4Info alias and index. Raises FabricError."""
    ids = {name: session.schema.counters[name].id for name, _ in cells}
    names = {number: name for name, number in ids.items()}
    wanted = [
        p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=ids[name], index=p4r.Index(index=index)))
        for name, index in cells
    ]
    return {
        (names[one.counter_id], one.index.index): (one.data.packet_count, one.data.byte_count)
        async for entity in session.read(wanted)
        if (one := entity.counter_entry).counter_id in names
    }
