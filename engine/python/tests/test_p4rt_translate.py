"""Conversions of values between P4Runtime and the engine: pure functions. Scripts have what is refused."""

import re
from pathlib import Path

import pytest
from eeon_engine.p4runtime import bytestrings
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program import p4info as reader
from finsy.proto import p4i, rpc_code
from google.protobuf import text_format
from p4rt_client import p4info


# P4Runtime 1.5 table 1, "Examples of Valid Bytestring Encoding" and of invalid ones; bit<W> rows.
@pytest.mark.parametrize(
    ("value", "width", "number"),
    [
        (b"\x63", 8, 99),
        (b"\x00\x63", 16, 99),
        (b"\x63", 16, 99),
        (b"\x30\x64", 16, 12388),
        (b"\x00\x30\x64", 16, 12388),
        (b"\x00\x63", 12, 99),
        (b"\x00\x00\x63", 12, 99),
    ],
)
def test_leading_zeros_are_accepted_and_never_answered(value: bytes, width: int, number: int) -> None:
    assert bytestrings.decode(value, width, "x") == number
    assert bytestrings.encode(number) == value.lstrip(b"\x00")


@pytest.mark.parametrize(
    ("value", "width"),
    [
        (b"\x01\x63", 8),
        (b"\x01\x00\x63", 16),
        (b"\x10\x63", 12),
        (b"\x01\x00\x63", 12),
        (b"\x00\x40\x63", 12),
    ],
)
def test_values_wider_than_their_field_are_out_of_range(value: bytes, width: int) -> None:
    with pytest.raises(StatusError, match=f"has {width}") as caught:
        bytestrings.decode(value, width, "x")
    assert caught.value.code == rpc_code.OUT_OF_RANGE


def test_an_empty_bytestring_is_refused() -> None:
    with pytest.raises(StatusError, match="empty"):
        bytestrings.decode(b"", 8, "x")


def _refusals(name: str) -> list[tuple[str, str, str]]:
    """Returns a block of `p4info_refusals.txt`: the P4Info, a change, and a part of the message."""
    text = (Path(__file__).parent / "p4info_refusals.txt").read_text()
    base, *lines = text.split(f"[{name}]\n")[1].partition("\n\n[")[0].split("\n")
    found = []
    for line in filter(None, lines):
        one = re.fullmatch(r'"([^"]*)" (.*)', line)
        assert one is not None, line
        found.append((base, one[2], one[1]))
    return found


def _is_refused(base: str, change: str, says: str) -> None:
    info = text_format.Parse(base, p4i.P4Info())
    reader.read(info)
    for field, items in text_format.Parse(change, p4i.P4Info()).ListFields():
        for place, item in enumerate(items):
            own = getattr(info, field.name)
            (own[place] if place < len(own) else own.add()).MergeFrom(item)
    with pytest.raises(StatusError, match=re.escape(says)) as caught:
        reader.read(info)
    assert caught.value.code == rpc_code.INVALID_ARGUMENT


@pytest.mark.parametrize(("base", "change", "says"), _refusals("a_reference_to_what_a_p4info_does_not_have"))
def test_a_reference_to_what_a_p4info_does_not_have_is_refused(base: str, change: str, says: str) -> None:
    _is_refused(base, change, says)


@pytest.mark.parametrize(("base", "change", "says"), _refusals("ids_that_the_specification_forbids"))
def test_ids_that_the_specification_forbids_are_refused(base: str, change: str, says: str) -> None:
    _is_refused(base, change, says)


def test_two_fields_of_a_controller_header_have_two_ids() -> None:
    info = p4info()
    info.controller_packet_metadata[0].metadata.add(id=1, name="again", bitwidth=8)
    with pytest.raises(StatusError, match="header 'packet_in' has two fields with the same id"):
        reader.read(info)


def test_translation_to_strings_is_refused_by_name() -> None:
    info = p4info()
    info.tables[0].match_fields[0].bitwidth = 0
    with pytest.raises(StatusError, match="translation to strings") as caught:
        reader.read(info)
    assert caught.value.code == rpc_code.UNIMPLEMENTED
