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
from eeon_control.fabric.read import FabricCounters, Observation, ReceivedCount, VerdictCount
from scraping import Samples, exported

TOPOLOGY = topology.load("leaf-spine-4")
LEAF1 = TOPOLOGY.switches["leaf1"]
REGISTERS = dict.fromkeys((*energy.REGISTERS, "occupancy_bytes", "occupancy_packets", "held_packets"), 0)
SPENT = energy.PortEnergy(LEAF1.ports[0], 3 * 10**12, 2 * 10**12, 10**9, 1, 0.25, 1.0)


def observed(**changes) -> Samples:
    """Returns the page about an observation of leaf1."""
    return exported(of_observation("leaf1", replace(observation(), **changes)))


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
    found = observed()
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
    found = observed()
    causes = {key[4] for key in found if key[0] == "eeon_port_dropped_packets_total"}
    assert set(constants.VERDICTS) == causes | {"forwarded", "marked", "to_cpu", "consumed"}


def test_target_without_registers_has_counters_only():
    found = observed(registers=None)
    names = {key[0] for key in found}
    assert "eeon_port_received_packets_total" in names and "eeon_port_occupancy_bytes" not in names


def test_packets_are_held_only_while_the_port_is_on_hold():
    held = {
        port.number: REGISTERS | {"held_packets": 7, "eee_state": port.number % 3} for port in LEAF1.ports
    }
    found = observed(registers=held)
    assert [found["eeon_port_held_packets", "leaf1", str(port)] for port in (1, 2, 3)] == [7, 0, 0]


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


CELLS = {
    ("pauses_sent", 1 << 3 | 3): 5,
    ("pauses_received", 1 << 3 | 3): 6,
    ("lossless_dropped", 1 << 3 | 3): 7,
    ("control_ignored", 1): 8,
    ("ingress_bytes", 1 << 3 | 3): 9_000,
    ("pause_sent_at", 1 << 3 | 3): 123_456,
    ("pause_sent_at", 2 << 3 | 3): 0,
    ("qcn_samples", 2 << 3 | 1): 10,
    ("cnms_made", 2 << 3 | 1): 11,
    ("cnms_ignored", 2): 12,
}


def test_lossless_classes_and_congestion_points_are_told_by_port_and_priority():
    storms = {1 << 3 | 3: (2, True), 2 << 3 | 3: (0, False)}
    found = observed(cells=CELLS) | exported(of_storms("leaf1", storms))
    of_queue = {
        "pauses_sent_total": 5,
        "pauses_received_total": 6,
        "lossless_dropped_packets_total": 7,
        "lossless_bytes": 9_000,
        "neighbour_paused": 1,
        "pause_storms_total": 2,
        "pause_storm": 1,
    }
    assert {name: found[f"eeon_port_{name}", "leaf1", "1", "3"] for name in of_queue} == of_queue
    assert found["eeon_port_neighbour_paused", "leaf1", "2", "3"] == 0
    assert found["eeon_port_pause_storm", "leaf1", "2", "3"] == 0
    assert found["eeon_port_control_ignored_packets_total", "leaf1", "1"] == 8
    assert found["eeon_port_qcn_samples_total", "leaf1", "2", "1"] == 10
    assert found["eeon_port_cnms_total", "leaf1", "2", "1"] == 11
    assert found["eeon_port_cnms_ignored_packets_total", "leaf1", "2"] == 12


def test_a_port_whose_buffer_counts_packets_has_a_speed_and_no_limit_in_bytes():
    found = exported(of_ports(LEAF1, {1: 300_000, 2: None}, None))
    assert found["eeon_port_speed_bytes", "leaf1", "2"] == found["eeon_port_speed_bytes", "leaf1", "1"]
    assert found["eeon_port_buffer_bytes", "leaf1", "1"] == 300_000
    assert ("eeon_port_buffer_bytes", "leaf1", "2") not in found


def test_a_port_whose_link_is_down_is_told_where_the_switch_says_so():
    found = exported(of_ports(LEAF1, {}, frozenset({3})))
    assert [found["eeon_port_up", "leaf1", str(port)] for port in (1, 2, 3, 4)] == [1, 1, 0, 1]
    assert not exported(of_ports(LEAF1, {}, None))


def test_rows_about_ports_and_restores_are_those_of_the_catalogue():
    rows = [
        *of_observation("leaf1", replace(observation(), cells=CELLS)),
        *of_ports(LEAF1, {1: 300_000}, frozenset()),
        *of_storms("leaf1", {1 << 3 | 3: (2, True)}),
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
