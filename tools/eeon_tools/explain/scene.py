"""The switch to explain: its program, entries and ports, built anew for each packet.

There are two kinds: a switch of a topology with the controller's planned entries, and any BMv2 JSON on a
switch without links, with the entries of a file or without entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from eeon_control import config as configs
from eeon_control import plan
from eeon_control import program as programs
from eeon_control import topology as topologies
from eeon_control.config import PRIORITIES, FabricConfig
from eeon_control.constants import CPU_PORT, DROP_PORT
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.plan import Entry
from eeon_control.program import Program
from eeon_control.topology import Topology

from eeon_tools.engine import load_engine, load_program, read_program
from eeon_tools.errors import InputError
from eeon_tools.explain.source import Source
from eeon_tools.replay.spec import CLASS_GATE_REGISTER, GATE_REGISTER, TICK_PS

if TYPE_CHECKING:
    from eeon_engine import Switch, SwitchHandle
    from finsy.proto import p4i, p4r

BMV2_TICK_PS = 1_000_000
"""Picoseconds; timestamps of other programs count microseconds, as on BMv2."""
_REGISTER = re.compile(r"\s*([\w.$]+)\s*\[\s*(\d+)\s*\]\s*=\s*(0[xX][0-9a-fA-F]+|\d+)\s*")
_MAX_VALUE_BITS = 2048


@dataclass(frozen=True)
class Write:
    """Entries of a switch: its program's `P4Info` and a P4Runtime `WriteRequest`, both messages."""

    p4info: p4i.P4Info
    request: p4r.WriteRequest

    @classmethod
    def planned(cls, entries: Iterable[Entry], program: Program) -> Write:
        """Returns the entries that the controller plans for a switch, without clone sessions: they only make
        copies, which are not explained."""
        # Many commands import this module, and only this needs gRPC.
        from eeon_control.fabric.table_entries import encode
        from finsy.proto import p4r

        schema = program.schema()
        updates = [
            p4r.Update(
                type=p4r.Update.MODIFY if entry.is_default else p4r.Update.INSERT,
                entity=p4r.Entity(table_entry=encode(entry, schema, watches=False)),
            )
            for entry in entries
            if entry.table != CLONE_SESSIONS
        ]
        return cls(schema.p4info, p4r.WriteRequest(updates=updates))

    def apply(self, switch: SwitchHandle) -> None:
        """Writes the entries into a switch that has none. Raises the engine's EngineError."""
        from eeon_engine import p4runtime

        p4runtime.write(switch, self.p4info, self.request)


@dataclass(frozen=True)
class SceneFabric:
    """The topology and configuration that a switch is part of, and the planned entries of each switch."""

    topology: Topology
    config: FabricConfig
    entries: Mapping[str, Write]


@dataclass(frozen=True)
class Scene:
    """A switch as data. `ports`: their numbers and neighbours; empty for a switch that has all of v1model's.
    `write`: the entries for a switch without a fabric."""

    source: Source
    program: bytes
    switch: str
    tick_ps: int
    seed: int
    fabric: SceneFabric | None = None
    ports: Mapping[int, str] = field(default_factory=dict)
    is_eeon: bool = False
    write: Write | None = None

    def check_port(self, port: int) -> None:
        """Raises InputError for a port that the switch does not have."""
        if port == CPU_PORT or (port in self.ports if self.ports else 0 <= port < CPU_PORT):
            return
        there = ", ".join(str(number) for number in sorted(self.ports)) or f"0 to {CPU_PORT - 1}"
        raise InputError("--port", str(port), f"{self.switch} has ports {there}, and {CPU_PORT} to the CPU")

    def make(self) -> Switch:
        """Returns the engine's switch, with its entries, at time zero. Raises UnavailableError without an
        engine."""
        engine = load_engine()
        program = load_program(self.program, for_tracing=True)
        try:
            if self.fabric is None:
                gate = GATE_REGISTER if self.is_eeon else None
                alone: Switch = engine.Switch(
                    program, tick_ps=self.tick_ps, seed=self.seed, gate_register=gate
                )
                try:
                    if self.write is not None:
                        self.write.apply(alone)
                except engine.EngineError as error:
                    raise InputError("--entries", "", str(error)) from error
                return alone
            place = self.fabric.topology.switches[self.switch]
            ports = [
                engine.Port(port.number, rate_bps=int(port.rate), overhead_bytes=int(port.overhead))
                for port in place.ports
            ]
            switch: Switch = engine.Switch(
                program,
                device_id=place.device_id,
                ports=ports,
                tick_ps=self.tick_ps,
                cpu_port=CPU_PORT,
                drop_port=DROP_PORT,
                gate_register=GATE_REGISTER,
                class_gate_register=CLASS_GATE_REGISTER if self.fabric.config.classes else None,
                priorities=PRIORITIES if self.fabric.config.classes else 1,
                seed=self.seed,
            )
            self.fabric.entries[self.switch].apply(switch)
        except engine.EngineError as error:
            raise InputError(self.source.name, "", str(error)) from error
        return switch


def of_topology(topology: str, config: Sequence[str], switch: str | None, seed: int) -> Scene:
    """Returns a switch of a fabric; without a name the first leaf. Raises the controller's errors or
    InputError."""
    if not config:
        raise InputError("--topology", topology, "needs --config; `eeon config list` shows those that ship")
    fabric = topologies.load(topology)
    settings = configs.load(*config)
    program = programs.load()
    name = switch if switch is not None else fabric.leaves[0].name
    if name not in fabric.switches:
        known = list(fabric.switches)
        there = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
        raise InputError("--switch", name, f"is not a switch of {fabric.name}; there are {there}")
    planned = plan.intended(fabric, settings, TICK_PS)
    entries = {each: Write.planned(of_switch, program) for each, of_switch in planned.items()}
    return Scene(
        source=Source(program.json),
        program=program.json,
        switch=name,
        tick_ps=TICK_PS,
        seed=seed,
        fabric=SceneFabric(fabric, settings, entries),
        ports={port.number: port.peer.node for port in fabric.switches[name].ports},
        is_eeon=True,
    )


def of_program(
    path: Path | None, seed: int, p4info: Path | None = None, entries: Path | None = None
) -> Scene:
    """Returns a switch that runs any BMv2 JSON, or the E-EON program, with the entries in the program itself.

    `entries`: a file of `runtime_file`, with the program's `p4info`; None for no further entries.
    """
    write = None
    if entries is not None:
        if p4info is None:
            raise InputError(
                "--entries", str(entries), "needs --p4info, which p4c-bm2-ss writes with --p4runtime-files"
            )
        from eeon_tools.explain.runtime_file import read_entries, read_p4info

        info = read_p4info(p4info)
        write = Write(info, read_entries(entries, info))
    if path is None:
        shipped = programs.load()
        return Scene(Source(shipped.json), shipped.json, "switch", TICK_PS, seed, is_eeon=True, write=write)
    text, _ = read_program(path, for_tracing=True)
    try:
        source = Source(text)
    except ValueError as error:  # Python reads no numbers of thousands of digits, which the engine ignores
        raise InputError(path, "", f"cannot be explained: {error}") from error
    is_eeon = source.has_field("scalars.metadata_t.verdict") and any(
        name.endswith(".port_eee") for name in source.tables
    )
    tick_ps = TICK_PS if is_eeon else BMV2_TICK_PS
    return Scene(source, text, path.stem, tick_ps, seed, is_eeon=is_eeon, write=write)


@dataclass(frozen=True)
class RegisterValue:
    """A register cell to set before the packet arrives."""

    name: str
    index: int
    value: int

    @classmethod
    def parse(cls, text: str) -> RegisterValue:
        """Parses `name[index]=value`. Raises InputError for any other form."""
        found = _REGISTER.fullmatch(text) if len(text) <= 2 * _MAX_VALUE_BITS else None
        if found is None:
            raise InputError(
                "--register", text[:60], "write name[index]=value, as in occupancy_bytes[3]=31500"
            )
        index, value = int(found[2]), int(found[3], 0)
        if value.bit_length() > _MAX_VALUE_BITS or index >= 1 << 32:
            raise InputError("--register", text[:60], "is beyond the largest register or value")
        return cls(found[1], index, value)

    def write(self, switch: SwitchHandle) -> None:
        """Sets the cell. Raises InputError with the engine's reason."""
        engine = load_engine()
        data = self.value.to_bytes(max(1, (self.value.bit_length() + 7) // 8), "big")
        try:
            switch.register_write(self.name, self.index, data)
        except engine.EngineError as error:
            raise InputError("--register", f"{self.name}[{self.index}]", str(error)) from error
