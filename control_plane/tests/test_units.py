"""Numbers with units: parsed exactly, printed in a form that parses back, refused with an example."""

import contextlib
from fractions import Fraction

import pytest
from eeon_control.errors import UnitError
from eeon_control.units import (
    Bytes,
    DataRate,
    Duration,
    Packets,
    format_probability,
    parse_probability,
    parse_size,
)
from hypothesis import given
from hypothesis import strategies as st

ALL = [Bytes, Packets, Duration, DataRate]


@given(kind=st.sampled_from(ALL), value=st.integers(0, 2**63 - 1))
def test_printed_text_reads_back_as_the_same_number(kind, value):
    assert kind.parse(str(kind(value))) == value


@given(st.integers(0, 10**9))
def test_a_printed_probability_reads_back_as_the_same_number(billionths):
    value = Fraction(billionths, 10**9)
    assert parse_probability(format_probability(value)) == value


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_unit_error(text):
    for kind in ALL:
        with contextlib.suppress(UnitError):
            kind.parse(text)


def test_a_number_above_all_floats_is_no_probability():
    with pytest.raises(
        UnitError, match=r"^1000.*\.\.\. is not a probability: it must lie between 0% and 100%$"
    ):
        parse_probability(10**400)


def test_a_size_above_the_limit_is_told_without_the_words_for_a_wrong_unit():
    with pytest.raises(UnitError, match="is not a number of bytes"):
        Bytes.parse("9" * 500 + "B")
    with pytest.raises(UnitError, match=r"is larger than [0-9]+ B$"):
        parse_size("99999999999999999999B")
