"""The identity of compiled programs, and programs that only add to another one."""

import json

import pytest
from eeon_control import program
from finsy.proto import p4i
from programs import another, commented, without_table

PROGRAM = program.load()
CONFIG = PROGRAM.schema().get_pipeline_config()


def info(change) -> p4i.P4Info:
    changed = p4i.P4Info()
    changed.CopyFrom(CONFIG.p4info)
    change(changed)
    return changed


def test_comment_in_every_source_leaves_the_identity():
    moved = commented(PROGRAM.json, 7)
    assert moved != PROGRAM.json
    assert program.identity(moved, CONFIG.p4info) == PROGRAM.identity


def test_other_file_names_and_documentation_leave_the_identity():
    renamed = PROGRAM.json.replace(b"p4src/eeon.p4", b"/elsewhere/eeon.p4")
    assert renamed != PROGRAM.json

    def document(changed):
        changed.pkg_info.version = "9.9"
        changed.pkg_info.doc.description = "ticks are nanoseconds"
        for objects in (changed.tables, changed.actions, changed.counters, changed.registers):
            objects[0].preamble.doc.brief = "an object"
        red = next(one for one in changed.actions if one.preamble.alias == "red")
        red.params[0].doc.brief = "bytes"
        routes = next(one for one in changed.tables if one.preamble.alias == "ipv4_route")
        routes.match_fields[0].annotations[:] = ["@format(HEX)"]

    assert program.identity(renamed, info(document)) == PROGRAM.identity


def test_annotation_that_is_no_documentation_changes_the_identity():
    def restrict(changed):
        changed.tables[0].preamble.annotations.append('@entry_restriction("port < 9")')

    assert program.identity(PROGRAM.json, info(restrict)) != PROGRAM.identity


def test_whatever_the_program_does_otherwise_changes_the_identity():
    value = json.loads(PROGRAM.json)
    red = next(one for one in value["actions"] if one["name"].endswith("aqm.red"))
    red["primitives"].pop()
    assert program.identity(json.dumps(value).encode(), CONFIG.p4info) != PROGRAM.identity
    changed = another(CONFIG, 7)
    assert program.identity(changed.p4_device_config, changed.p4info) != PROGRAM.identity
    larger = info(lambda changed: setattr(changed.tables[0], "size", 7))
    assert program.identity(PROGRAM.json, larger) != PROGRAM.identity


@pytest.mark.parametrize("junk", [b"", b"{", b"\xff", b"[" * 100_000, b'{"a":' * 900 + b"1" + b"}" * 900])
def test_program_of_another_kind_of_switch_has_an_identity_too(junk):
    assert program.identity(junk, CONFIG.p4info) not in (
        PROGRAM.identity,
        program.identity(b"1", CONFIG.p4info),
    )


def test_program_with_a_table_more_only_adds_and_one_with_another_size_does_not():
    earlier = without_table(CONFIG, "port_pfc").p4info
    assert program.only_adds(earlier, CONFIG.p4info)
    assert program.only_adds(CONFIG.p4info, info(lambda changed: setattr(changed.pkg_info, "version", "9.9")))
    assert not program.only_adds(CONFIG.p4info, earlier)
    assert not program.only_adds(info(lambda changed: setattr(changed.tables[0], "size", 7)), CONFIG.p4info)
