"""`eeon show pfc`: lossless groups, their occupancy, and the pauses in both directions."""

from collections.abc import Mapping

from eeon_control.config.classes import PRIORITIES
from eeon_control.entries import Action, by_key
from eeon_control.fabric.read import FabricObservation, Wanted
from eeon_control.plan.pfc import GROUPS
from eeon_control.topology import Topology
from eeon_control.views.filters import counted
from eeon_control.views.kind import Kind
from eeon_control.views.scale import bytes_exact, bytes_measured
from eeon_control.views.table import PORT, Column, Row, Style, View, if_is, packets

VIEW = Kind(
    "pfc",
    """Show PFC: lossless classes, their bytes, pauses sent and received.

    For each ingress port and priority: thresholds, bytes held now, whether the neighbour is paused; pause
    frames and drops since the switch started, and MAC control frames that were not obeyed.
    """,
    Wanted(entries=True, queues=(GROUPS,)),
    lambda data: pfc(data.topology, data.observed),
    ("--only pauses",),
    filters={"pauses": counted("pauses_sent", "pauses_received")},
    nonzero=True,
)


def pfc(topology: Topology, observed: FabricObservation) -> View:
    """Shows lossless groups, and other ports that ignored control frames. Needs entries and PFC values."""
    rows: list[Row] = []
    for name, found in observed.switches.items():
        groups = {queue: dict(action.params) for queue, action in by_key(found.entries, GROUPS).items()}
        obeyed, reactions = by_key(found.entries, "port_pfc"), by_key(found.entries, "pausable_queue")
        for port in topology.switches[name].ports:
            ignored = found.cells.get(("control_ignored", port.number), 0)
            queues = sorted(queue for queue in groups if queue // PRIORITIES == port.number)
            if not queues and ignored:
                rows.append({"port": port.name, **_NOTHING, "control_ignored": ignored})
            for queue in queues:
                told_at = found.cells.get(("pause_sent_at", queue))
                rows.append(
                    {
                        "port": port.name,
                        "priority": queue % PRIORITIES,
                        **{key: groups[queue].get(key, 0) for key in _THRESHOLDS},
                        "held_bytes": found.cells.get(("ingress_bytes", queue)),
                        "neighbour": None if told_at is None else "paused" if told_at else "sends",
                        **{key: found.cells.get((key, queue), 0) for key in _COUNTS},
                        "control_ignored": ignored,
                        "storm": _storm(queue, obeyed, reactions),
                    }
                )
    columns = [
        PORT,
        Column("priority", "priority"),
        Column("xoff_bytes", "xoff", bytes_exact),
        Column("xon_bytes", "xon", bytes_exact),
        Column("limit_bytes", "limit", bytes_exact),
        Column("held_bytes", "held", bytes_measured),
        Column("neighbour", "neighbour", right=False, style=if_is("paused", Style.NOTICE)),
        packets("pauses_sent", "sent"),
        packets("pauses_received", "received"),
        packets("lossless_dropped", "dropped", alarm=Style.BAD, worth=9),
        packets("control_ignored", "ignored", alarm=Style.NOTICE),
    ]
    if any(row.get("storm") is not None for row in rows):
        columns.append(Column("storm", "storm", right=False, style=lambda _: Style.BAD))
    notes = [
        "held: queued bytes that arrived on the port; neighbour: paused by this switch, or not; "
        "sent, received: pause frames; ignored: control frames received on the port, not obeyed"
    ]
    if not rows:
        # Switches that could not be read may have lossless classes.
        empty = "no class is lossless at these ports: add `pfc` to a class of the configuration"
        notes = [] if observed.failures else [empty]
    return View("pfc", "lossless classes", columns, rows, key=("port", "priority"), notes=notes)


def _storm(queue: int, obeyed: Mapping[int, Action], reactions: Mapping[int, Action]) -> str | None:
    """Returns the reaction of the controller's watchdog at the queue, if any. `obeyed`: by port, the bit mask
    of the priorities whose pauses it obeys."""
    if queue in reactions and reactions[queue].name == "discard":
        return "drop"
    port, priority = divmod(queue, PRIORITIES)
    ignores = port in obeyed and not dict(obeyed[port].params).get("priorities", 0) >> priority & 1
    return "forward" if ignores else None


_THRESHOLDS = ("xoff_bytes", "xon_bytes", "limit_bytes")
_COUNTS = ("pauses_sent", "pauses_received", "lossless_dropped")
_NOTHING: Row = dict.fromkeys(("priority", *_THRESHOLDS, "held_bytes", "neighbour", *_COUNTS, "storm"))
