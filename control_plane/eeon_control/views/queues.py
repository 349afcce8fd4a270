"""`eeon show queues`: occupancy now, buffer limit and AQM of every linked port."""

from __future__ import annotations

from eeon_control.fabric.observe import FabricObservation
from eeon_control.topology import Topology
from eeon_control.units import Duration
from eeon_control.views.held import NO_REGISTERS, aqm_text, by_port
from eeon_control.views.table import PORT, Column, Row, View, bytes_text, none

REGISTERS = ("occupancy_bytes", "occupancy_packets")


def queues(topology: Topology, observed: FabricObservation, tick: Duration) -> View:
    """Needs entries and `REGISTERS`; ports of switches that did not answer are left out."""
    rows: list[Row] = []
    for name, found in observed.switches.items():
        held = by_port(found.entries)
        for port in topology.switches[name].ports:
            tables = held.get(port.number, {})
            buffer = tables.get("port_buffer")
            registers = None if found.registers is None else found.registers[port.number]
            rows.append(
                {
                    "port": port.name,
                    **{key: None if registers is None else registers[key] for key in REGISTERS},
                    "buffer_bytes": dict(buffer.params)["buffer_bytes"] if buffer else None,
                    "aqm": aqm_text(tables.get("port_aqm"), tick),
                }
            )
    columns = [
        PORT,
        Column("occupancy_bytes", "occupancy", bytes_text),
        Column("occupancy_packets", "packets", none),
        Column("buffer_bytes", "buffer", bytes_text),
        Column("aqm", "AQM", right=False),
    ]
    notes = [NO_REGISTERS] if any(one.registers is None for one in observed.switches.values()) else []
    return View("queues", "queues", columns, rows, notes=notes)
