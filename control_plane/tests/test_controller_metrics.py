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
