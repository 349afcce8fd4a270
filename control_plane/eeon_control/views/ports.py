"""`eeon show ports`: every linked port, what it is joined to, and what it received, sent and dropped."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from eeon_control.fabric.read import FabricCounters
from eeon_control.topology import Topology
from eeon_control.views.table import PORT, Column, Row, View, count_bytes, duration, packets, rate, share

# Verdicts that are counted at the egress port when a packet is sent, and those that lose it.
_SENT = ("forwarded", "marked")
_DROPPED = ("early_dropped", "tail_dropped", "no_route", "ttl_expired", "malformed")


def with_utilisation(topology: Topology, view: View) -> View:
    """Rates of `ports` with the part of the link that sent frames take.

    A frame takes its bytes and what it has on the wire beside them (preamble, FCS, gap).
    """
    linked = {port.name: port for port in topology.ports()}
    for row in view.rows:
        port, sent, frames = linked[str(row["port"])], row["sent_bytes_per_s"], row["sent_packets_per_s"]
        row["utilisation_share"] = (
            8 * (sent + frames * int(port.overhead)) / int(port.rate)
            if isinstance(sent, float) and isinstance(frames, float)
            else None
        )
    used = Column("utilisation_share", "used", share)
    return replace(view, columns=[*view.columns[:-1], used, view.columns[-1]])


def ports(topology: Topology, counters: FabricCounters) -> View:
    """Ports of switches without counters are left out."""
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
    rows: list[Row] = []
    for port in topology.ports():
        key = port.node, port.number
        if not any(key in counted for counted in (received, sent, dropped)):
            continue
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
        PORT,
        Column("role", "role", right=False, worth=2),
        Column("peer", "peer", right=False, worth=4),
        Column("rate_bps", "rate", rate, worth=3),
        Column("delay_ps", "delay", duration, worth=1),
        packets("received_packets", "received"),
        count_bytes("received_bytes"),
        packets("sent_packets", "sent"),
        count_bytes("sent_bytes"),
        replace(packets("dropped_packets", "dropped"), worth=9),
    ]
    notes = ["dropped: at this port as egress by queue or AQM, or on arrival here (no route, TTL, malformed)"]
    return View("ports", "ports", columns, rows, notes=notes)
