"""`eeon show eee`: the configuration of Energy-Efficient Ethernet, and the states of the links."""

from eeon_control import constants, energy
from eeon_control.energy import PortEnergy, timing_of
from eeon_control.fabric.read import FabricObservation, Observation, Wanted
from eeon_control.plan import Action
from eeon_control.port_settings import EEE, EeeSettings
from eeon_control.topology import Port, Topology
from eeon_control.units import Duration
from eeon_control.views import power
from eeon_control.views.filters import counted
from eeon_control.views.kind import Kind
from eeon_control.views.port_tables import NO_REGISTERS, by_port
from eeon_control.views.scale import per_second, time_exact, time_measured, whole
from eeon_control.views.table import PORT, Column, Row, View, share

REGISTERS = (*energy.REGISTERS, "held_packets")
_TIMERS = {"stall": 1, "sleep": 2, "wake": 2, "hold": 3}  # with the worth of their columns
VIEW = Kind(
    "eee",
    """Show EEE: settings, link states, time asleep, wakes.""",
    Wanted(entries=True, registers=REGISTERS, clock=True),
    lambda data: eee(data.topology, data.observed, data.targets.tick, data.before),
    ("", "--rate 5s"),
    has_own_interval=True,
    nonzero=counted("wakes"),
)


def eee(
    topology: Topology, observed: FabricObservation, tick: Duration, before: FabricObservation | None = None
) -> View:
    """Shows EEE by port. Needs entries, `REGISTERS` and, for shares without `before`, the clock.

    With `before`, an earlier observation, LPI time, its share and wakes refer to the time between the two.
    """
    rows: list[Row] = []
    between = {} if before is None else power.between(topology, before, observed, tick)
    for name, found in observed.switches.items():
        held = by_port(found.entries)
        changes = {one.port.number: one for one in between[name].ports} if name in between else {}
        for port in topology.switches[name].ports:
            action = held.get(port.number, {}).get(EEE.name)
            row: Row = {"port": port.name, **_configured(action, tick)}
            if before is not None:
                row |= _operational(found, port) | _change(changes.get(port.number))
            else:
                row |= _operational(found, port) | _since_start(found, port, timing_of(action), tick)
            rows.append(row)
    columns = [
        PORT,
        Column("mode", "configured\nmode", right=False),
        *(Column(f"{key}_ps", f"\n{key}", time_exact, worth=worth) for key, worth in _TIMERS.items()),
        Column("trigger", "\ntrigger", worth=3),
        Column("state", "operational\nstate", right=False),
        Column("held_packets", "\nheld", worth=4),
        Column("lpi_ps", "\ntime in LPI", time_measured),
        Column("lpi_share", "\nshare", share),
        Column("wakes", "\nwakes", whole),
    ]
    notes = [NO_REGISTERS] if any(one.registers is None for one in observed.switches.values()) else []
    if before is None:
        notes.append(_since_note(observed))
        return View("eee", "EEE", columns, rows, notes=notes)
    columns[-1] = Column("wakes_per_s", "\nwakes", per_second)
    restarted = [name for name, one in between.items() if one.restarted]
    notes += [f"{name} has restarted; its rows count from the restart" for name in restarted]
    return View("eee", f"EEE, over {_seconds(between):.3g} s", columns, rows, notes=notes)


def _since_note(observed: FabricObservation) -> str:
    if all(one.elapsed_us is not None for one in observed.switches.values()):
        return "time in LPI since the switch started, the current sleep included"
    return (
        "time in LPI is counted when a sleep ends; for shares give --rate 5s, or `thrift` in the targets "
        "file (the switch's clock)"
    )


def _configured(action: Action | None, tick: Duration) -> Row:
    settings = None if action is None else EEE.from_action(action, tick)
    if not isinstance(settings, EeeSettings):
        mode = "off" if action else "off (program default)"
        return {"mode": mode, **dict.fromkeys(f"{key}_ps" for key in _TIMERS), "trigger": ""}
    timers = {f"{key}_ps": int(getattr(settings, key)) for key in _TIMERS}
    return {"mode": settings.mode, **timers, "trigger": str(settings.trigger)}


def _operational(found: Observation, port: Port) -> Row:
    if found.registers is None:
        return {"state": None, "held_packets": None}
    values = found.registers[port.number]
    return {"state": _state(values["eee_state"]), "held_packets": values["held_packets"]}


def _since_start(found: Observation, port: Port, timing: EeeSettings | None, tick: Duration) -> Row:
    if found.registers is None:
        return {"lpi_ps": None, "lpi_share": None, "wakes": None}
    values = found.registers[port.number]
    now = found.now_ticks(int(tick))
    if not now:
        return {"lpi_ps": values["lpi_ticks"] * tick, "lpi_share": None, "wakes": values["wakes"]}
    ticks = energy.lpi_ticks(values, timing, now)
    return {"lpi_ps": ticks * tick, "lpi_share": min(1.0, ticks / now), "wakes": values["wakes"]}


def _change(found: PortEnergy | None) -> Row:
    if found is None or not found.elapsed_ps:
        return {"lpi_ps": None, "lpi_share": None, "wakes_per_s": None}
    return {
        "lpi_ps": found.lpi_ps,
        "lpi_share": found.lpi_ps / found.elapsed_ps,
        "wakes_per_s": found.wakes * 10**12 / found.elapsed_ps,
    }


def _seconds(between: dict[str, energy.SwitchEnergy]) -> float:
    return max((port.elapsed_ps for one in between.values() for port in one.ports), default=0) / 10**12


def _state(number: int) -> str:
    names = constants.EEE_STATES
    return names[number] if number < len(names) else f"unknown ({number})"
