"""A P4Info that contradicts itself, or does not match its program, is refused (P4Runtime 1.5 §7, §14)."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eeon_engine import Program
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program import compilation
from eeon_engine.p4runtime.program import p4info as reader
from finsy.proto import p4i, rpc_code
from google.protobuf import text_format
from p4rt_client import p4info, program_json, without_struct


def refusal(info: Any, program: str | bytes) -> str:
    with pytest.raises(StatusError) as caught:
        compilation.matched(info, program_json(program) if isinstance(program, str) else program)
    assert caught.value.code == rpc_code.INVALID_ARGUMENT
    return caught.value.message


def named(info: Any, kind: str, alias: str) -> Any:
    return next(item for item in getattr(info, kind) if item.preamble.alias == alias)


def test_line_breaks_and_tabs_in_texts_of_a_program_are_taken_as_p4c_writes_them():
    written = program_json().replace(b"{", b'{"source_fragment": "one\n\ttwo",', 1)
    compilation.matched(p4info(), written)
    assert Program(written).digest != Program(program_json()).digest


def test_a_program_with_nothing_to_name_takes_an_empty_p4info():
    bare = b'{"pipelines": [], "header_types": [], "headers": [], "actions": []}'
    compilation.matched(p4i.P4Info(), bare)


def test_json_that_p4c_did_not_write_is_refused_and_not_a_bug():
    for program in (b"{}", b"[]", b'{"pipelines": [{}]}', b"not json"):
        with pytest.raises(StatusError, match="p4c did not write it"):
            compilation.matched(p4info(), program)


def test_digests_without_a_struct_are_in_the_order_of_the_program():
    info = p4info("resources")
    parsed = json.loads(without_struct(info, program_json("resources")))
    second = info.digests.add()
    second.preamble.id, second.preamble.name = info.digests[0].preamble.id + 1, "digest_1"
    second.type_spec.bitstring.bit.bitwidth = 8
    parsed["learn_lists"].append({"id": 2, "name": "digest", "elements": [{}]})
    found = compilation.matched(info, json.dumps(parsed).encode()).digests.values()
    assert [digest.in_program for digest in found] == ["tuple_0", "digest"]
    info.digests[0].CopyFrom(second)
    del info.digests[1]
    assert "no digest 'digest_1'" in refusal(info, json.dumps(parsed).encode())


@pytest.mark.slow
def test_names_are_looked_up_and_not_searched_for_however_many_there_are():
    """Each of the three takes a minute if every name is compared with every other one."""
    names, headers = [f"n{number}" for number in range(50_000)], range(20_000)
    info, back = p4i.P4Info(), range(len(names), 0, -1)
    metadata = [p4i.ControllerPacketMetadata(preamble={"id": number + 1, "name": "h"}) for number in headers]
    info.controller_packet_metadata.extend(metadata)
    action, table = info.actions.add(), info.tables.add()
    action.preamble.id, action.preamble.name = 0x01000001, "a"
    action.params.extend(p4i.Action.Param(id=n, name=names[n - 1], bitwidth=8) for n in back)
    table.preamble.id, table.preamble.name = 0x02000001, "t"
    table.match_fields.extend(
        p4i.MatchField(id=n, name=names[n - 1], bitwidth=8, match_type=p4i.MatchField.EXACT) for n in back
    )
    key = [{"name": name, "match_type": "exact", "target": ["h", "f"]} for name in names]
    data = [{"name": name, "bitwidth": 8} for name in names]
    program = {
        "pipelines": [{"tables": [{"name": "t", "key": key, "actions": [], "type": "other"}]}],
        "header_types": [{"name": f"h{number}", "fields": []} for number in headers],
        "headers": [],
        "actions": [{"id": 0, "name": "a", "runtime_data": data}],
    }
    begun = time.process_time()
    assert "share a name" in refusal(info, json.dumps(program).encode())
    info.ClearField("controller_packet_metadata")
    assert "has an action profile in only one" in refusal(info, json.dumps(program).encode())
    assert time.process_time() - begun < 15


def test_an_action_profile_must_be_in_both():
    info = p4info()
    table = named(info, "tables", "lpm_table")
    table.ClearField("implementation_id")
    named(info, "action_profiles", "selector").table_ids.remove(table.preamble.id)
    assert "has an action profile in only one of them" in refusal(info, "everything")


@pytest.mark.parametrize(("kind", "what"), [("direct_meters", "meter"), ("direct_counters", "counter")])
def test_direct_resources_must_be_in_both(kind, what):
    info = p4info("resources")
    table, resource = named(info, "tables", "ageing_table"), getattr(info, kind)[0]
    of = next(one for one in info.tables if resource.preamble.id in one.direct_resource_ids)
    of.direct_resource_ids.remove(resource.preamble.id)
    table.direct_resource_ids.append(resource.preamble.id)
    resource.direct_table_id = table.preamble.id
    assert f"direct {what} in the P4Info only" in refusal(info, "resources")


def refusals() -> Iterator[tuple[str, str, str, str]]:
    """Yields the lines of `p4info_refusals.txt`: a P4Info, a code, a part of the message, a change."""
    text = (Path(__file__).parent / "p4info_refusals.txt").read_text()
    for block in re.split(r"(?m)^\[.*\]\n", text)[1:]:
        base, *lines = block.rstrip().split("\n")
        for line in lines:
            code, says, change = line.split('"', 2)
            yield base, code.strip() or "INVALID_ARGUMENT", says, change


@pytest.mark.parametrize(("base", "code", "says", "change"), [*refusals()])
def test_a_p4info_that_contradicts_itself_is_refused(base, code, says, change):
    info = text_format.Parse(base, p4i.P4Info())
    reader.read(info)
    for field, items in text_format.Parse(change, p4i.P4Info()).ListFields():
        for place, item in enumerate(items):
            own = getattr(info, field.name)
            (own[place] if place < len(own) else own.add()).MergeFrom(item)
    with pytest.raises(StatusError, match=re.escape(says)) as caught:
        reader.read(info)
    assert caught.value.code == rpc_code.Code.Value(code)
