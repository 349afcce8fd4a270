"""`eeon show counters`: every counter cell of every linked port."""

from eeon_control.constants import DROPS
from eeon_control.fabric.read import FabricCounters, ReceivedCount, VerdictCount
from eeon_control.views.filters import Filter, counted
from eeon_control.views.kind import COUNTERS, Kind
from eeon_control.views.table import PORT, Cell, Column, Row, Style, View, count_bytes, packets


def _of(*counters: str) -> Filter:
    is_counted = counted("packets")
    return lambda row: row["counter"] in counters and is_counted(row)


VIEW = Kind(
    "counters",
    """Show every counter by port, packet class and verdict.""",
    COUNTERS,
    lambda data: counters(data.observed.counters),
    ("--nonzero --switch leaf1",),
    counts=True,
    hides_zeros=True,
    filters={"drops": _of(*DROPS), "marks": _of("marked")},
)


def _style(counter: Cell) -> Style | None:
    return Style.BAD if counter in DROPS else Style.NOTICE if counter == "marked" else None


def counters(readings: FabricCounters) -> View:
    """Shows counters by port, packet class, and `received` or verdict."""
    counts: list[ReceivedCount | VerdictCount] = [*readings.received, *readings.verdicts]
    rows: list[Row] = [
        {
            "port": f"{one.switch}:{one.port}",
            "class": one.packet_class,
            "counter": one.verdict if isinstance(one, VerdictCount) else "received",
            "packets": one.packets,
            "bytes": one.bytes,
        }
        for one in counts
    ]
    columns = [
        PORT,
        Column("class", "class", right=False),
        Column("counter", "counter", right=False, style=_style),
        packets("packets", "packets"),
        count_bytes("bytes", "bytes"),
    ]
    return View("counters", "counters", columns, rows, key=("port", "class", "counter"))
