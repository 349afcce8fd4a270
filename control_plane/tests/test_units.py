"""Numbers with units: read exactly, printed so that they read back, and refused with an example."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from eeon_control.errors import UnitError
from eeon_control.units import Bytes, DataRate, Duration, Packets, parse_probability, parse_size
from hypothesis import given
from hypothesis import strategies as st

ALL = [Bytes, Packets, Duration, DataRate]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Bytes, "300KB", 300_000),
        (Bytes, "300kB", 300_000),
        (Bytes, "97.5kB", 97_500),
        (Bytes, "64KiB", 65_536),
        (Bytes, "10 MB", 10_000_000),
        (Bytes, "0B", 0),
        (Packets, "65pkt", 65),
        (Duration, "120us", 120_000_000),
        (Duration, "4.48us", 4_480_000),
        (Duration, "4.48µs", 4_480_000),
        (Duration, "4.48μs", 4_480_000),  # Greek mu, as some keyboards have it
        (Duration, "1ms", 10**9),
        (DataRate, "10Gbps", 10**10),
        (DataRate, "300Mbps", 300_000_000),
    ],
)
def test_quantity_is_read_exactly(kind, text, value):
    assert kind.parse(text) == value


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        (Bytes, "300", "has no unit"),
        (Bytes, 300, "is not a number of bytes with a unit; write for example 300KB"),
        (Bytes, True, "with a unit"),
        (Bytes, None, "with a unit"),
        (Bytes, "-3KB", "is not a number of bytes"),
        (Bytes, "1e3B", "is not a number of bytes"),
        (Bytes, "0.3B", "is not a whole number of B"),
        (Bytes, "65pkt", "'pkt' is not a unit of a number of bytes (it is one of a number of packets)"),
        (Bytes, "3kb", "did you mean kB?"),
        (Bytes, "9999999999TB", "is larger than"),
        (Bytes, "9" * 500 + "B", "is not a number of bytes"),
        (Bytes, "٣KB", "is not a number of bytes"),  # Arabic-Indic digit
        (Packets, "12.5pkt", "is not a whole number of pkt"),
        (Packets, "300KB", "it is one of a number of bytes"),
        (Duration, "10Gbps", "it is one of a bit rate"),
        (Duration, "0.5ps", "is not a whole number of ps"),
        (DataRate, "10GB", "it is one of a number of bytes"),
        (DataRate, "10gbps", "did you mean Gbps?"),
    ],
)
def test_other_text_is_refused_with_an_example(kind, text, says):
    with pytest.raises(UnitError) as error:
        kind.parse(text)
    assert says in str(error.value)


@given(kind=st.sampled_from(ALL), value=st.integers(0, 2**63 - 1))
def test_printed_text_reads_back_as_the_same_number(kind, value):
    assert kind.parse(str(kind(value))) == value


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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2%", Fraction(1, 50)),
        (0.02, Fraction(1, 50)),
        ("0.1", Fraction(1, 10)),
        (1, Fraction(1)),
        ("100%", Fraction(1)),
        ("0%", Fraction(0)),
    ],
)
def test_probability_is_exact(text, value):
    assert parse_probability(text) == value


@pytest.mark.parametrize("text", ["150%", 2, -0.1, "two", True, None, float("nan"), float("inf"), "2%%"])
def test_probability_outside_0_to_1_is_refused(text):
    with pytest.raises(UnitError, match="is not a probability"):
        parse_probability(text)


def test_a_size_above_the_limit_is_told_without_the_words_for_a_wrong_unit():
    with pytest.raises(UnitError, match=r"is larger than [0-9]+ B$"):
        parse_size("99999999999999999999B")
    with pytest.raises(UnitError, match="or in packets: "):
        parse_size("3parsecs")
