"""`eeon show ecn`: marked and dropped packets, by port and packet class."""

from dataclasses import replace

from eeon_control import constants
from eeon_control.fabric.read import FabricCounters
from eeon_control.views.filters import counted
from eeon_control.views.kind import COUNTERS, Kind
from eeon_control.views.table import PORT, Cell, Column, Row, Style, View, packets, share

VIEW = Kind(
    "ecn",
    """Show marks and drops of queues by packet class.

    For each port and packet class: forwarded, marked, dropped early (by the AQM), dropped at a full buffer.
    """,
    COUNTERS,
    lambda data: ecn(data.observed.counters),
    ("--nonzero", "--rate 5s --role uplink"),
    counts=True,
    finish=lambda topology, view, of_interval: _with_mark_share(view),
    hides_zeros=True,
    filters={"drops": counted("early_dropped", "tail_dropped"), "marks": counted("marked")},
)

_ALARMS = {"marked": Style.NOTICE, "early_dropped": Style.BAD, "tail_dropped": Style.BAD}


def _with_mark_share(view: View) -> View:
    """Returns the view `ecn`, or its rates, with the share of sent packets that this switch marked."""
    forwarded, marked = (view.columns[index].key for index in (2, 3))
    for row in view.rows:
        sent = _number(row[forwarded]) + _number(row[marked])
        row["marked_share"] = _number(row[marked]) / sent if sent else None
    at = Column("marked_share", "of sent", share)
    return replace(view, columns=[*view.columns[:4], at, *view.columns[4:]])


def _number(value: Cell) -> float:
    return value if isinstance(value, int | float) else 0.0


def ecn(counters: FabricCounters) -> View:
    """Shows packets that were forwarded, marked, dropped early, or dropped because of a full buffer."""
    verdicts = constants.VERDICTS[:4]
    cells: dict[tuple[str, int, str], Row] = {}
    for count in counters.verdicts:
        if count.verdict in verdicts:
            key = count.switch, count.port, count.packet_class
            zero = {"port": f"{count.switch}:{count.port}", "class": count.packet_class}
            row = cells.setdefault(key, zero | dict.fromkeys(verdicts, 0))
            row[count.verdict] = count.packets
    columns = [
        PORT,
        Column("class", "class", right=False),
        *(packets(name, name.replace("_", " "), alarm=_ALARMS.get(name)) for name in verdicts),
    ]
    notes = ["forwarded: sent without a new mark; marked: sent and marked CE by this switch"]
    rows = list(cells.values())
    return View("ecn", "ECN and queue drops, in packets", columns, rows, key=("port", "class"), notes=notes)
