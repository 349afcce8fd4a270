"""Conversions between P4Runtime's and the engine's values: pure functions, no switch."""

import re

import pytest
from eeon_engine.p4runtime import bytestrings
from eeon_engine.p4runtime.entities import translate
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program import p4info as reader
from eeon_engine.p4runtime.program.schema import Schema
from finsy.proto import p4i, p4r, rpc_code
from google.protobuf import text_format
from p4rt_client import Names, between, exact, lpm, optional, p4info, ternary


@pytest.fixture(scope="module")
def schema() -> Schema:
    return reader.read(p4info())


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


def test_zero_is_one_byte() -> None:
    assert bytestrings.encode(0) == b"\x00"


def test_a_higher_p4runtime_priority_is_a_lower_bmv2_priority() -> None:
    assert translate.to_engine_priority(2) < translate.to_engine_priority(1)
    assert translate.to_engine_priority(2**31 - 1) >= 0
    assert translate.to_engine_priority(0) == 0


@pytest.mark.parametrize(
    ("table", "match", "params"),
    [
        ("exact_table", [exact(1, 5)], (("exact", b"\x05"),)),
        ("lpm_table", [lpm(1, 0x0A000000, 8)], (("lpm", b"\x0a\x00\x00\x00", 8),)),
        ("lpm_table", [], (("lpm", b"\x00", 0),)),
        (
            "ternary_table",
            [ternary(1, 5, 0xFF), exact(2, 1)],
            (("ternary", b"\x05", b"\xff"), ("exact", b"\x01")),
        ),
        ("ternary_table", [exact(2, 1)], (("ternary", b"\x00", b"\x00"), ("exact", b"\x01"))),
        ("range_table", [between(1, 5, 9)], (("range", b"\x05", b"\x09"), ("ternary", b"\x00", b"\x00"))),
        (
            "range_table",
            [optional(2, 7)],
            (("range", b"\x00", b"\xff\xff\xff\xff"), ("ternary", b"\x07", b"\xff\xff")),
        ),
    ],
)
def test_keys_become_what_the_engine_takes_and_come_back_unchanged(
    schema: Schema, table: str, match: list[p4r.FieldMatch], params: tuple[object, ...]
) -> None:
    found = schema.tables[Names(p4info())[table]]
    priority = 3 if found.by_priority else 0
    key = translate.key_from_message(found, p4r.TableEntry(match=match, priority=priority))
    assert key.params == params
    assert list(key.fields) == match
    assert translate.key_from_engine(found, list(params), priority) == key


def test_fields_in_another_order_are_the_same_key(schema: Schema) -> None:
    table = schema.tables[Names(p4info())["ternary_table"]]
    one = p4r.TableEntry(match=[ternary(1, 5, 0xFF), exact(2, 1)], priority=1)
    other = p4r.TableEntry(match=[exact(2, 1), ternary(1, 5, 0xFF)], priority=1)
    assert (
        translate.key_from_message(table, one).identity == translate.key_from_message(table, other).identity
    )


@pytest.mark.parametrize(
    ("table", "priority", "match", "reason"),
    [
        ("exact_table", 0, [], "must be given"),
        ("exact_table", 0, [exact(1, 1), exact(1, 1)], "given twice"),
        ("exact_table", 0, [exact(9, 1)], "no match field with id 9"),
        ("exact_table", 0, [lpm(1, 0, 8)], "is exact, the request has lpm"),
        ("exact_table", 0, [p4r.FieldMatch(field_id=1)], "no value is given"),
        ("exact_table", 1, [exact(1, 1)], "priority 1"),
        ("lpm_table", 0, [lpm(1, 0, 0)], "prefix length 0"),
        ("lpm_table", 0, [lpm(1, 0, 33)], "prefix length 33"),
        ("lpm_table", 0, [lpm(1, 1, 8)], "bits set beyond its prefix"),
        ("ternary_table", 0, [exact(2, 1)], "priority 0"),
        ("ternary_table", 1, [ternary(1, 0, 0), exact(2, 1)], "the mask is 0"),
        ("ternary_table", 1, [ternary(1, 3, 1), exact(2, 1)], "outside its mask"),
        ("range_table", 1, [between(1, 9, 5)], "is empty"),
        ("range_table", 1, [between(1, 0, 2**32 - 1)], "covers every value"),
    ],
)
def test_keys_that_the_specification_forbids_are_invalid(
    schema: Schema, table: str, priority: int, match: list[p4r.FieldMatch], reason: str
) -> None:
    found = schema.tables[Names(p4info())[table]]
    with pytest.raises(StatusError, match=reason) as caught:
        translate.key_from_message(found, p4r.TableEntry(match=match, priority=priority))
    assert caught.value.code == rpc_code.INVALID_ARGUMENT


def test_actions_need_exactly_their_parameters(schema: Schema) -> None:
    names = Names(p4info())
    table = schema.tables[names["lpm_table"]]
    good = names.action("forward_as", 3, 0x020000000001)
    assert translate.action_from_message(table, good).data == (b"\x03", b"\x02\x00\x00\x00\x00\x01")
    for bad, reason in [
        (names.action("forward_as", 3), "parameter 'src' .* is missing"),
        (names.action("forward_as", 3, 1, 1), "no parameter with id 3"),
        (names.action("forward_as", 512, 1), "needs 10 bits"),
        (names.action("to_cpu"), "has no action with id"),
        (p4r.Action(action_id=names["forward"]), "'port' .* is missing"),
    ]:
        with pytest.raises(StatusError, match=reason) as caught:
            translate.action_from_message(table, bad)
        assert caught.value.code == rpc_code.INVALID_ARGUMENT


def test_the_scope_of_an_action_is_respected(schema: Schema) -> None:
    names = Names(p4info())
    table = schema.tables[names["ternary_table"]]
    with pytest.raises(StatusError, match="may not be used as the default") as caught:
        translate.action_from_message(table, names.action("to_cpu"), default=True)
    assert caught.value.code == rpc_code.PERMISSION_DENIED
    with pytest.raises(StatusError, match="may not be used in entries"):
        translate.action_from_message(table, names.action("NoAction"))


def _linked() -> p4i.P4Info:
    """Returns the P4Info of two tables that have everything a table may refer to."""
    text = """
        tables { preamble { id: 0x02000001 name: "t" } action_refs { id: 0x01000001 }
                 implementation_id: 0x11000001 direct_resource_ids: 0x13000001 direct_resource_ids: 0x15000001
                 const_default_action_id: 0x01000001
                 initial_default_action { action_id: 0x01000001 arguments { param_id: 1 value: "1" } } }
        tables { preamble { id: 0x02000002 name: "u" } }
        actions { preamble { id: 0x01000001 name: "a" } params { id: 1 name: "p" bitwidth: 8 } }
        actions { preamble { id: 0x01000002 name: "b" } }
        action_profiles { preamble { id: 0x11000001 name: "selector" } table_ids: 0x02000001 }
        direct_counters { preamble { id: 0x13000001 name: "count" } direct_table_id: 0x02000001 }
        direct_meters { preamble { id: 0x15000001 name: "meter" } direct_table_id: 0x02000001 }
        registers { preamble { id: 0x16000001 name: "r" } type_spec { bitstring { bit { bitwidth: 8 } } } }
    """
    return text_format.Parse(text, p4i.P4Info())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            "tables { action_refs { id: 0x01000009 } }",
            "table 't' has action_refs 16777225 (0x01000009), and no action has this id",
        ),
        ("tables { action_refs { id: 0x01000001 } }", "has 16777217 (0x01000001) in action_refs twice"),
        (
            "tables { implementation_id: 0x11000002 }",
            "table 't' has implementation_id 285212674 (0x11000002), and no action profile has this id",
        ),
        (
            "tables { direct_resource_ids: 0x13000002 }",
            "direct_resource_ids 318767106 (0x13000002), and no direct counter or direct meter has this id",
        ),
        ("tables { direct_resource_ids: 0x13000001 }", "in direct_resource_ids twice; give it once"),
        (
            "tables { direct_resource_ids: 0x13000002 } direct_counters { } direct_counters "
            '{ preamble { id: 0x13000002 name: "more" } direct_table_id: 0x02000001 }',
            "table 't' has direct counters 'count' and 'more'; keep one of them",
        ),
        (
            "tables { } tables { direct_resource_ids: 0x13000001 }",
            "table 'u' names 'count' in direct_resource_ids, which does not name it in return",
        ),
        (
            "tables { const_default_action_id: 0x01000002 }",
            "has const_default_action_id 16777218 (0x01000002), and no action of its action_refs has this id",
        ),
        (
            "tables { initial_default_action { action_id: 0x01000009 } }",
            "has initial_default_action 16777225 (0x01000009), and no action of its action_refs has this id",
        ),
        (
            "tables { initial_default_action { arguments { param_id: 2 } } }",
            "has initial_default_action 2 (0x00000002), and no parameter of action 'a' has this id",
        ),
        (
            "direct_counters { direct_table_id: 0x02000003 }",
            "table 't' names 'count' in direct_resource_ids, which does not name it in return",
        ),
        (
            'direct_meters { } direct_meters { preamble { id: 0x15000002 name: "more" } }',
            "direct meter 'more' has direct_table_id 0 (0x00000000), and no table has this id",
        ),
        (
            "direct_counters { } direct_counters "
            '{ preamble { id: 0x13000002 name: "more" } direct_table_id: 0x02000002 }',
            "direct counter 'more' names table 'u' in direct_table_id, which does not name it in return",
        ),
        (
            "action_profiles { table_ids: 0x02000003 }",
            "action profile 'selector' has table_ids 33554435 (0x02000003), and no table has this id",
        ),
        (
            "action_profiles { table_ids: 0x02000002 }",
            "action profile 'selector' names table 'u' in table_ids, which does not name it in return",
        ),
        ("action_profiles { table_ids: 0x02000001 }", "has 33554433 (0x02000001) in table_ids twice"),
        (
            'registers { type_spec { struct { name: "pair" } } }',
            "register 'r' is of type 'pair', which type_info does not define",
        ),
    ],
)
def test_a_reference_to_what_a_p4info_does_not_have_is_refused(change: str, says: str) -> None:
    info = _linked()
    reader.read(info)
    changed = text_format.Parse(change, p4i.P4Info())
    for field, items in changed.ListFields():
        for place, item in enumerate(items):
            own = getattr(info, field.name)
            (own[place] if place < len(own) else own.add()).MergeFrom(item)
    with pytest.raises(StatusError, match=re.escape(says)) as caught:
        reader.read(info)
    assert caught.value.code == rpc_code.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("kind", "ids", "names", "says"),
    [
        ("actions", (0x01000007, 0x01000007), "ab", "action 'b' and 'a' share id 16777223"),
        ("counters", (0x12000001, 0x12000002), "aa", "counter 'a' and 'a' share a name"),
        ("tables", (0x02000001, 0), "ab", "table 'b' has no id"),
        (
            "tables",
            (7,),
            "a",
            "has id 0x00000007; ids of its kind are 0x02000000 to 0x02ffffff",
        ),
        ("digests", (0x16000001,), "a", "digest 'a' has id 0x16000001; ids of its kind are 0x17000000"),
        ("controller_packet_metadata", (0,), "a", "controller header 'a' has no id"),
        ("controller_packet_metadata", (7, 7), "ab", "controller header 'b' and 'a' share id 7"),
    ],
)
def test_ids_that_the_specification_forbids_are_refused(
    kind: str, ids: tuple[int, ...], names: str, says: str
) -> None:
    info = p4i.P4Info()
    for number, name in zip(ids, names, strict=True):
        preamble = getattr(info, kind).add().preamble
        preamble.id, preamble.name = number, name
    with pytest.raises(StatusError, match=says) as caught:
        reader.read(info)
    assert caught.value.code == rpc_code.INVALID_ARGUMENT


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
