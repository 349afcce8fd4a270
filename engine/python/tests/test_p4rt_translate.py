"""What a P4Info may not say. Scripts have values and keys."""

import re
from pathlib import Path

import pytest
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program import p4info as reader
from finsy.proto import p4i, rpc_code
from google.protobuf import text_format
from p4rt_client import p4info


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
