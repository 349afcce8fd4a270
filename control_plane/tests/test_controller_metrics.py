"""The metrics: their rows, names and addresses."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from eeon_control import constants, energy, topology
from eeon_control.controller import messages as m
from eeon_control.controller.counts import Counts, Restores
from eeon_control.controller.metrics import CATALOG
from eeon_control.controller.metrics.families import (
    of_energy,
    of_observation,
    of_ports,
    of_restores,
    of_storms,
)
from eeon_control.fabric.read import OF_QUEUES, FabricCounters, Observation, ReceivedCount, VerdictCount
from scraping import exported

TOPOLOGY = topology.load("leaf-spine-4")
LEAF1 = TOPOLOGY.switches["leaf1"]
REGISTERS = dict.fromkeys((*energy.REGISTERS, "occupancy_bytes", "occupancy_packets", "held_packets"), 0)
SPENT = energy.PortEnergy(LEAF1.ports[0], 3 * 10**12, 2 * 10**12, 10**9, 1, 0.25, 1.0)


def observation() -> Observation:
    """Returns counters of leaf1 with a different number in every cell."""
    received, verdicts = [], []
    cell = 0
    for port in LEAF1.ports:
        for name in constants.CLASSES:
            cell += 1
            received.append(ReceivedCount("leaf1", port.number, name, cell, cell * 100))
            for verdict in constants.VERDICTS:
                cell += 1
                verdicts.append(VerdictCount("leaf1", port.number, name, verdict, cell, cell * 100))
    registers = {port.number: dict(REGISTERS) for port in LEAF1.ports}
    return Observation(0, counters=FabricCounters(tuple(received), tuple(verdicts)), registers=registers)


def test_class_and_cause_are_told_apart_and_marked_packets_are_sent_packets_too():
    found = exported(of_observation("leaf1", observation()))
    of = {(one.packet_class, one.verdict): one for one in observation().counters.verdicts if one.port == 1}
    forwarded, marked = of["data", "forwarded"], of["data", "marked"]
    assert found["eeon_port_sent_packets_total", "leaf1", "1", "data"] == forwarded.packets + marked.packets
    assert found["eeon_port_sent_bytes_total", "leaf1", "1", "data"] == forwarded.bytes + marked.bytes
    assert found["eeon_port_marked_packets_total", "leaf1", "1", "data"] == marked.packets
    for verdict in ("early_dropped", "tail_dropped", "no_route", "ttl_expired", "malformed"):
        key = ("leaf1", "1", "ack", verdict)
        assert found["eeon_port_dropped_packets_total", *key] == of["ack", verdict].packets
        assert found["eeon_port_dropped_bytes_total", *key] == of["ack", verdict].bytes


def test_every_verdict_of_the_program_is_exported_as_sent_or_dropped_or_goes_to_the_controller():
    found = exported(of_observation("leaf1", observation()))
    causes = {key[4] for key in found if key[0] == "eeon_port_dropped_packets_total"}
    assert set(constants.VERDICTS) == causes | {"forwarded", "marked", "to_cpu", "consumed"}


def test_energy_is_in_joules_and_seconds_and_absent_where_the_power_of_the_phy_is_not_known():
    assert of_energy(SPENT) == {
        "port_lpi_seconds_total": 2,
        "port_transition_seconds_total": 0.001,
        "port_energy_joules_total": 0.25,
        "port_legacy_energy_joules_total": 1,
    }
    assert of_energy(replace(SPENT, joules=None, legacy_joules=None)).keys() == {
        "port_lpi_seconds_total",
        "port_transition_seconds_total",
    }


def test_restores_are_counted_by_cause_and_their_times_make_a_histogram():
    counts = Counts()
    counts.restored("leaf1", m.Restored(0.2, 61, pushed=True, drift=False))
    counts.restored("leaf1", m.Restored(0.7, 1, pushed=False, drift=True))
    found = exported(of_restores("leaf1", counts.restores["leaf1"]))
    assert found["eeon_switch_restores_total", "leaf1", "program"] == 1
    assert found["eeon_switch_restores_total", "leaf1", "drift"] == 1
    assert found["eeon_switch_restores_total", "leaf1", "entries"] == 0
    assert found["eeon_switch_restored_entries_total", "leaf1"] == 62
    assert found["eeon_switch_restore_seconds_sum", "leaf1"] == pytest.approx(0.9)
    assert found["eeon_switch_restore_seconds_bucket", "leaf1", "0.25"] == 1
    assert found["eeon_switch_restore_seconds_bucket", "leaf1", "1.0"] == 2
    assert found["eeon_switch_restore_seconds_count", "leaf1"] == 2


QUEUE = 1 << 3 | 3
CELLS = {
    (name, index): 1
    for of in OF_QUEUES.values()
    for name, index in [(of.of_port, 1), *((name, QUEUE) for name in (*of.counters, *of.registers))]
}


def test_rows_about_ports_and_restores_are_those_of_the_catalogue():
    rows = [
        *of_observation("leaf1", replace(observation(), cells=CELLS)),
        *of_ports(LEAF1, {1: 300_000}, frozenset()),
        *of_storms("leaf1", {QUEUE: (2, True)}),
        *of_restores("leaf1", Restores(Counter(program=1), 1, 1.0)),
    ]
    names = {f"eeon_{name}" for name in (*(row[0] for row in rows), *of_energy(SPENT))}
    assert names == {name for name in CATALOG if re.match("eeon_(port|switch_restore)", name)}


@pytest.mark.parametrize("family", CATALOG.values(), ids=CATALOG)
def test_names_follow_the_conventions_of_prometheus(family):
    assert re.fullmatch(r"eeon_[a-z0-9_]+", family.name)
    assert family.name.endswith("_total") == (family.kind == "counter")
    assert not re.search(r"_(ms|us|ns|ps|kb|mb|bits|percent)(_|$)", family.name)
    assert family.help.endswith(".") and set(family.labels) <= {
        *("switch", "port", "class", "priority", "verdict", "cause", "result", "what", "version"),
        "election_id",
    }
    assert bool(family.resets) == (family.kind != "gauge")


def test_counters_of_ports_that_are_zero_are_left_out_if_asked_and_nothing_else_is():
    received = [ReceivedCount("leaf1", 1, name, at, 60 * at) for name, at in (("ack", 3), ("data", 0))]
    verdicts = [
        VerdictCount("leaf1", 1, *of, at, 60 * at)
        for *of, at in (("ack", "marked", 2), ("ack", "tail_dropped", 0), ("data", "marked", 0))
    ]
    seen = replace(observation(), cells=CELLS, counters=FabricCounters(tuple(received), tuple(verdicts)))
    whole, short = ({*of_observation("leaf1", seen, zeros=zeros)} for zeros in (True, False))
    assert {row for row in short if row[-1] == "ack"} == {
        ("port_received_packets_total", 3, "leaf1", "1", "ack"),
        ("port_received_bytes_total", 180, "leaf1", "1", "ack"),
        ("port_marked_packets_total", 2, "leaf1", "1", "ack"),
        ("port_marked_bytes_total", 120, "leaf1", "1", "ack"),
        ("port_sent_packets_total", 2, "leaf1", "1", "ack"),
        ("port_sent_bytes_total", 120, "leaf1", "1", "ack"),
    }
    assert {(name, value) for name, value, *_ in whole - short} == {
        (f"port_{what}_{unit}_total", 0)
        for what in ("received", "sent", "marked", "dropped")
        for unit in ("packets", "bytes")
    }
    assert short < whole
