"""The codec of a port's settings: it reads back what it writes, and covers every action of the program."""

from fractions import Fraction

import pytest
from eeon_control import program
from eeon_control.entries import Action
from eeon_control.errors import PlanError
from eeon_control.port_settings import QUEUE_AQM, TABLES, EeeSettings, RedSettings
from eeon_control.port_settings.red import Red
from eeon_control.units import Bytes, DataRate, Duration, Packets
from hypothesis import given
from hypothesis import strategies as st
from programs import allows

SCHEMA = program.load().schema()
U32 = st.integers(0, 2**32 - 1)
# Whole nanoseconds to microseconds, and one that no target has.
TICKS = st.sampled_from([1_000, 10_000, 1_000_000, 777]).map(Duration)
PROTECTS = st.sampled_from(["ect", "ece", "ack_syn"])


@st.composite
def red_settings(draw):
    unit = draw(st.sampled_from([Bytes, Packets]))
    low, high = sorted([draw(U32), draw(U32)])
    ramp = draw(st.fractions(0, 1)) if low < high else None
    shift, ecn = draw(st.integers(0, 24)), draw(st.booleans())
    # From a tick of 10 us to the largest value that still has 16 bits at a tick of 777 ps.
    half_life = draw(st.none() | st.fractions(10**7, 2**57))
    mean = draw(st.none() | st.integers(256, 2**16 - 1).map(Bytes))
    return RedSettings(unit(low), unit(high), ramp, shift, ecn, draw(PROTECTS), half_life, mean)


@given(red_settings(), TICKS)
def test_red_is_read_back_but_for_half_a_step_of_its_slope(settings, tick):
    action, widths = settings.to_action(tick), SCHEMA.tables["port_aqm"].actions["red"].params
    assert all(0 <= value < 1 << widths[name].bitwidth for name, value in action.params)
    found = TABLES["port_aqm"].from_action(action, tick)
    if settings.max_probability is not None:
        half_a_step = Fraction(int(settings.max - settings.min), 1 << 49)
        if settings.mean_packet is not None:  # rounded down, by up to a step of a 2^8th of the mean
            half_a_step *= Fraction(int(settings.mean_packet), 1 << 7)
        assert abs(found.max_probability - settings.max_probability) <= half_a_step
    if settings.half_life_ps is not None:
        assert abs(found.half_life_ps / settings.half_life_ps - 1) <= Fraction(1, 1 << 16)
    rounded = {"max_probability": found.max_probability, "half_life_ps": found.half_life_ps}
    assert found == RedSettings(**(vars(settings) | rounded))
    assert found.to_action(tick) == action


@given(red_settings(), TICKS)
def test_red_is_written_as_the_program_restricts_it(settings, tick):
    action = settings.to_action(tick)
    assert allows(SCHEMA, action)
    params = dict(action.params)
    assert not allows(SCHEMA, action._replace(params=tuple((params | {"mean_bytes": 255}).items())))
    if params["min_threshold"] < params["max_threshold"]:
        swapped = {"min_threshold": params["max_threshold"], "max_threshold": params["min_threshold"]}
        assert not allows(SCHEMA, action._replace(params=tuple((params | swapped).items())))


def test_a_probability_by_size_is_that_of_the_line_for_a_mean_packet():
    red = Red(mode="red", min="1000B", max="2000B", max_probability="50%", by_size=True)
    settings = red.settings_at(DataRate.parse("1Gbps"))
    at = {size: float(settings.probability_at(Fraction(1500), size)) for size in (500, 50, 1500)}
    assert at == pytest.approx({500: 0.25, 50: 0.025, 1500: 0.75}, rel=1e-6)


@pytest.mark.parametrize("idle", [(0x8000, 0), (0x8001, 5), (0xFFFF, 1), (0xFFFF, 63), (0x8000, 63)])
def test_the_age_of_an_idle_average_is_read_back_at_both_ends_of_its_bits(idle):
    names = [param.name for param in SCHEMA.tables["port_aqm"].actions["red"].params]
    params = dict.fromkeys(names, 0) | dict(zip(("idle_halvings", "idle_shift"), idle, strict=True))
    action = Action("red", tuple(params.items()))
    assert TABLES["port_aqm"].from_action(action, Duration(1000)).to_action(Duration(1000)) == action


@given(st.data(), TICKS)
def test_what_a_switch_holds_is_written_as_it_was_read(data, tick):
    # Any action that the controller could have written: times within the program's range, a wire time above
    # zero, thresholds in order.
    table = data.draw(st.sampled_from([*TABLES.values(), QUEUE_AQM]))
    known = data.draw(st.sampled_from(list(SCHEMA.tables[table.name].actions)))
    widths = {"average_shift": 5, "idle_shift": 6} | {
        f"{name}_ticks": 38 for name in ("sleep", "wake", "stall", "hold")
    }
    params = {
        param.name: data.draw(st.integers(0, (1 << widths.get(param.name, param.bitwidth)) - 1))
        for param in known.params
    }
    if "probability_slope" in params:
        params["min_threshold"], params["max_threshold"] = sorted(
            [params["min_threshold"], params["max_threshold"]]
        )
        params["probability_slope"] *= params["min_threshold"] < params["max_threshold"]
        # A half-life in the controller's normal form.
        params["idle_shift"] *= params["idle_halvings"] > 0
        params["idle_halvings"] |= 0x8000 * (params["idle_halvings"] > 0)
    if "ticks_per_byte_q24" in params:
        params["ticks_per_byte_q24"] = max(1, params["ticks_per_byte_q24"])
    action = Action(known.alias, tuple(params.items()))
    settings = table.from_action(action, tick)
    assert settings.to_action(tick) == action
    assert settings.describe()
    assert table.describe_change(None, action, tick).endswith(f"not set -> {settings.describe()}")


def test_every_action_of_the_ports_tables_has_its_settings():
    of_program = {
        table.alias: {action.alias for action in table.actions}
        for table in SCHEMA.tables
        # Those of PFC follow from lossless classes (`plan.pfc`), and `port_cnm` from the port's role (`plan.qcn`).
        if [field.alias for field in table.match_fields] == ["port"]
        and table.alias not in ("port_pfc", "made_pause", "port_cnm")
    }
    assert {name: {one.action for one in table.settings} for name, table in TABLES.items()} == of_program


def test_wire_that_takes_no_time_is_not_written():
    settings = EeeSettings(*[Duration(0)] * 4, None, None, Fraction(0), Bytes(0))
    with pytest.raises(PlanError, match=r"takes less than 2\^-24 of this target's 1ns tick"):
        settings.to_action(Duration.parse("1ns"))
