"""Counters and registers of the linked ports, over P4Runtime, as plain values.

Cells are asked for one by one: the program's arrays cover all 512 ports, a switch has some dozens.
Registers are an extension: BMv2 does not offer them over P4Runtime, the engine does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar

from finsy.proto import p4r

from eeon_control import constants
from eeon_control import program as programs
from eeon_control.errors import FabricError, NoRegisters
from eeon_control.fabric.session import Session
from eeon_control.fabric.targets import Target, resolve
from eeon_control.fabric.together import each, open_all
from eeon_control.plan import TABLES, Entry
from eeon_control.topology import Switch, Topology

_T = TypeVar("_T")


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
    """What became of packets of one class at one port.

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
    """Read both counters of every switch. Raises FabricError."""
    readings = await _on_all(topology, targets, counters_of)
    return FabricCounters(
        tuple(count for received, _ in readings.values() for count in received),
        tuple(count for _, verdicts in readings.values() for count in verdicts),
    )


async def read_registers(
    topology: Topology, targets: Mapping[str, str | Target], names: Iterable[str]
) -> dict[tuple[str, int], dict[str, int]]:
    """Read per-port registers by P4Info alias: {(switch, port): {name: value}}. Raises FabricError."""
    wanted = tuple(names)
    readings = await _on_all(topology, targets, lambda session, switch: registers_of(session, switch, wanted))
    return {(name, port): values for name, ports in readings.items() for port, values in ports.items()}


async def read_entries(topology: Topology, targets: Mapping[str, str | Target]) -> dict[str, list[Entry]]:
    """Read what the controller's tables hold on every switch, defaults included. Raises FabricError."""
    return await _on_all(topology, targets, lambda session, switch: session.read_entries(TABLES))


async def read_status(topology: Topology, targets: Mapping[str, str | Target]) -> dict[str, str]:
    """One line a switch: ready, other program, or why not reached. Raises only for wrong targets."""
    schema = programs.load().schema()

    async def one(name: str, target: Target) -> str:
        try:
            async with Session(name, target, schema) as session:
                return "ready" if await session.has_pipeline() else "other program or none"
        except FabricError as error:
            return str(error).partition(": ")[2]

    resolved = resolve(topology, targets)
    lines = await asyncio.gather(*(one(name, target) for name, target in resolved.items()))
    return dict(zip(resolved, lines, strict=True))


async def _on_all(
    topology: Topology,
    targets: Mapping[str, str | Target],
    work: Callable[[Session, Switch], Awaitable[_T]],
) -> dict[str, _T]:
    schema = programs.load().schema()
    async with AsyncExitStack() as stack:
        sessions = await open_all(stack, resolve(topology, targets), schema, election_id=None)

        async def one(session: Session) -> _T:
            if not await session.has_pipeline():
                raise FabricError(f"{session.name}: does not run this program; `eeon config apply` loads it")
            return await work(session, topology.switches[session.name])

        return await each(sessions, one)


async def counters_of(session: Session, switch: Switch) -> tuple[list[ReceivedCount], list[VerdictCount]]:
    """Both counters of one switch's linked ports. Raises FabricError."""
    received_id = session.schema.counters["received"].id
    verdicts_id = session.schema.counters["verdicts"].id
    entities = [_counter_cell(received_id, index) for index, *_ in _received_cells(switch)]
    entities += [_counter_cell(verdicts_id, index) for index, *_ in _verdict_cells(switch)]
    data = {
        (entity.counter_entry.counter_id, entity.counter_entry.index.index): entity.counter_entry.data
        async for entity in session.read(entities)
    }
    if len(data) != len(entities):
        raise FabricError(f"{session.name}: asked for {len(entities)} counter cells, got {len(data)}")
    received = [
        ReceivedCount(
            switch.name,
            port,
            name,
            data[received_id, index].packet_count,
            data[received_id, index].byte_count,
        )
        for index, port, name in _received_cells(switch)
    ]
    verdicts = [
        VerdictCount(
            switch.name,
            port,
            name,
            verdict,
            data[verdicts_id, index].packet_count,
            data[verdicts_id, index].byte_count,
        )
        for index, port, name, verdict in _verdict_cells(switch)
    ]
    return received, verdicts


async def registers_of(session: Session, switch: Switch, names: tuple[str, ...]) -> dict[int, dict[str, int]]:
    """Per-port registers of one switch by P4Info alias. Raises NoRegisters or another FabricError."""
    ids = {}
    for name in names:
        try:
            ids[session.schema.registers[name].id] = name
        except (KeyError, ValueError):
            raise FabricError(f"{session.name}: the program has no register {name}") from None
    entities = [
        p4r.Entity(register_entry=p4r.RegisterEntry(register_id=key, index=p4r.Index(index=port.number)))
        for key in ids
        for port in switch.ports
    ]
    values: dict[int, dict[str, int]] = {port.number: {} for port in switch.ports}
    try:
        async for entity in session.read(entities):
            entry = entity.register_entry
            values[entry.index.index][ids[entry.register_id]] = int.from_bytes(entry.data.bitstring, "big")
    except FabricError as error:
        if "UNIMPLEMENTED" in str(error):
            raise NoRegisters(
                f"{session.name}: this target has no registers over P4Runtime (BMv2 has not, the engine has)"
            ) from None
        raise
    return values


def _counter_cell(counter_id: int, index: int) -> p4r.Entity:
    return p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=counter_id, index=p4r.Index(index=index)))


def _received_cells(switch: Switch) -> Iterator[tuple[int, int, str]]:
    for port in switch.ports:
        for number, name in enumerate(constants.CLASSES):
            yield port.number << 3 | number, port.number, name


def _verdict_cells(switch: Switch) -> Iterator[tuple[int, int, str, str]]:
    for port in switch.ports:
        for number, name in enumerate(constants.CLASSES):
            for verdict, verdict_name in enumerate(constants.VERDICTS):
                yield port.number << 6 | number << 3 | verdict, port.number, name, verdict_name
