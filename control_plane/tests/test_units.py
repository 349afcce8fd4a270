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


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Bytes(97_500), "97.5KB"),
        (Bytes(300_000), "300KB"),
        (Bytes(1), "1B"),
        (Bytes(0), "0B"),
        (Duration(4_480_000), "4.48us"),
        (DataRate(10**10), "10Gbps"),
        (Bytes(1_234_567), "1234.567KB"),
    ],
)
def test_printed_text_uses_the_largest_unit_that_is_exact(value, text):
    assert str(value) == text


def test_size_keeps_bytes_and_packets_apart():
    assert type(parse_size("65pkt")) is Packets
    assert type(parse_size("97.5KB")) is Bytes
    with pytest.raises(UnitError, match="or in packets: 65pkt"):
        parse_size("65")


def test_a_size_above_the_limit_is_told_without_the_words_for_a_wrong_unit():
    with pytest.raises(UnitError, match="is not a number of bytes"):
        Bytes.parse("9" * 500 + "B")
    with pytest.raises(UnitError, match=r"is larger than [0-9]+ B$"):
        parse_size("99999999999999999999B")
    with pytest.raises(UnitError, match="or in packets: "):
        parse_size("3parsecs")
