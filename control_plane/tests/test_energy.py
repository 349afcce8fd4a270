"""Energy from the EEE registers: states, the clock's wrap, restarts, ports of unknown power."""

from fractions import Fraction

import pytest
from eeon_control import energy, topology
from eeon_control.constants import EEE_STATES
from eeon_control.energy import Reading
from eeon_control.port_settings import EeeSettings
from eeon_control.units import Bytes, Duration

TICK_PS = 1000
TEN_G = EeeSettings(*map(Duration, (2880, 4480, 0, 0)), None, None, Fraction(0), Bytes(24))  # in ticks
ACTIVE = EEE_STATES.index("active")
SECOND = 10**12
SECOND_TICKS = SECOND // TICK_PS
HELD = {"busy_until": 1000}


def registers(**values: int) -> dict[str, int]:
    return dict.fromkeys(energy.REGISTERS, 0) | {"eee_state": ACTIVE} | values


SWITCH = topology.from_text(
    """
name: two-speeds
nodes: {leaf1: {kind: switch, role: leaf}, h1: {kind: host}, h2: {kind: host}}
defaults: {delay: 1us, overhead: 24B}
links:
  - {endpoints: ["leaf1:1", "h1:1"], rate: 10Gbps}
  - {endpoints: ["leaf1:2", "h2:1"], rate: 300Mbps}
"""
).switches["leaf1"]


def spent(
    before: dict[str, int],
    after: dict[str, int],
    *,
    clock=(None, None),
    timing=TEN_G,
    passed_ps: int = SECOND,
) -> energy.SwitchEnergy:
    """Returns the energy between two looks at the registers of port 1, and at the switch's clock."""
    looks = [
        Reading(at_ps, TICK_PS, {1: registers(**of), 2: registers()}, {1: timing, 2: None}, now)
        for at_ps, of, now in zip((0, passed_ps), (before, after), clock, strict=True)
    ]
    return energy.switch_energy(SWITCH, *looks)


def test_a_link_whose_eee_is_off_does_not_sleep_but_keeps_its_account():
    assert energy.lpi_ticks(registers(busy_until=1, lpi_ticks=70), None, 10**6) == 70


def test_transitions_are_counted_for_each_wake_and_drawn_at_full_power():
    after = {"busy_until": SECOND_TICKS, "lpi_ticks": SECOND_TICKS // 2, "wakes": 100}
    found = spent({"busy_until": 0}, after, clock=(0, SECOND_TICKS)).ports[0]
    assert (found.lpi_ps, found.transition_ps) == (SECOND // 2, 100 * 7360 * TICK_PS)
    assert found.active_ps == SECOND - found.lpi_ps - found.transition_ps
    assert found.joules == pytest.approx(2.5 * (1 - 0.9 / 2))


def test_without_any_departure_an_idle_port_is_asleep_but_for_its_stall_and_sleep_time():
    assert spent(HELD, HELD).ports[0].lpi_ps == SECOND - 2880 * TICK_PS
    off = spent(HELD, HELD, timing=None).ports[0]
    assert off.lpi_ps == 0 and off.watts == 2.5


def test_a_sleep_longer_than_the_interval_fills_it_at_most():
    # The sleep ended in the interval and is counted at its end, including all hours before.
    ended = {"busy_until": 3600 * SECOND_TICKS, "lpi_ticks": 3599 * SECOND_TICKS, "wakes": 1}
    found = spent(HELD, ended).ports[0]
    assert 0 < found.lpi_ps <= SECOND and found.watts >= 0.25


def test_a_restart_is_noticed_and_the_time_before_it_is_at_full_power():
    before = HELD | {"wakes": 500, "lpi_ticks": 9 * SECOND_TICKS}
    found = spent(before, HELD | {"wakes": 3, "lpi_ticks": SECOND_TICKS // 10})
    assert found.restarted
    assert (found.ports[0].wakes, found.ports[0].lpi_ps) == (3, SECOND // 10)
    assert found.ports[0].joules == pytest.approx(2.5 * (1 - 0.09))


def test_a_clock_that_went_back_is_a_restart_also_without_wakes():
    assert spent({}, {}, clock=(50 * SECOND_TICKS, SECOND_TICKS // 2)).restarted


def test_a_wrapping_wake_counter_is_no_restart():
    found = spent(HELD | {"wakes": (1 << 32) - 2}, {"busy_until": SECOND_TICKS, "wakes": 3})
    assert not found.restarted and found.ports[0].wakes == 5


def test_a_port_of_unknown_power_has_times_but_no_watts():
    port = spent(HELD, HELD).ports[1]
    assert (port.joules, port.watts, port.legacy_joules) == (None, None, None)
    assert port.elapsed_ps == SECOND


def test_two_readings_of_one_moment_give_no_power_instead_of_a_division_by_zero():
    found = spent(HELD, HELD, passed_ps=0).ports[0]
    assert found.watts is None and found.joules == 0


def test_the_assumptions_name_power_share_and_source():
    first, second = energy.assumed()
    assert "1000BASE-T (1Gbps) 0.5 W a port, 10GBASE-T (10Gbps) 2.5 W a port" in first
    assert "10% of it in low-power idle" in first and "thesis" in first
    assert "NICs" in second
