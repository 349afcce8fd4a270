"""The power of a fabric's ports, computed from the P4 program's EEE registers. Pure.

    before = Reading(at_ps=..., registers={3: {...}}, timings={3: timing_of(...)})
    energy = switch_energy(switch, before, after)         # watts and joules, port by port

A port's PHY draws full power, except in low-power idle (LPI), where it draws a fraction. The registers hold
the time in LPI of all completed sleeps and the start of the current one; its duration follows from the
switch's clock. No register holds the clock. A caller that knows it (Thrift's `get_time_elapsed_us`, a twin's
virtual time) passes it as `Reading.now_ticks`, and the result is exact to two ticks per sleep. Otherwise, the
clock is estimated from the last packet that left the switch between the two readings, and a port's time in
LPI may be off by the time since that packet.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eeon_control.constants import EEE_ACTIVE, TICK_VALUES, TICKS_AHEAD_LIMIT, WAKES_VALUES
from eeon_control.entries import Action, Entry, by_key
from eeon_control.port_settings import EEE, IN_TICKS, EeeSettings
from eeon_control.topology import Port, Switch, phy
from eeon_control.units import PS_PER_S

REGISTERS: tuple[str, ...] = ("eee_state", "busy_until", "wake_start", "asleep_at", "lpi_ticks", "wakes")
"""P4Info aliases of the registers that `Reading.registers` must hold for every port."""

_Clocks = tuple[int, int] | None
"""A switch's clock at two readings; None if it is unknown."""


@dataclass(frozen=True)
class Reading:
    """One switch's EEE registers at one moment.

    `at_ps`: the time, by any clock that runs at the switch's rate. `tick_ps`: length of a tick. `registers`:
    port -> register -> value, for REGISTERS. `timings`: port -> its timers, None if EEE is off.
    `now_ticks`: the switch's own clock, if known.
    """

    at_ps: int
    tick_ps: int
    registers: Mapping[int, Mapping[str, int]]
    timings: Mapping[int, EeeSettings | None]
    now_ticks: int | None = None


@dataclass(frozen=True)
class PortEnergy:
    """The states and the energy of one port's transmitter between two readings.

    `lpi_ps` + `transition_ps` + `active_ps` = `elapsed_ps`. `watts` is the mean. `legacy_joules`: the energy
    of a PHY that never sleeps. Joules and watts are None if the PHY's power is unknown.
    """

    port: Port
    elapsed_ps: int
    lpi_ps: int
    transition_ps: int
    wakes: int
    joules: float | None
    legacy_joules: float | None

    @property
    def active_ps(self) -> int:
        """Time awake, in picoseconds: sending, or idle but not asleep."""
        return self.elapsed_ps - self.lpi_ps - self.transition_ps

    @property
    def watts(self) -> float | None:
        """Mean power; None if it is unknown or no time has passed."""
        if self.joules is None or not self.elapsed_ps:
            return None
        return self.joules * PS_PER_S / self.elapsed_ps


@dataclass(frozen=True)
class SwitchEnergy:
    """All linked ports of one switch. `restarted`: its registers were reset between the two readings."""

    ports: tuple[PortEnergy, ...]
    restarted: bool


ASSUMPTIONS: dict[str, object] = {
    "watts": {f"{one.name} ({one.rate})": one.watts for one in phy.KNOWN},
    "lpi_fraction": {f"{one.name} ({one.rate})": one.lpi_fraction for one in phy.KNOWN},
    "transitions": "at full power",
    "scope": "the transmitting side of switch ports, without hosts' NICs and the rest of the switch",
    "source": "E-EON thesis, sections 2.1 and 3.2, tables 2.1 and 4.1",
}
"""The assumptions behind every number of this module, to be shown with it."""


def assumed() -> tuple[str, str]:
    """Returns the assumptions as sentences."""
    known = ", ".join(f"{one.name} ({one.rate}) {one.watts:g} W a port" for one in phy.KNOWN if one.watts)
    shares = sorted({f"{one.lpi_fraction:.0%}" for one in phy.KNOWN})
    return (
        f"assumed: {known}; {' or '.join(shares)} of it in low-power idle; going to sleep and waking "
        f"{ASSUMPTIONS['transitions']} ({ASSUMPTIONS['source']})",
        f"counted: {ASSUMPTIONS['scope']}",
    )


def timing_of(action: Action | None) -> EeeSettings | None:
    """Returns the settings in an action of the table `port_eee`, with times in ticks of the switch's
    timestamps, as the switch holds them; None if the link never sleeps."""
    eee = None if action is None else EEE.from_action(action, IN_TICKS)
    return eee if isinstance(eee, EeeSettings) else None


def timings(entries: Iterable[Entry], ports: Iterable[Port]) -> dict[int, EeeSettings | None]:
    """Returns the timers of every port in `ports`, from the entries of a switch's table `port_eee`."""
    actions = by_key(entries, EEE.name)
    return {port.number: timing_of(actions.get(port.number)) for port in ports}


def lpi_ticks(registers: Mapping[str, int], timing: EeeSettings | None, now: int) -> int:
    """Returns the ticks in LPI from the switch's start to `now`, the current sleep included; modulo 2^48.

    The rules are those of the P4 program (control/eee.p4): a sleep begins `stall` after the wire became idle;
    LPI begins `sleep` later and lasts until the wake-up starts.
    """
    closed = registers["lpi_ticks"]
    if registers["eee_state"] != EEE_ACTIVE:
        asleep, until = registers["asleep_at"], registers["wake_start"]
        until = now if _is_ahead(until, now) else until
    elif timing is None:
        return closed
    else:
        asleep, until = registers["busy_until"] + timing.stall + timing.sleep, now
    return closed if _is_ahead(asleep, until) else (closed + until - asleep) % TICK_VALUES


def switch_energy(switch: Switch, before: Reading, after: Reading) -> SwitchEnergy:
    """Returns the states and the energy of every linked port of a switch between two readings.

    If the switch has restarted in between, the times in its registers count as part of the interval, and the
    rest of the interval counts at full power.
    """
    elapsed_ps = max(0, after.at_ps - before.at_ps)
    restarted = _has_restarted(before, after, elapsed_ps)
    clocks = _clocks(before, after, elapsed_ps // after.tick_ps)
    ports = (_port_energy(port, before, after, clocks, elapsed_ps, restarted) for port in switch.ports)
    return SwitchEnergy(tuple(ports), restarted)


def _port_energy(
    port: Port, before: Reading, after: Reading, clocks: _Clocks, elapsed_ps: int, restarted: bool
) -> PortEnergy:
    then, now = before.registers[port.number], after.registers[port.number]
    timing = after.timings[port.number]
    if restarted:
        lpi, wakes = now["lpi_ticks"], now["wakes"]
    else:
        lpi = _lpi_between(port.number, before, after, clocks, elapsed_ps // after.tick_ps)
        wakes = (now["wakes"] - then["wakes"]) % WAKES_VALUES
    lpi_ps = min(lpi * after.tick_ps, elapsed_ps)
    each = (timing.sleep + timing.wake) * after.tick_ps if timing else 0
    transition_ps = min(wakes * each, elapsed_ps - lpi_ps)
    known = phy.of_rate(port.rate)
    joules = legacy = None
    if known is not None and known.watts is not None:
        legacy = known.watts * elapsed_ps / PS_PER_S
        joules = known.watts * (elapsed_ps - (1 - known.lpi_fraction) * lpi_ps) / PS_PER_S
    return PortEnergy(port, elapsed_ps, lpi_ps, transition_ps, wakes, joules, legacy)


def _lpi_between(port: int, before: Reading, after: Reading, clocks: _Clocks, elapsed: int) -> int:
    now, timing = after.registers[port], after.timings[port]
    if clocks is not None:
        earlier = lpi_ticks(before.registers[port], before.timings[port], clocks[0])
        spent = (lpi_ticks(now, timing, clocks[1]) - earlier) % TICK_VALUES
        # Registers are not all read at the same moment; a slightly negative time counts as 0.
        return 0 if spent > TICK_VALUES // 2 else min(spent, elapsed)
    # No packet has left the switch in the interval: every link with EEE sleeps after at most stall + Ts.
    if timing is None or now["eee_state"] != EEE_ACTIVE:
        return 0
    return max(0, elapsed - timing.stall - timing.sleep)


def _clocks(before: Reading, after: Reading, elapsed: int) -> _Clocks:
    """Returns the clocks, given or by the switch's last departure."""
    if after.now_ticks is not None and before.now_ticks is not None:
        return before.now_ticks, after.now_ticks
    changed = [
        values["busy_until"]
        for port, values in after.registers.items()
        if port in before.registers and values["busy_until"] != before.registers[port]["busy_until"]
    ]
    if not changed:
        return None
    # The clock wraps, but all lie within one interval, far less than half of its range.
    newest = max(changed, key=lambda stamp: (stamp - changed[0] + TICK_VALUES // 2) % TICK_VALUES)
    return (newest - elapsed) % TICK_VALUES, newest


def _has_restarted(before: Reading, after: Reading, elapsed_ps: int) -> bool:
    if (
        before.now_ticks is not None
        and after.now_ticks is not None
        and (after.now_ticks - before.now_ticks) % TICK_VALUES > TICK_VALUES // 2
    ):
        return True
    for port, now in after.registers.items():
        timing = after.timings.get(port) or before.timings.get(port)
        if port not in before.registers or timing is None:
            continue
        wakes = (now["wakes"] - before.registers[port]["wakes"]) % WAKES_VALUES
        # Each wake takes a sleep and a wake-up. More wakes than the time allows: the count was reset.
        if (wakes - 1) * max(1, timing.sleep + timing.wake) * after.tick_ps > elapsed_ps:
            return True
    return False


def _is_ahead(moment: int, now: int) -> bool:
    """Returns whether `moment` is less than 2^40 ticks ahead of `now`: the program's rule for its wrapping
    clock (docs/models/eee_hold.md)."""
    return 0 < (moment - now) % TICK_VALUES < TICKS_AHEAD_LIMIT
