"""What `eeon show` shows, as rows of plain values. Pure: readings in, rows out; printing is cli's.

A row's values are whole numbers in base units (bytes, picoseconds, packets) or text, as JSON output has them;
a column says how a person reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eeon_control import constants
from eeon_control.fabric.read import FabricCounters
from eeon_control.plan import Action, Entry
from eeon_control.topology import Topology
from eeon_control.units import Bytes, DataRate, Duration, Packets

Row = dict[str, Any]
Registers = Mapping[tuple[str, int], Mapping[str, int]]

QUEUE_REGISTERS = ("occupancy_bytes", "occupancy_packets")
EEE_REGISTERS = ("eee_state", "lpi_ticks", "wakes", "held_packets")

# Verdicts that are counted at the egress port when a packet is sent, and those that lose it.
_SENT = ("forwarded", "marked")
_DROPPED = ("early_dropped", "tail_dropped", "no_route", "ttl_expired", "malformed")


@dataclass(frozen=True)
class Column:
    """A key of the rows, its heading, and how a value is written for people."""

    key: str
    heading: str
    text: Callable[[Any], str] = str
    right: bool = True


@dataclass
class View:
    """A table: title, columns, rows, and notes that go under it."""

    title: str
    columns: list[Column]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)


_PORT = [Column("port", "port", right=False)]


def fabric(topology: Topology, addresses: Mapping[str, str], status: Mapping[str, str]) -> View:
    """Every switch: what it is, where its P4Runtime server is, whether it runs the program."""
    rows = [
        {
            "switch": switch.name,
            "role": switch.role.value,
            "device_id": switch.device_id,
            "ports": len(switch.ports),
            "address": addresses[switch.name],
            "status": status[switch.name],
        }
        for switch in topology.switches.values()
    ]
    columns = [
        Column("switch", "switch", right=False),
        Column("role", "role", right=False),
        Column("device_id", "device id"),
        Column("ports", "ports"),
        Column("address", "P4Runtime", right=False),
        Column("status", "status", right=False),
    ]
    return View(f"{topology.name}: {topology.description}", columns, rows)


def ports(topology: Topology, counters: FabricCounters) -> View:
    """Every linked port: role, peer, speed, and what it received, sent and dropped."""
    received: Counter[tuple[str, int]] = Counter()
    received_bytes: Counter[tuple[str, int]] = Counter()
    for count in counters.received:
        received[count.switch, count.port] += count.packets
        received_bytes[count.switch, count.port] += count.bytes
    sent: Counter[tuple[str, int]] = Counter()
    sent_bytes: Counter[tuple[str, int]] = Counter()
    dropped: Counter[tuple[str, int]] = Counter()
    for verdict in counters.verdicts:
        key = verdict.switch, verdict.port
        if verdict.verdict in _SENT:
            sent[key] += verdict.packets
            sent_bytes[key] += verdict.bytes
        elif verdict.verdict in _DROPPED:
            dropped[key] += verdict.packets
    rows = []
    for port in topology.ports():
        key = port.node, port.number
        rows.append(
            {
                "port": port.name,
                "role": port.role.value,
                "peer": str(port.peer),
                "rate_bps": int(port.rate),
                "delay_ps": int(port.delay),
                "received_packets": received[key],
                "received_bytes": received_bytes[key],
                "sent_packets": sent[key],
                "sent_bytes": sent_bytes[key],
                "dropped_packets": dropped[key],
            }
        )
    columns = [
        *_PORT,
        Column("role", "role", right=False),
        Column("peer", "peer", right=False),
        Column("rate_bps", "rate", _rate),
        Column("delay_ps", "delay", _duration),
        Column("received_packets", "received"),
        Column("received_bytes", "", _bytes),
        Column("sent_packets", "sent"),
        Column("sent_bytes", "", _bytes),
        Column("dropped_packets", "dropped"),
    ]
    return View(
        "ports",
        columns,
        rows,
        ["dropped: at this port as egress by queue or AQM, or on arrival here (no route, TTL, malformed)"],
    )


def queues(topology: Topology, entries: Mapping[str, Iterable[Entry]], registers: Registers | None) -> View:
    """Every linked port: occupancy now, buffer limit and AQM as the switch has them."""
    rows: list[Row] = []
    held = {name: _by_port(of) for name, of in entries.items()}
    for port in topology.ports():
        tables = held[port.node].get(port.number, {})
        buffer = tables.get("port_buffer")
        row: Row = {
            "port": port.name,
            "occupancy_bytes": None,
            "occupancy_packets": None,
            "buffer_bytes": dict(buffer.params)["buffer_bytes"] if buffer else None,
            "aqm": _aqm_text(tables.get("port_aqm")),
        }
        if registers is not None:
            row |= {name: registers[port.node, port.number][name] for name in QUEUE_REGISTERS}
        rows.append(row)
    columns = [
        *_PORT,
        Column("occupancy_bytes", "occupancy", _bytes),
        Column("occupancy_packets", "packets", _none),
        Column("buffer_bytes", "buffer", _bytes),
        Column("aqm", "AQM", right=False),
    ]
    return View("queues", columns, rows, _without(registers))


def ecn(topology: Topology, counters: FabricCounters, *, nonzero: bool) -> View:
    """Every port and class: forwarded, marked, dropped early or by a full buffer."""
    verdicts = constants.VERDICTS[:4]
    cells: dict[tuple[str, int, str], Row] = {}
    for count in counters.verdicts:
        if count.verdict not in verdicts:
            continue
        row = cells.setdefault(
            (count.switch, count.port, count.packet_class),
            {"port": f"{count.switch}:{count.port}", "class": count.packet_class},
        )
        row[count.verdict] = count.packets
    rows = [row for row in cells.values() if not nonzero or any(row[name] for name in verdicts)]
    columns = [
        *_PORT,
        Column("class", "class", right=False),
        *(Column(name, name.replace("_", " ")) for name in verdicts),
    ]
    notes = ["forwarded: sent without a new mark; marked: sent and marked CE by this switch"]
    if nonzero and not rows:
        notes.append("no packet has been counted")
    return View("ECN and queue drops, in packets", columns, rows, notes)


def eee(
    topology: Topology, entries: Mapping[str, Iterable[Entry]], registers: Registers | None, tick: Duration
) -> View:
    """Every linked port: EEE as the switch has it, and its state, time in low-power idle and wakes."""
    rows: list[Row] = []
    held = {name: _by_port(of) for name, of in entries.items()}
    for port in topology.ports():
        row: Row = {
            "port": port.name,
            **_eee_configured(held[port.node].get(port.number, {}).get("port_eee"), tick),
            "state": None,
            "lpi_ps": None,
            "wakes": None,
            "held_packets": None,
        }
        if registers is not None:
            values = registers[port.node, port.number]
            row |= {
                "state": _eee_state(values["eee_state"]),
                "lpi_ps": values["lpi_ticks"] * tick,
                "wakes": values["wakes"],
                "held_packets": values["held_packets"],
            }
        rows.append(row)
    columns = [
        *_PORT,
        Column("mode", "mode", right=False),
        Column("hold_ps", "hold", _duration),
        Column("trigger", "trigger"),
        Column("stall_ps", "stall", _duration),
        Column("state", "state", _none, right=False),
        Column("lpi_ps", "time in LPI", _duration),
        Column("wakes", "wakes", _none),
        Column("held_packets", "held", _none),
    ]
    return View("EEE", columns, rows, [*_without(registers), "time in LPI is counted when a sleep ends"])


def counters(readings: FabricCounters, *, nonzero: bool) -> View:
    """Every counter cell of every linked port."""
    rows: list[Row] = [
        {
            "port": f"{one.switch}:{one.port}",
            "class": one.packet_class,
            "counter": "received",
            "packets": one.packets,
            "bytes": one.bytes,
        }
        for one in readings.received
    ]
    rows += [
        {
            "port": f"{one.switch}:{one.port}",
            "class": one.packet_class,
            "counter": one.verdict,
            "packets": one.packets,
            "bytes": one.bytes,
        }
        for one in readings.verdicts
    ]
    if nonzero:
        rows = [row for row in rows if row["packets"]]
    columns = [
        *_PORT,
        Column("class", "class", right=False),
        Column("counter", "counter", right=False),
        Column("packets", "packets"),
        Column("bytes", "bytes", _bytes),
    ]
    return View("counters", columns, rows)


def _by_port(entries: Iterable[Entry]) -> dict[int, dict[str, Action]]:
    """{port: {table: action}} of the per-port tables."""
    found: dict[int, dict[str, Action]] = {}
    for entry in entries:
        if entry.table.startswith("port_") and not entry.is_default and entry.actions:
            found.setdefault(entry.match[0].value, {})[entry.table] = entry.actions[0]
    return found


def _aqm_text(action: Action | None) -> str:
    if action is None:
        return "drop_tail (program default)"
    values = dict(action.params)
    match action.name:
        case "mark_threshold":
            text = f"mark_threshold {Bytes(values['threshold_bytes'])}"
            if values["l4s_threshold_bytes"] != values["threshold_bytes"]:
                text += f", L4S {Bytes(values['l4s_threshold_bytes'])}"
            return text + (" at dequeue" if values["at_dequeue"] else "")
        case "red":
            unit = Packets if values["in_packets"] else Bytes
            low, high = values["min_threshold"], values["max_threshold"]
            top = values["probability_slope"] * (high - low) / 2**48 if high > low else 1
            protect = {number: name for name, number in constants.PROTECT.items()}[values["protect"]]
            average = f", average 1/{1 << values['average_shift']}" if values["average_shift"] else ""
            return (
                f"red {unit(low)}..{unit(high)}, up to {top:.4g}, {'ECN' if values['ecn'] else 'no ECN'}, "
                f"protect {protect}{average}"
            )
        case name:
            return name


def _eee_configured(action: Action | None, tick: Duration) -> Row:
    if action is None or action.name != "eee":
        return {
            "mode": "off" if action else "off (program default)",
            "hold_ps": None,
            "trigger": "",
            "stall_ps": None,
        }
    values = dict(action.params)
    triggers = [
        str(unit(values[key]))
        for unit, key in ((Packets, "trigger_packets"), (Bytes, "trigger_bytes"))
        if values[key]
    ]
    return {
        "mode": "coalesce" if values["hold_ticks"] else "standard",
        "hold_ps": values["hold_ticks"] * tick,
        "trigger": " or ".join(triggers),
        "stall_ps": values["stall_ticks"] * tick,
    }


def _eee_state(number: int) -> str:
    names = constants.EEE_STATES
    return names[number] if number < len(names) else f"unknown ({number})"


def _without(registers: Registers | None) -> list[str]:
    return [] if registers is not None else ["-: this target has no registers over P4Runtime (BMv2 does not)"]


def _none(value: Any) -> str:
    return "-" if value is None else str(value)


def _bytes(value: int | None) -> str:
    return "-" if value is None else str(Bytes(value))


def _duration(value: int | None) -> str:
    return "-" if value is None else str(Duration(value))


def _rate(value: int) -> str:
    return str(DataRate(value))


__all__ = [
    "Column",
    "EEE_REGISTERS",
    "QUEUE_REGISTERS",
    "Row",
    "View",
    "counters",
    "ecn",
    "eee",
    "fabric",
    "ports",
    "queues",
]
