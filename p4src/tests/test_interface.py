"""The P4Info is sufficient for a client: ids are permanent, and each object has a description.

Does not detect whether a description is true.
"""

import json
import tomllib
from pathlib import Path

import pytest
from finsy import P4Schema

P4SRC = Path(__file__).resolve().parents[1]
IDS = Path(__file__).with_name("ids.json")
# p4c's own action, which is not in our sources.
NOT_OURS = "NoAction"


@pytest.fixture(scope="module")
def schema() -> P4Schema:
    return P4Schema(P4SRC / "compiled" / "eeon.p4info.txtpb")


def test_objects_keep_the_ids_that_clients_have_written_down(schema):
    info = schema.p4info
    objects = [
        *info.tables,
        *info.actions,
        *info.action_profiles,
        *info.counters,
        *info.registers,
        *info.controller_packet_metadata,
    ]
    ids = {one.preamble.name: one.preamble.id for one in objects}
    assert ids == json.loads(IDS.read_text()), (
        "clients and saved configurations know these ids: a moved object takes its old id by @id, "
        "a new one is added to ids.json"
    )


def test_every_object_says_what_it_is_and_every_number_its_unit(schema):
    info = schema.p4info
    objects = [*info.tables, *info.actions, *info.action_profiles, *info.counters, *info.registers]
    silent = [one.preamble.name for one in objects if not one.preamble.doc.brief]
    silent += [
        one.preamble.name for one in (*info.counters, *info.registers) if not one.preamble.doc.description
    ]
    silent += [
        f"{action.preamble.name}.{param.name}"
        for action in info.actions
        for param in action.params
        if not param.doc.brief
    ]
    assert silent == [NOT_OURS]


def test_addresses_are_shown_as_addresses(schema):
    formats = {
        part.name: list(part.annotations)
        for one in (*schema.p4info.tables, *schema.p4info.actions)
        for part in (*getattr(one, "match_fields", ()), *getattr(one, "params", ()))
        if part.bitwidth in (32, 48, 128) and part.annotations
    }
    assert formats["dst_mac"] == formats["src_mac"] == formats["source"] == formats["mac"]
    assert formats["dst_mac"] == ["@format(MAC_ADDRESS)"]
    assert schema.tables["ipv4_route"].match_fields["dst"].pbuf.annotations == ["@format(IPV4_ADDRESS)"]
    assert schema.tables["ipv6_route"].match_fields["dst"].pbuf.annotations == ["@format(IPV6_ADDRESS)"]


def test_package_has_the_version_of_the_controller(schema):
    project = tomllib.loads((P4SRC.parent / "control_plane" / "pyproject.toml").read_text())["project"]
    assert (schema.p4info.pkg_info.name, schema.p4info.pkg_info.version) == ("eeon", project["version"])
