"""Converts observations of a fabric to `energy`'s readings of its switches."""

from dataclasses import replace

from eeon_control import energy
from eeon_control.energy import Reading, SwitchEnergy
from eeon_control.fabric.read import FabricObservation, Observation
from eeon_control.topology import Switch, Topology
from eeon_control.units import Duration


def between(
    topology: Topology, before: FabricObservation, after: FabricObservation, tick: Duration
) -> dict[str, SwitchEnergy]:
    """Returns switch -> energy, for the switches that were read both times and have registers."""
    found = {}
    for name, switch in topology.switches.items():
        if name not in before.switches or name not in after.switches:
            continue
        then, now = (reading(switch, one.switches[name], tick) for one in (before, after))
        if then is not None and now is not None:
            # The switch's own clock, unless it was restarted, fits its registers best.
            if then.now_ticks is not None and now.now_ticks is not None and now.now_ticks > then.now_ticks:
                then, now = (replace(one, at_ps=(one.now_ticks or 0) * one.tick_ps) for one in (then, now))
            found[name] = energy.switch_energy(switch, then, now)
    return found


def reading(switch: Switch, observed: Observation, tick: int) -> Reading | None:
    """Returns the reading; None without registers. Needs entries and `energy.REGISTERS`."""
    if observed.registers is None:
        return None
    timings = energy.timings(observed.entries, switch.ports)
    return Reading(observed.at_ps, int(tick), observed.registers, timings, observed.now_ticks(int(tick)))
