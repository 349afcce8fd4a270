"""The rows of a scrape, and their conversion to Prometheus metric families. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from eeon_control.constants import DROPS, PRIORITY_BITS, SENT
from eeon_control.controller.counts import RESTORE_BUCKETS, Restores
from eeon_control.controller.metrics.catalog import CATALOG
from eeon_control.energy import PortEnergy
from eeon_control.fabric.read import Observation
from eeon_control.topology import Switch
from eeon_control.units import PS_PER_S

Row = tuple[str, float | tuple[list[tuple[str, float]], float], *tuple[str, ...]]
"""The name of a metric without its prefix, a value, and the values of its labels. The value of a histogram is
its cumulative counts by upper bound, and the sum."""

_CAUSES = ("program", "drift", "entries")
_HOLD = 1  # eee_state_t.HOLD: only in this state does the register count packets held now

_OF_KIND: dict[str, Callable[..., Any]] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
    "histogram": HistogramMetricFamily,
}


def families(rows: Iterable[Row]) -> Iterator[Metric]:
    """Returns the families with a row, in the catalogue's order."""
    found: dict[str, list[Row]] = {name: [] for name in CATALOG}
    for row in rows:
        found[f"eeon_{row[0]}"].append(row)
    for name, family in CATALOG.items():
        if found[name]:
            metric = _OF_KIND[family.kind](name, family.help, labels=family.labels)
            for _, value, *labels in found[name]:
                metric.add_metric(labels, *(value if isinstance(value, tuple) else (value,)))
            yield metric


def of_restores(switch: str, restores: Restores) -> Iterator[Row]:
    """Returns the rows about a switch's restores."""
    for cause in _CAUSES:
        yield "switch_restores_total", restores.by_cause[cause], switch, cause
    bounds = (*map(str, RESTORE_BUCKETS), "+Inf")
    counts: list[float] = [*restores.buckets, restores.by_cause.total()]
    yield "switch_restore_seconds", ([*zip(bounds, counts, strict=True)], restores.seconds), switch
    yield "switch_restored_entries_total", restores.entries, switch


def of_ports(switch: Switch, buffers: Mapping[int, int | None], down: frozenset[int] | None) -> Iterator[Row]:
    """Returns the rows about what ports are meant to be. `buffers`: the limits in bytes, None if the limit
    counts packets. `down`: the ports that are down, None if unknown."""
    for port in switch.ports:
        labels = switch.name, str(port.number)
        if port.number in buffers:
            yield "port_speed_bytes", int(port.rate) / 8, *labels
            limit = buffers[port.number]
            if limit is not None:
                yield "port_buffer_bytes", limit, *labels
        if down is not None:
            yield "port_up", port.number not in down, *labels


def of_storms(switch: str, storms: Mapping[int, tuple[int, bool]]) -> Iterator[Row]:
    """Returns the rows of watched queues: the number of storms so far, and whether there is one now."""
    for queue, (count, now) in storms.items():
        yield "port_pause_storms_total", count, switch, *_queue(queue)
        yield "port_pause_storm", now, switch, *_queue(queue)


def of_observation(switch: str, seen: Observation, *, zeros: bool = True) -> Iterator[Row]:
    """Returns the rows of an observation. `zeros`: include the counters of the P4 program that are zero."""
    for got in seen.counters.received:
        if got.packets or zeros:
            labels = switch, str(got.port), got.packet_class
            yield "port_received_packets_total", got.packets, *labels
            yield "port_received_bytes_total", got.bytes, *labels
    sent: Counter[tuple[str, ...]] = Counter()
    for count in seen.counters.verdicts:
        for unit, value in ("packets", count.packets), ("bytes", count.bytes):
            if not (count.packets or zeros):
                continue
            labels = switch, str(count.port), count.packet_class
            if count.verdict in SENT:
                sent[f"port_sent_{unit}_total", *labels] += value
            if count.verdict == "marked":
                yield f"port_marked_{unit}_total", value, *labels
            elif count.verdict in DROPS:
                yield f"port_dropped_{unit}_total", value, *labels, count.verdict
    for (name, *labels_), value in sent.items():
        yield name, value, *labels_
    for number, values in (seen.registers or {}).items():
        labels_ = [switch, str(number)]
        yield "port_occupancy_bytes", values["occupancy_bytes"], *labels_
        yield "port_occupancy_packets", values["occupancy_packets"], *labels_
        held = values["held_packets"] if values["eee_state"] == _HOLD else 0
        yield "port_held_packets", held, *labels_
        yield "port_wakes_total", values["wakes"], *labels_
    for (cell, index), value in seen.cells.items():
        if cell in _OF_PORTS:
            yield _OF_PORTS[cell], value, switch, str(index)
        elif cell == "pause_sent_at":
            yield "port_neighbour_paused", value != 0, switch, *_queue(index)
        else:
            yield _OF_QUEUES[cell], value, switch, *_queue(index)


def of_energy(spent: PortEnergy) -> dict[str, float]:
    """Returns the values of a port's energy by metric, without joules if the PHY's power is unknown."""
    values = {
        "port_lpi_seconds_total": spent.lpi_ps / PS_PER_S,
        "port_transition_seconds_total": spent.transition_ps / PS_PER_S,
        "port_energy_joules_total": spent.joules,
        "port_legacy_energy_joules_total": spent.legacy_joules,
    }
    return {name: value for name, value in values.items() if value is not None}


# Counters and registers of PFC and QCN, with their metrics; a cell belongs to a queue, or to a port.
_OF_QUEUES = {
    "pauses_sent": "port_pauses_sent_total",
    "pauses_received": "port_pauses_received_total",
    "lossless_dropped": "port_lossless_dropped_packets_total",
    "ingress_bytes": "port_lossless_bytes",
    "qcn_samples": "port_qcn_samples_total",
    "cnms_made": "port_cnms_total",
}
_OF_PORTS = {
    "control_ignored": "port_control_ignored_packets_total",
    "cnms_ignored": "port_cnms_ignored_packets_total",
}


def _queue(number: int) -> tuple[str, str]:
    """Returns port and priority of a queue."""
    return str(number >> PRIORITY_BITS), str(number % (1 << PRIORITY_BITS))
