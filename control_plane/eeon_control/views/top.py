"""`eeon top`: the current activity of every linked port: load of its link, queue, marks, drops and sleep."""

from eeon_control.fabric.read import FabricObservation, Wanted
from eeon_control.topology import Topology
from eeon_control.units import Duration
from eeon_control.views.change import rates, restarted, spans_ps
from eeon_control.views.ecn import ecn
from eeon_control.views.eee import REGISTERS as EEE_REGISTERS
from eeon_control.views.eee import eee
from eeon_control.views.filters import counted, only_if
from eeon_control.views.kind import Kind
from eeon_control.views.port_tables import NO_REGISTERS
from eeon_control.views.ports import finished, ports
from eeon_control.views.queues import REGISTERS as QUEUE_REGISTERS
from eeon_control.views.queues import queues
from eeon_control.views.scale import bit_rate, bytes_measured, per_second
from eeon_control.views.table import PORT, Column, Row, Style, View, above_zero, if_is, share

VIEW = Kind(
    "top",
    "",
    Wanted(
        entries=True,
        counters=True,
        registers=tuple(dict.fromkeys((*QUEUE_REGISTERS, *EEE_REGISTERS))),
        clock=True,
        ports=True,
    ),
    lambda data: top(data.topology, data.before, data.observed, data.targets.tick),
    has_own_interval=True,
    filters={
        "down": only_if("link", "down"),
        "drops": counted("dropped"),
        "marks": counted("marked"),
        "queued": counted("occupancy_bytes"),
        "traffic": counted("sent_bytes"),
    },
)


def top(
    topology: Topology, before: FabricObservation | None, observed: FabricObservation, tick: Duration
) -> View:
    """Shows the ports' current activity. Needs the data in `VIEW` of both observations."""
    assert before is not None, "it has an interval"
    spans, gone = spans_ps(before, observed), restarted(before, observed)
    traffic = finished(
        topology, rates(ports(topology, observed), ports(topology, before), spans, ignored=gone), True
    )
    marked: dict[str, float] = {}
    marks = rates(ecn(observed.counters), ecn(before.counters), spans, ignored=gone)
    for row in marks.rows:
        rate = row["marked_per_s"]
        name = str(row["port"])
        marked[name] = marked.get(name, 0.0) + (rate if isinstance(rate, int | float) else 0.0)
    waiting = {row["port"]: row for row in queues(topology, observed, tick).rows}
    asleep = {row["port"]: row for row in eee(topology, observed, tick, before).rows}
    rows: list[Row] = [
        {
            "port": row["port"],
            "peer": row["peer"],
            "link": row["link"],
            "used_share": row["utilisation_share"],
            "sent_bytes_per_s": row["sent_bytes_per_s"],
            "occupancy_bytes": waiting[row["port"]]["occupancy_bytes"],
            "marked_per_s": None if row["sent_bytes_per_s"] is None else marked[str(row["port"])],
            "dropped_per_s": row["dropped_packets_per_s"],
            "drop_causes": row["drop_causes"],
            "lpi_share": asleep[row["port"]]["lpi_share"],
        }
        for row in traffic.rows
    ]
    columns = [
        PORT,
        Column("peer", "peer", right=False, worth=2),
        Column("link", "link", right=False, worth=4, style=if_is("down", Style.BAD)),
        Column("used_share", "used", share, worth=9),
        Column("sent_bytes_per_s", "sent", bit_rate),
        Column("occupancy_bytes", "queue", bytes_measured, worth=8),
        Column("marked_per_s", "marks", per_second, worth=8, style=above_zero(Style.NOTICE)),
        Column("dropped_per_s", "drops", per_second, worth=9, style=above_zero(Style.BAD)),
        Column("drop_causes", "why", right=False, worth=3),
        Column("lpi_share", "asleep", share, worth=6),
    ]
    notes = [f"{name} has restarted; no rate yet" for name in gone]
    if any(one.registers is None for one in observed.switches.values()):
        notes.append(NO_REGISTERS)
    longest = max(spans.values(), default=0)
    return View("top", f"ports, over {longest / 10**12:.3g} s", columns, rows, notes=notes)
