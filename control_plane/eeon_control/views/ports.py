"""`eeon show ports`: every linked port, its peer, and its received, sent and dropped packets."""

from collections import Counter, defaultdict
from dataclasses import replace

from eeon_control.constants import DROPS, SENT
from eeon_control.fabric.read import FabricObservation
from eeon_control.routing import LinksDown
from eeon_control.topology import Port, Topology
from eeon_control.views.filters import counted, only_if
from eeon_control.views.kind import COUNTERS, Kind
from eeon_control.views.scale import per_second, rate_exact, time_exact
from eeon_control.views.table import PORT, Cell, Column, Row, Style, View, count_bytes, if_is, packets, share

VIEW = Kind(
    "ports",
    """Show ports: up or down, traffic, drops and their causes.

    For every linked port: role, peer, whether its link is up, speed, packets received, sent and dropped, and
    the causes of drops.
    """,
    replace(COUNTERS, ports=True),
    lambda data: ports(data.topology, data.observed),
    ("--watch", "--rate 5s -o json"),
    counts=True,
    finish=lambda topology, view, of_interval: finished(topology, view, of_interval),
    filters={
        "down": only_if("link", "down"),
        "drops": counted("dropped_packets"),
        "traffic": counted("received_packets", "sent_packets"),
    },
)

_SUMS = ("received_packets", "received_bytes", "sent_packets", "sent_bytes", "dropped_packets")
_COUNTS = (*_SUMS, *(f"{cause}_packets" for cause in DROPS))
_LAST = len(DROPS) + 2  # columns of drops
_WHERE = (
    "dropped: in the queue of this port (early: by the AQM; tail: its buffer was full), or on arrival at it "
    "(no route, TTL, malformed, not addressed to the switch, martian address)"
)


def finished(topology: Topology, view: View, of_interval: bool) -> View:
    """Returns the view `ports`, or its rates, with derived values: causes of drops, utilisation."""
    suffix = "_per_s" if of_interval else ""
    for row in view.rows:
        lost = {cause: row[f"{cause}_packets{suffix}"] for cause in DROPS}
        row["drop_causes"] = _causes(lost, of_interval)
    if of_interval:
        view = _with_utilisation(topology, view)
    if not any(row["drop_causes"] for row in view.rows):  # an empty column is not shown
        view = replace(view, columns=[*view.columns[:-1], replace(view.columns[-1], shown=False)])
    return view


def _link(port: Port, observed: FabricObservation, links: LinksDown) -> str | None:
    """Returns `up`, or `down` if either end reports it; None if the switch does not report it."""
    if links.at(port) is not None:
        return "down"
    known = observed.switches[port.node].ports or {}
    return "up" if port.number in known else None


def _causes(lost: dict[str, Cell], of_interval: bool) -> str:
    """Returns `tail dropped 12, no route 3`, the largest count first."""
    known = {cause: count for cause, count in lost.items() if isinstance(count, int | float) and count}
    most = sorted(known, key=lambda cause: -known[cause])
    texts = (per_second([known[cause]])[0] if of_interval else f"{known[cause]:,}" for cause in most)
    return ", ".join(f"{cause.replace('_', ' ')} {text}" for cause, text in zip(most, texts, strict=True))


def _with_utilisation(topology: Topology, view: View) -> View:
    """Adds the utilisation of the link by sent frames to rates.

    A frame occupies its bytes and its overhead on the wire (preamble, FCS, gap).
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
    return replace(view, columns=[*view.columns[:-_LAST], used, *view.columns[-_LAST:]])


def ports(topology: Topology, observed: FabricObservation) -> View:
    """Shows ports. Needs counters and ports. Ports of switches without counters are omitted."""
    counters = observed.counters
    links = LinksDown(topology, observed.down)
    of_ports: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for count in counters.received:
        cells = of_ports[count.switch, count.port]
        cells["received_packets"] += count.packets
        cells["received_bytes"] += count.bytes
    for verdict in counters.verdicts:
        cells = of_ports[verdict.switch, verdict.port]
        if verdict.verdict in SENT:
            cells["sent_packets"] += verdict.packets
            cells["sent_bytes"] += verdict.bytes
        elif verdict.verdict in DROPS:
            cells["dropped_packets"] += verdict.packets
            cells[f"{verdict.verdict}_packets"] += verdict.packets
    rows: list[Row] = []
    for port in topology.ports():
        cells = of_ports[port.node, port.number]
        if not cells:
            continue
        rows.append(
            {
                "port": port.name,
                "role": port.role.value,
                "peer": str(port.peer),
                "link": _link(port, observed, links),
                "rate_bps": int(port.rate),
                "delay_ps": int(port.delay),
                **{key: cells[key] for key in _COUNTS},
                "drop_causes": "",
            }
        )
    columns = [
        PORT,
        Column("role", "role", right=False, worth=2),
        Column("peer", "peer", right=False, worth=4),
        Column("link", "link", right=False, worth=7, style=if_is("down", Style.BAD)),
        Column("rate_bps", "rate", rate_exact, worth=3),
        Column("delay_ps", "delay", time_exact, worth=1),
        packets("received_packets", "received"),
        count_bytes("received_bytes"),
        packets("sent_packets", "sent"),
        count_bytes("sent_bytes"),
        packets("dropped_packets", "dropped", alarm=Style.BAD, worth=9),
        *(replace(packets(f"{cause}_packets", cause.replace("_", " ")), shown=False) for cause in DROPS),
        Column("drop_causes", "why", right=False, worth=8),
    ]
    notes = [_WHERE]
    return View("ports", "ports", columns, rows, notes=notes)
