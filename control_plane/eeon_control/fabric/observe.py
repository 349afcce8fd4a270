"""What switches hold and have counted, read from each on its own: one that fails does not hide the others.

Registers come over P4Runtime where the switch has them there (the engine), and over Thrift where it has not
(BMv2). The clock of a switch is only to be had over Thrift.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from eeon_control import program as programs
from eeon_control.errors import FabricError, NoRegisters
from eeon_control.fabric import thrift_door
from eeon_control.fabric.read import FabricCounters, counters_of, registers_of
from eeon_control.fabric.session import Session
from eeon_control.fabric.targets import Target, resolve
from eeon_control.plan import TABLES, Entry
from eeon_control.program import Program
from eeon_control.topology import Switch, Topology

_NS_TO_PS = 1000


@dataclass(frozen=True)
class Wanted:
    """What to read. `registers`: P4Info aliases of per-port registers."""

    entries: bool = False
    counters: bool = False
    registers: tuple[str, ...] = ()
    clock: bool = False


@dataclass(frozen=True)
class Observation:
    """One switch at one moment; what was not asked for is empty.

    `at_ps`: the computer's monotonic clock. `registers`: port -> alias -> value, None where the switch has
    none to be read. `elapsed_us`: since the switch started, None where its clock cannot be read. `missing`:
    why registers or clock are, when its Thrift server was to be asked and did not answer.
    """

    at_ps: int
    entries: tuple[Entry, ...] = ()
    counters: FabricCounters = field(default_factory=lambda: FabricCounters((), ()))
    registers: Mapping[int, Mapping[str, int]] | None = None
    elapsed_us: int | None = None
    missing: str | None = None

    def now_ticks(self, tick_ps: int) -> int | None:
        """The switch's clock in ticks of its timestamps."""
        return None if self.elapsed_us is None else self.elapsed_us * 1_000_000 // tick_ps


@dataclass(frozen=True)
class FabricObservation:
    """All switches asked, in topology order: those that answered, and why the others did not."""

    switches: Mapping[str, Observation]
    failures: Mapping[str, str]

    @property
    def counters(self) -> FabricCounters:
        """The counters of all switches that answered."""
        return FabricCounters(
            tuple(count for one in self.switches.values() for count in one.counters.received),
            tuple(count for one in self.switches.values() for count in one.counters.verdicts),
        )


async def observe(
    topology: Topology,
    targets: Mapping[str, str | Target],
    wanted: Wanted,
    part: Topology | None = None,
) -> FabricObservation:
    """Read from every switch and linked port of `topology`, or of the `part` of it that is given.

    Raises FabricError only when the targets do not fit the topology.
    """
    resolved = resolve(topology, targets)
    program = programs.load()
    schema = program.schema()
    looked_at = (topology if part is None else part).switches
    chosen = {name: resolved[name] for name in looked_at}

    async def one(name: str, target: Target) -> Observation | str:
        try:
            async with Session(name, target, schema) as session:
                if not await session.has_pipeline():
                    return f"{name}: does not run this program; `eeon config apply` loads it"
                return await observe_switch(session, looked_at[name], target, wanted, program)
        except FabricError as error:
            return str(error)

    results = await asyncio.gather(*(one(name, target) for name, target in chosen.items()))
    found = dict(zip(chosen, results, strict=True))
    return FabricObservation(
        {name: result for name, result in found.items() if isinstance(result, Observation)},
        {name: result for name, result in found.items() if isinstance(result, str)},
    )


async def observe_switch(
    session: Session, switch: Switch, target: Target, wanted: Wanted, program: Program
) -> Observation:
    """Read one switch on an open session. Raises FabricError."""
    entries = await session.read_entries(TABLES) if wanted.entries else []
    received, verdicts = await counters_of(session, switch) if wanted.counters else ([], [])
    registers: Mapping[int, Mapping[str, int]] | None = None
    elapsed_us = missing = None
    at_ps = time.monotonic_ns() * _NS_TO_PS
    has_registers = True
    if wanted.registers:
        try:
            registers = await registers_of(session, switch, wanted.registers)
        except NoRegisters:
            has_registers = False
    if target.thrift is not None and (wanted.clock or not has_registers):
        try:
            if has_registers:
                elapsed_us = await thrift_door.read_clock(session.name, target)
            else:
                ports = [port.number for port in switch.ports]
                reading = await thrift_door.read(session.name, target, program, ports, wanted.registers)
                registers, elapsed_us = reading.registers, reading.elapsed_us
        except FabricError as error:
            missing = str(error)
    counters = FabricCounters(tuple(received), tuple(verdicts))
    return Observation(at_ps, tuple(entries), counters, registers, elapsed_us, missing)
