"""A P4Info whose ids are not in the order of declaration, as `@id` makes them: ids only number."""

from collections.abc import Iterator
from typing import Any

import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r
from made_frames import frame
from p4rt_client import INSERT, MODIFY, Client, Names, exact, number_bytes, p4info, ports, primary, ternary


def renumbered(name: str) -> Any:
    """The P4Info of a test program, with the ids of fields, parameters and metadata counted downwards."""
    info = p4info(name)
    lists = [table.match_fields for table in info.tables]
    lists += [action.params for action in info.actions]
    lists += [value_set.match for value_set in info.value_sets]
    lists += [header.metadata for header in info.controller_packet_metadata]
    for items in lists:
        for number, item in enumerate(reversed(items), 1):
            item.id = number
    return info


@pytest.fixture
def renumbered_client(switch: Switch) -> Iterator[Client]:
    with serve(switch, p4info=renumbered("everything")) as server, primary(server.address) as client:
        yield client


def forward_as(names: Names, port: int, src: int) -> p4r.Action:
    """An action whose first parameter has id 2."""
    action = p4r.Action(action_id=names["forward_as"])
    action.params.add(param_id=2, value=number_bytes(port))
    action.params.add(param_id=1, value=number_bytes(src))
    return action


@pytest.mark.system
def test_fields_of_a_key_are_those_of_their_ids(
    renumbered_client: Client, switch: Switch, names: Names
) -> None:
    key = ternary(2, 0x01020304, 0xFFFFFFFF), exact(1, 0x0800)
    entry = names.entry("ternary_table", *key, action=names.action("forward", 4), priority=1)
    renumbered_client.write((INSERT, entry))
    switch.inject(1, frame(0x01020304, ether_type=0x0800))
    assert ports(switch.advance_to(1000)) == [4]
    assert renumbered_client.read(p4r.TableEntry(table_id=names["ternary_table"])) == [entry]


@pytest.mark.system
def test_parameters_of_an_action_are_those_of_their_ids(
    renumbered_client: Client, switch: Switch, names: Names
) -> None:
    selector = names["selector"]
    member = p4r.ActionProfileMember(
        action_profile_id=selector, member_id=1, action=forward_as(names, 5, 0x020000000009)
    )
    entry = names.entry(
        "lpm_table",
        action=p4r.TableAction(action_profile_member_id=1),
    )
    entry.match.add(field_id=1).lpm.value = b"\x01\0\0\0"
    entry.match[0].lpm.prefix_len = 8
    renumbered_client.write((INSERT, member))
    renumbered_client.write((INSERT, entry))
    switch.inject(1, frame(0x01020304))
    ((_, port, sent),) = switch.advance_to(1000)
    assert (port, sent[6:12].hex()) == (5, "020000000009")
    asked = p4r.ActionProfileMember(action_profile_id=selector)
    (read,) = renumbered_client.read(asked)
    assert {param.param_id: param.value for param in read.action.params} == {
        2: b"\x05",
        1: b"\x02\0\0\0\0\x09",
    }


@pytest.mark.system
def test_metadata_of_a_packet_in_is_that_of_its_ids(
    renumbered_client: Client, switch: Switch, names: Names
) -> None:
    renumbered_client.write((INSERT, names.entry("exact_table", exact(1, 7), action=names.action("to_cpu"))))
    switch.inject(3, frame(7))
    switch.advance_to(1000)
    (packet,) = [renumbered_client.receive().packet]
    assert {one.metadata_id: one.value for one in packet.metadata} == {2: b"\x03", 1: b"\0"}


@pytest.mark.system
def test_fields_of_a_value_set_are_those_of_their_ids(resource_switch: Switch, resource_names: Names) -> None:
    member = p4r.ValueSetMember(match=[exact(2, 0x0806), exact(1, 0xAB)])
    entry = p4r.ValueSetEntry(value_set_id=resource_names["pairs"], members=[member])
    with serve(resource_switch, p4info=renumbered("resources")) as server, primary(server.address) as client:
        client.write((MODIFY, entry))
    resource_switch.inject(1, frame(0xAB000001, ether_type=0x0806))
    assert ports(resource_switch.advance_to(1000)) == [3]
