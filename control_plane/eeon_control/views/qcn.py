"""`eeon show qcn`: congestion points with their samples and messages; ports with ignored messages."""

from eeon_control.config.classes import PRIORITIES
from eeon_control.entries import by_key
from eeon_control.fabric.read import FabricObservation, Wanted
from eeon_control.plan.qcn import POINTS, settings
from eeon_control.topology import Topology
from eeon_control.views.filters import counted
from eeon_control.views.kind import Kind
from eeon_control.views.scale import bytes_exact
from eeon_control.views.table import PORT, Column, Row, Style, View, packets

VIEW = Kind(
    "qcn",
    """Show QCN: congestion points, their samples and messages.

    For each port and priority: set point, weight, bytes between samples, jitter; samples taken and congestion
    notification messages made since the switch started, and messages from neighbours that are not trusted.
    """,
    Wanted(entries=True, queues=(POINTS,)),
    lambda data: qcn(data.topology, data.observed),
    ("--only messages",),
    filters={"messages": counted("cnms_made")},
    nonzero=True,
)


def qcn(topology: Topology, observed: FabricObservation) -> View:
    """Shows congestion points, and other ports with ignored messages. Needs entries and QCN counts."""
    rows: list[Row] = []
    for name, found in observed.switches.items():
        points = {queue: settings(action) for queue, action in by_key(found.entries, POINTS).items()}
        for port in topology.switches[name].ports:
            ignored = found.cells.get(("cnms_ignored", port.number), 0)
            queues = [(queue, point) for queue, point in points.items() if queue // PRIORITIES == port.number]
            if not queues and ignored:
                rows.append({"port": port.name, "priority": None, **_NOTHING, "cnms_ignored": ignored})
            for queue, point in sorted(queues):
                counts = {key: found.cells.get((key, queue), 0) for key in ("qcn_samples", "cnms_made")}
                rows.append(
                    {
                        "port": port.name,
                        "priority": queue % PRIORITIES,
                        **(_NOTHING if point is None else point),
                        **counts,
                        "cnms_ignored": ignored,
                    }
                )
    columns = [
        PORT,
        Column("priority", "priority"),
        Column("set_point_bytes", "set point", bytes_exact),
        Column("weight", "weight"),
        Column("sample_bytes", "sample", bytes_exact),
        Column("jitter_percent", "jitter %"),
        packets("qcn_samples", "samples"),
        packets("cnms_made", "messages"),
        packets("cnms_ignored", "ignored", alarm=Style.NOTICE),
    ]
    notes = [
        "messages: congestion notification messages made; ignored: those received on the port, not trusted"
    ]
    if not rows:
        # Switches that could not be read may have congestion points.
        empty = "no port is a congestion point: add `qcn` to a queue profile of the configuration"
        notes = [] if observed.failures else [empty]
    return View("qcn", "congestion points", columns, rows, key=("port", "priority"), notes=notes)


_NOTHING: Row = dict.fromkeys(
    ("set_point_bytes", "weight", "sample_bytes", "jitter_percent", "qcn_samples", "cnms_made")
)
