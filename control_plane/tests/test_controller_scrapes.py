"""Scrapes of a running supervisor: they do not read switches too often, and no switch delays them."""

import asyncio
import itertools
import threading
from dataclasses import replace

import pytest
from eeon_control.controller.metrics import CATALOG
from eeon_control.controller.metrics.readings import Readings
from eeon_control.fabric.read import observe_switch
from engine_switches import LocalSwitch
from scraping import Samples, collected
from supervised import SECONDS, TOPOLOGY, supervised, until

pytestmark = pytest.mark.system


class SlowSwitch(LocalSwitch):
    """A switch that counts reads of counters, and answers them only while `answers` is set."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.reads = 0
        self.answers = threading.Event()
        self.answers.set()

    def read(self, request, *arguments):
        if request.entities[0].HasField("counter_entry"):
            self.reads += 1
            self.answers.wait()
        return super().read(request, *arguments)


def patient(supervisor, young_seconds: float = 5.0) -> Readings:
    """Returns readings whose scrapes wait for every switch: the machine may be busy."""
    return Readings(supervisor, young_seconds, SECONDS)


async def scraped(readings: Readings) -> Samples:
    await readings.refresh()
    return collected(readings)


async def test_fabric_in_sync_is_told_with_counters_and_registers_of_every_linked_port(tmp_path):
    async with supervised(tmp_path, SlowSwitch) as (fabric, supervisor):
        leaf1 = fabric.switches["leaf1"]
        leaf1.set_counter("received", 1 << 3, 7, 700)
        leaf1.set_register("occupancy_bytes", 1, 1500)
        supervisor.counts.finished["journal", "back"] = 1
        found = await scraped(patient(supervisor))
    assert found["eeon_config_revision",] == 1 and found["eeon_controller_in_charge",] == 1
    of_fabric = {name for name in CATALOG if not name.startswith("eeon_port_")}
    assert of_fabric - {key[0] for key in found} == {
        "eeon_config_confirm_remaining_seconds",
        "eeon_switch_restore_seconds",
    }
    assert found["eeon_switch_restore_seconds_count", "leaf1"] == 1
    for name, switch in TOPOLOGY.switches.items():
        assert found["eeon_switch_up", name] == found["eeon_switch_primary", name] == 1
        assert found["eeon_switch_in_sync", name] == 1
        ports = {key[2] for key in found if key[:2] == ("eeon_port_occupancy_bytes", name)}
        assert ports == {str(port.number) for port in switch.ports}
    assert found["eeon_port_received_packets_total", "leaf1", "1", "data"] == 7
    assert found["eeon_port_received_bytes_total", "leaf1", "1", "data"] == 700
    assert found["eeon_port_occupancy_bytes", "leaf1", "1"] == 1500
    assert found["eeon_switch_restores_total", "leaf1", "program"] == 1


async def test_hasty_scraper_is_answered_from_the_last_reading_which_scrapes_at_the_same_time_share(tmp_path):
    async with supervised(tmp_path, SlowSwitch) as (fabric, supervisor):
        readings = patient(supervisor, 3600)
        await asyncio.gather(*(readings.refresh() for _ in range(5)))
        answers = [await scraped(readings) for _ in range(5)]
        assert all(one["eeon_switch_up", "leaf1"] == 1 for one in answers)
        assert [one.reads for one in fabric.switches.values()] == [1, 1, 1, 1]


async def test_switch_that_does_not_answer_holds_up_no_scrape_and_is_there_when_it_has_answered(tmp_path):
    others = [name for name in TOPOLOGY.switches if name != "spine1"]
    async with supervised(tmp_path, SlowSwitch) as (fabric, supervisor):
        fabric.switches["spine1"].answers.clear()
        readings = Readings(supervisor, young_seconds=0, wait_seconds=0.5)
        async with asyncio.timeout(60):
            # On a busy machine, the others need more than one scrape.
            first = await scraped(readings)
            while any(first["eeon_switch_up", name] == 0 for name in others):
                first = await scraped(readings)
            fabric.switches["spine1"].answers.set()
            while (later := await scraped(readings))["eeon_switch_up", "spine1"] == 0:
                await asyncio.sleep(0.01)
    assert [first["eeon_switch_up", name] for name in TOPOLOGY.switches] == [1, 1, 0, 1]
    key = "eeon_port_received_packets_total", "spine1", "1", "data"
    assert key not in first and key in later


async def test_switch_that_is_gone_is_down_and_the_others_are_told(tmp_path):
    async with supervised(tmp_path, SlowSwitch) as (fabric, supervisor):
        readings = patient(supervisor)
        assert (await scraped(readings))["eeon_switch_up", "leaf2"] == 1
        fabric.switches["leaf2"].stop()
        await until(lambda: not supervisor.links["leaf2"].machine.is_connected)
        found = await scraped(readings)
    assert [found["eeon_switch_up", name] for name in TOPOLOGY.switches] == [1, 0, 1, 1]
    assert found["eeon_switch_connections_lost_total", "leaf2"] == 1
    assert found["eeon_switch_in_sync", "leaf2"] == 0
    assert {key[0] for key in found if key[0].startswith("eeon_port_") and key[1] == "leaf2"} == {
        "eeon_port_speed_bytes",
        "eeon_port_buffer_bytes",
    }


async def test_standby_reads_no_switch_and_tells_of_no_port(tmp_path):
    async with supervised(tmp_path, SlowSwitch) as (fabric, supervisor):
        with supervisor.store.controller_lock(99):
            await until(lambda: not supervisor.in_charge)
            found = await scraped(patient(supervisor))
        assert [one.reads for one in fabric.switches.values()] == [0, 0, 0, 0]
    assert found["eeon_controller_in_charge",] == 0
    assert [found["eeon_switch_up", name] for name in TOPOLOGY.switches] == [1, 1, 1, 1]
    assert not [key for key in found if key[0].startswith("eeon_port_")]


async def test_energy_of_a_port_that_does_not_sleep_is_its_full_power_over_the_time_between_readings(
    tmp_path, monkeypatch
):
    read = itertools.count()

    async def ten_seconds_later_each_time(session, *arguments):
        observation = await observe_switch(session, *arguments)
        if session.name != "leaf1":
            return observation
        return replace(observation, at_ps=next(read) * 10 * 10**12)

    monkeypatch.setattr(
        "eeon_control.controller.metrics.readings.observe_switch", ten_seconds_later_each_time
    )
    async with supervised(tmp_path, SlowSwitch) as (_, supervisor):
        readings = patient(supervisor, 0)
        found = [await scraped(readings) for _ in range(3)]
    joules = [one["eeon_port_energy_joules_total", "leaf1", "1"] for one in found]
    assert joules == [0, 5, 10]  # 1000BASE-T: 0.5 W
    assert found[2]["eeon_port_legacy_energy_joules_total", "leaf1", "1"] == 10
    assert found[2]["eeon_port_lpi_seconds_total", "leaf1", "1"] == 0
