"""The controller's energy, from the P4 program's counts, against the state of the twin's PHYs.

The two share no code: `eeon_control.energy` reads registers, the engine integrates the state of each PHY over
its transmissions.

Tolerance: the program's timestamps are whole nanoseconds, so the beginning and the end of each sleep may each
be off by a tick, and the end of a frame that is on the wire at the time of reading is not yet known.
"""

from typing import Any

import pytest
from eeon_control import config as configs
from eeon_control import energy, fabric
from eeon_control import program as programs
from eeon_control import topology as topologies
from eeon_control.energy import Reading
from eeon_control.fabric.sync import run
from eeon_control.topology import Topology
from eeon_tools.replay.feed import Feed
from eeon_tools.replay.spec import TICK_PS, fabric_spec
from eeon_tools.replay.twin import RunningTwin, running_twin

pytestmark = pytest.mark.system

TICKS_OFF_PER_WAKE = 2
FRAME_PS = 12_304_000  # 1538 bytes of wire at 1 Gbit/s


def reading(topology: Topology, twin: RunningTwin, at_ps: int, *, knows_clock: bool) -> dict[str, Reading]:
    held = run(fabric.read_entries(topology, twin.targets))
    registers = twin.registers(energy.REGISTERS)
    return {
        name: Reading(
            at_ps,
            TICK_PS,
            {port.number: registers[name, port.number] for port in switch.ports},
            energy.timings(held[name], switch.ports),
            at_ps // TICK_PS if knows_clock else None,
        )
        for name, switch in topology.switches.items()
    }


def transmitters(report: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(one["node"], one["port"]): one for one in report["energy"]["transmitters"]}


@pytest.mark.parametrize("knows_clock", [True, False], ids=["clock known", "clock unknown"])
@pytest.mark.parametrize("eee", ["eee_off", "eee_standard", "eee_120us100"])
def test_energy_from_registers_is_the_energy_of_the_phys(small_trace, eee, knows_clock):
    topology = topologies.load("leaf-spine-4")
    config = configs.load("mark_threshold", eee)
    feed = Feed(small_trace, list(topology.hosts.values()), 1.0)
    with running_twin(topology, programs.load(), fabric_spec(topology, config, 1)) as twin:
        twin.apply(config)
        offers = list(feed.offers())
        moments = [offers[len(offers) * part // 4].at_ps for part in (1, 3)]
        taken = []
        for offer in offers:
            if len(taken) < len(moments) and offer.at_ps >= moments[len(taken)]:
                twin.engine.run_until(offer.at_ps)
                read = reading(topology, twin, offer.at_ps, knows_clock=knows_clock)
                taken.append((read, transmitters(twin.report())))
            twin.send([offer])
    (before, phys_before), (after, phys_after) = taken
    wakes = 0
    for name, switch in topology.switches.items():
        found = energy.switch_energy(switch, before[name], after[name])
        assert not found.restarted
        for port in found.ports:
            then, now = (phys[name, port.port.number] for phys in (phys_before, phys_after))
            off_ps = TICKS_OFF_PER_WAKE * TICK_PS * (port.wakes + 2) + FRAME_PS
            if not knows_clock:  # the latest departure is used as the clock, at both readings
                newest = max(values["busy_until"] for values in after[name].registers.values())
                off_ps += max(0, after[name].at_ps - newest * TICK_PS)
            assert port.lpi_ps == pytest.approx(now["lpi_ps"] - then["lpi_ps"], abs=off_ps)
            assert port.joules == pytest.approx(
                now["used_joules"] - then["used_joules"], abs=2.5 * 0.9 * off_ps / 1e12
            )
            wakes += port.wakes
    assert (wakes > 50) == (eee != "eee_off")
