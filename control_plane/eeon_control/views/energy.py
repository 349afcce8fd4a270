"""`eeon show energy`: power and energy of the ports, and the underlying assumptions."""

import math
from collections.abc import Sequence

from eeon_control.energy import ASSUMPTIONS, REGISTERS, PortEnergy, assumed
from eeon_control.fabric.read import FabricObservation, Wanted
from eeon_control.topology import Topology
from eeon_control.units import PS_PER_S, Duration
from eeon_control.views import power
from eeon_control.views.kind import Kind
from eeon_control.views.port_tables import NO_REGISTERS
from eeon_control.views.scale import measured, per_second, rate_exact
from eeon_control.views.table import PORT, Column, Row, View, share

VIEW = Kind(
    "energy",
    """Show watts and joules over an interval (1s, or --rate).""",
    Wanted(entries=True, registers=REGISTERS, clock=True),
    lambda data: energy(data.topology, data.before, data.observed, data.targets.tick),
    ("--rate 10s",),
    has_own_interval=True,
    default_interval_s=1.0,
)

_WATTS = ((1, "W"),)
_JOULES = ((1, "J"),)


def energy(
    topology: Topology, before: FabricObservation | None, after: FabricObservation, tick: Duration
) -> View:
    """Shows energy by port. Needs two observations with entries, `REGISTERS` and the clock, if available."""
    assert before is not None, "it has a default interval"
    between = power.between(topology, before, after, tick)
    ports = [port for one in between.values() for port in one.ports]
    notes = [
        f"{name} has restarted; the time before the restart counts as awake"
        for name, one in between.items()
        if one.restarted
    ]
    if any(one.registers is None for one in after.switches.values()):
        notes.append(f"switches without registers are left out; {NO_REGISTERS[3:]}")
    unknown = [port for port in ports if port.joules is None]
    if unknown:
        speeds = ", ".join(sorted({str(port.port.rate) for port in unknown}))
        notes.append(
            f"{len(unknown)} of {len(ports)} ports not in the totals: a PHY's power at {speeds} is not known"
        )
    totals, sentence = _totals(ports)
    if totals["ports"]:
        notes.insert(0, sentence)
    if any(name in between and after.switches[name].elapsed_us is None for name in after.switches):
        notes.append(
            "a switch's clock can be read over Thrift only; without `thrift` in the targets file, the time "
            "is that of its newest departure"
        )
    columns = [
        PORT,
        Column("role", "role", right=False),
        Column("rate_bps", "rate", rate_exact),
        Column("lpi_share", "in LPI", share),
        Column("transition_share", "in transition", share),
        Column("wakes_per_s", "wakes", per_second),
        Column("watts", "power", measured(_WATTS)),
        Column("joules", "energy", measured(_JOULES)),
        Column("power_share", "of full", share),
    ]
    elapsed_ps = max((port.elapsed_ps for port in ports), default=0)
    title = f"energy of switch ports, over {elapsed_ps / PS_PER_S:.3g} s"
    more: dict[str, object] = {"totals": totals, "assumptions": ASSUMPTIONS}
    return View("energy", title, columns, [*map(_row, ports)], notes=[*notes, *assumed()], more=more)


def _row(port: PortEnergy) -> Row:
    elapsed = port.elapsed_ps or None
    return {
        "port": port.port.name,
        "role": port.port.role.value,
        "rate_bps": int(port.port.rate),
        "lpi_share": elapsed and port.lpi_ps / elapsed,
        "transition_share": elapsed and port.transition_ps / elapsed,
        "wakes_per_s": elapsed and port.wakes * PS_PER_S / elapsed,
        "watts": port.watts,
        "joules": port.joules,
        "power_share": port.joules / port.legacy_joules if port.joules and port.legacy_joules else None,
    }


def _totals(ports: Sequence[PortEnergy]) -> tuple[dict[str, float | None], str]:
    """Returns totals over all ports with known power, with the names in JSON output, and as a sentence."""
    known = [port for port in ports if port.joules is not None]
    joules = math.fsum(port.joules or 0 for port in known)
    legacy = math.fsum(port.legacy_joules or 0 for port in known)
    watts = math.fsum(port.watts or 0 for port in known)
    saved = 1 - joules / legacy if legacy else None
    totals = {
        "ports": len(known),
        "ports_of_unknown_power": len(ports) - len(known),
        "watts": watts,
        "joules": joules,
        "always_on_joules": legacy,
        "saved_share": saved,
    }
    text = (
        f"{len(known)} port{'s' if len(known) != 1 else ''}: {watts:.4g}W, {joules:.4g}J; always on they "
        f"would use {legacy:.4g}J"
    )
    return totals, text if saved is None else f"{text}, so EEE saves {saved:.1%}"
