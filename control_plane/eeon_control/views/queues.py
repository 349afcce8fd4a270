"""`eeon show queues`: current occupancy, buffer limit and AQM of every linked port."""

from eeon_control.fabric.read import FabricObservation, Wanted
from eeon_control.plan import classes
from eeon_control.port_settings import (
    AQM,
    BUFFER,
    BufferLimit,
    BufferLimitBesideHeld,
    BufferLimitInPackets,
    ByQueueSettings,
    Settings,
)
from eeon_control.topology import Topology
from eeon_control.units import Duration
from eeon_control.views.filters import counted
from eeon_control.views.kind import Kind
from eeon_control.views.port_tables import NO_REGISTERS, aqm_text, by_port, queue_aqms
from eeon_control.views.scale import bytes_exact, bytes_measured
from eeon_control.views.table import PORT, Column, Row, View

REGISTERS = ("occupancy_bytes", "occupancy_packets")
VIEW = Kind(
    "queues",
    """Show queues: current occupancy, buffer limit, AQM.""",
    Wanted(entries=True, registers=REGISTERS),
    lambda data: queues(data.topology, data.observed, data.targets.tick),
    ("--watch 1s --port leaf1:3",),
    filters={"queued": counted("occupancy_packets")},
    nonzero=counted("occupancy_packets"),
)

_BY_QUEUE = ByQueueSettings.text


def queues(topology: Topology, observed: FabricObservation, tick: Duration) -> View:
    """Shows queues. Needs entries and `REGISTERS`; ports of switches that did not answer are omitted."""
    rows: list[Row] = []
    for name, found in observed.switches.items():
        held, of_queues = by_port(found.entries), queue_aqms(found.entries)
        for port in topology.switches[name].ports:
            tables = held.get(port.number, {})
            buffer = tables.get(BUFFER.name)
            limit = None if buffer is None else BUFFER.from_action(buffer, tick)
            registers = None if found.registers is None else found.registers[port.number]
            rows.append(
                {
                    "port": port.name,
                    **{key: None if registers is None else registers[key] for key in REGISTERS},
                    **_buffer(limit),
                    "aqm": aqm_text(tables.get(AQM.name), of_queues.get(port.number, {}), tick),
                }
            )
    columns = [
        PORT,
        Column("occupancy_bytes", "occupancy", bytes_measured),
        Column("occupancy_packets", "packets"),
        Column("buffer_bytes", "buffer", bytes_exact),
        Column("aqm", "AQM", right=False),
    ]
    if any(row["buffer_packets"] is not None for row in rows):
        columns.insert(-1, Column("buffer_packets", "buffer, packets"))
    if any(row["held_packets"] == "outside" for row in rows):
        columns.insert(-1, Column("held_packets", "held packets", right=False))
    notes = [NO_REGISTERS] if any(one.registers is None for one in observed.switches.values()) else []
    notes += _classes(observed)
    if any(str(row["aqm"]).startswith(_BY_QUEUE) for row in rows):
        notes.append("by queue: the AQM of each priority compares its own queue alone")
    return View("queues", "queues", columns, rows, notes=notes)


def _buffer(limit: Settings | None) -> Row:
    """Returns the limit in its unit, and the place of held packets."""
    row: Row = {"buffer_bytes": None, "buffer_packets": None, "held_packets": None}
    match limit:
        case BufferLimit() | BufferLimitBesideHeld():
            outside = isinstance(limit, BufferLimitBesideHeld)
            row |= {"buffer_bytes": int(limit.limit), "held_packets": "outside" if outside else "inside"}
        case BufferLimitInPackets():
            row |= {"buffer_packets": int(limit.limit), "held_packets": "inside"}
    return row


def _classes(observed: FabricObservation) -> list[str]:
    """Returns a line for each mapping of packets to queues in the fabric; none without traffic classes."""
    switches: dict[str, list[str]] = {}
    for name, found in observed.switches.items():
        if text := classes.summary(found.entries):
            switches.setdefault(text, []).append(name)
    if len(switches) == 1 and len(next(iter(switches.values()))) == len(observed.switches):
        return [f"classes: {text}" for text in switches]
    return [f"classes of {', '.join(names)}: {text}" for text, names in switches.items()]
