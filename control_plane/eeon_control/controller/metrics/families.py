"""Converts one sample of the fabric to Prometheus metric families. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from eeon_control.constants import DROPS, PRIORITY_BITS, SENT
from eeon_control.controller.counts import RESTORE_BUCKETS
from eeon_control.controller.metrics.catalog import CATALOG, Kind
from eeon_control.controller.metrics.sample import FabricSample, PortAccount, SwitchSample

_PS_PER_S = 10**12
_CAUSES = ("program", "drift", "entries")
_HOLD = 1  # eee_state_t.HOLD: only in this state does the register count packets held now


_OF_KIND: dict[Kind, Callable[..., Metric]] = {
    Kind.COUNTER: CounterMetricFamily,
    Kind.GAUGE: GaugeMetricFamily,
    Kind.HISTOGRAM: HistogramMetricFamily,
}


class _Families:
    """The families of one scrape, in the catalogue's order."""

    def __init__(self) -> None:
        self._made: dict[str, Metric] = {}

    def __getitem__(self, name: str) -> Metric:
        full = f"eeon_{name}"
        if full not in self._made:
            family = CATALOG[full]
            self._made[full] = _OF_KIND[family.kind](family.name, family.help, labels=family.labels)
        return self._made[full]

    def add(self, name: str, value: float, *labels: str) -> None:
        family = self[name]
        assert isinstance(family, (CounterMetricFamily, GaugeMetricFamily))
        family.add_metric(labels, value)

    def __iter__(self) -> Iterator[Metric]:
        return (self._made[name] for name in CATALOG if name in self._made)


def families(sample: FabricSample, *, zeros: bool = True) -> Iterator[Metric]:
    """Returns the metrics of a scrape. `zeros`: include the ports' counters that are zero."""
    made = _Families()
    _fabric(made, sample)
    for one in sample.switches:
        _switch(made, one)
        if one.observation is not None:
            _counters(made, one, zeros)
            _registers(made, one)
            _lossless(made, one)
            for port, account in one.accounts.items():
                _energy(made, one.switch.name, str(port), account)
    return iter(made)


def _fabric(made: _Families, sample: FabricSample) -> None:
    for name, value in sample.values.items():
        made.add(name, value)
    for result, count in sample.applies.items():
        made.add("config_applies_total", count, result)
    for (what, result), count in sample.finished.items():
        made.add("config_finished_total", count, what, result)
    made.add("controller_info", 1, sample.version, str(sample.election_id))


def _switch(made: _Families, one: SwitchSample) -> None:
    name = one.switch.name
    for metric, value in one.values.items():
        made.add(metric, value, name)
    for cause in _CAUSES:
        made.add("switch_restores_total", one.restores.by_cause[cause], name, cause)
    histogram = made["switch_restore_seconds"]
    assert isinstance(histogram, HistogramMetricFamily)
    buckets = [
        (str(bound), count) for bound, count in zip(RESTORE_BUCKETS, one.restores.buckets, strict=True)
    ]
    histogram.add_metric(
        [name], [*buckets, ("+Inf", one.restores.by_cause.total())], sum_value=one.restores.seconds
    )
    made.add("switch_restored_entries_total", one.restores.entries, name)
    speeds = {port.number: int(port.rate) / 8 for port in one.switch.ports}
    for number, limit in one.buffers.items():
        made.add("port_speed_bytes", speeds[number], name, str(number))
        if limit is not None:
            made.add("port_buffer_bytes", limit, name, str(number))
    if one.down is not None:
        for number in speeds:
            made.add("port_up", number not in one.down, name, str(number))
    for queue, (count, now) in one.storms.items():
        made.add("port_pause_storms_total", count, name, *_queue(queue))
        made.add("port_pause_storm", now, name, *_queue(queue))


def _counters(made: _Families, one: SwitchSample, zeros: bool) -> None:
    assert one.observation is not None
    name = one.switch.name
    for got in one.observation.counters.received:
        if not (got.packets or zeros):
            continue
        labels = name, str(got.port), got.packet_class
        made.add("port_received_packets_total", got.packets, *labels)
        made.add("port_received_bytes_total", got.bytes, *labels)
    sent: dict[tuple[str, str, str], tuple[int, int]] = {}
    for count in one.observation.counters.verdicts:
        if not (count.packets or zeros):
            continue
        labels = name, str(count.port), count.packet_class
        if count.verdict in SENT:
            packets, size = sent.get(labels, (0, 0))
            sent[labels] = packets + count.packets, size + count.bytes
        if count.verdict == "marked":
            made.add("port_marked_packets_total", count.packets, *labels)
            made.add("port_marked_bytes_total", count.bytes, *labels)
        elif count.verdict in DROPS:
            made.add("port_dropped_packets_total", count.packets, *labels, count.verdict)
            made.add("port_dropped_bytes_total", count.bytes, *labels, count.verdict)
    for labels, (packets, size) in sent.items():
        made.add("port_sent_packets_total", packets, *labels)
        made.add("port_sent_bytes_total", size, *labels)


def _registers(made: _Families, one: SwitchSample) -> None:
    assert one.observation is not None
    for number, values in (one.observation.registers or {}).items():
        labels = one.switch.name, str(number)
        made.add("port_occupancy_bytes", values["occupancy_bytes"], *labels)
        made.add("port_occupancy_packets", values["occupancy_packets"], *labels)
        held = values["held_packets"] if values["eee_state"] == _HOLD else 0
        made.add("port_held_packets", held, *labels)
        made.add("port_wakes_total", values["wakes"], *labels)


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


def _lossless(made: _Families, one: SwitchSample) -> None:
    assert one.observation is not None
    name = one.switch.name
    for (cells, index), value in [*one.observation.pfc.items(), *one.observation.qcn.items()]:
        if cells in _OF_QUEUES:
            made.add(_OF_QUEUES[cells], value, name, *_queue(index))
        elif cells in _OF_PORTS:
            made.add(_OF_PORTS[cells], value, name, str(index))
        elif cells == "pause_sent_at":
            made.add("port_neighbour_paused", value != 0, name, *_queue(index))


def _queue(number: int) -> tuple[str, str]:
    """Returns port and priority of a queue."""
    return str(number >> PRIORITY_BITS), str(number % (1 << PRIORITY_BITS))


def _energy(made: _Families, switch: str, port: str, account: PortAccount) -> None:
    made.add("port_lpi_seconds_total", account.lpi_ps / _PS_PER_S, switch, port)
    made.add("port_transition_seconds_total", account.transition_ps / _PS_PER_S, switch, port)
    if account.joules is not None and account.legacy_joules is not None:
        made.add("port_energy_joules_total", account.joules, switch, port)
        made.add("port_legacy_energy_joules_total", account.legacy_joules, switch, port)
