"""A P4Info whose ids are not in the order of declaration, as with `@id`, or whose lists are not, as in a
sorted P4Info: ids are mere numbers, and names determine the meaning."""

from typing import Any

import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import serve
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program import compilation
from eeon_engine.p4runtime.program import p4info as reader
from finsy.proto import p4r
from made_frames import frame
from p4rt_client import (
    INSERT,
    MODIFY,
    Client,
    Failed,
    Names,
    exact,
    lpm,
    p4info,
    pipeline,
    ports,
    primary,
    program_json,
    ternary,
)


def resorted(name: str) -> Any:
    """Returns the P4Info of a test program, with fields, parameters and metadata in reverse order."""
    info = p4info(name)
    lists = [table.match_fields for table in info.tables]
    lists += [action.params for action in info.actions]
    lists += [header.metadata for header in info.controller_packet_metadata]
    for items in lists:
        backwards = list(items)[::-1]
        del items[:]
        items.extend(backwards)
    return info


def renumbered(name: str) -> Any:
    """Returns the P4Info of a test program, with descending ids of fields, parameters and metadata."""
    info = p4info(name)
    lists = [table.match_fields for table in info.tables]
    lists += [action.params for action in info.actions]
    lists += [value_set.match for value_set in info.value_sets]
    lists += [header.metadata for header in info.controller_packet_metadata]
    for items in lists:
        for number, item in enumerate(reversed(items), 1):
            item.id = number
    return info


def forwarded(names: Names, value: int = 1, ether_type: int = 2) -> p4r.TableEntry:
    """Returns an entry of `ternary_table` whose fields have these ids; it forwards one kind of frame to 4."""
    key = ternary(value, 0x01020304, 0xFFFFFFFF), exact(ether_type, 0x0800)
    return names.entry("ternary_table", *key, action=names.action("forward", 4), priority=1)


def is_forwarded(switch: Switch) -> bool:
    """Returns whether the next such frame leaves on 4."""
    switch.inject(1, frame(0x01020304, ether_type=0x0800))
    return ports(switch.advance_to(1000)) == [4]


@pytest.mark.system
def test_fields_of_a_value_set_are_those_of_their_ids(resource_switch: Switch, resource_names: Names) -> None:
    member = p4r.ValueSetMember(match=[exact(2, 0x0806), exact(1, 0xAB)])
    entry = p4r.ValueSetEntry(value_set_id=resource_names["pairs"], members=[member])
    with serve(resource_switch, p4info=renumbered("resources")) as server, primary(server.address) as client:
        client.write((MODIFY, entry))
    resource_switch.inject(1, frame(0xAB000001, ether_type=0x0806))
    assert ports(resource_switch.advance_to(1000)) == [3]


@pytest.mark.system
@pytest.mark.parametrize(
    ("info", "ids"), [(resorted("everything"), (1, 2)), (renumbered("everything"), (2, 1))]
)
def test_fields_parameters_and_metadata_are_those_of_their_ids_whatever_their_places(
    switch: Switch, names: Names, info: Any, ids: tuple[int, int]
) -> None:
    entry = forwarded(names, *ids)
    action = p4r.Action(action_id=names["forward_as"])
    for param, value in zip(ids, (b"\x05", b"\x02\0\0\0\0\x09"), strict=True):
        action.params.add(param_id=param, value=value)
    member = p4r.ActionProfileMember(action_profile_id=names["selector"], member_id=1, action=action)
    to_member = p4r.TableAction(action_profile_member_id=1)
    by_prefix = names.entry("lpm_table", lpm(1, 0x09000000, 8), action=to_member)
    to_cpu = names.entry("exact_table", exact(1, 7), action=names.action("to_cpu"))
    with serve(switch, p4info=info) as server, primary(server.address) as client:
        for one in (entry, member, by_prefix, to_cpu):
            client.write((INSERT, one))
        assert client.read(p4r.TableEntry(table_id=names["ternary_table"])) == [entry]
        (read,) = client.read(p4r.ActionProfileMember(action_profile_id=names["selector"]))
        assert {one.param_id: one.value for one in read.action.params} == {
            one.param_id: one.value for one in action.params
        }
        assert is_forwarded(switch)
        switch.inject(1, frame(0x09000000))
        ((_, port, sent),) = switch.advance_to(2000)
        assert (port, sent[6:12].hex()) == (5, "020000000009")
        switch.inject(3, frame(7))
        switch.advance_to(3000)
        metadata = client.receive().packet.metadata
        assert {one.metadata_id: one.value for one in metadata} == dict(
            zip(ids, (b"\x03", b"\0"), strict=True)
        )


def test_a_p4info_whose_fields_have_other_names_at_other_places_is_refused() -> None:
    info = resorted("everything")
    (table,) = [one for one in info.tables if one.preamble.alias == "ternary_table"]
    table.match_fields[0].name = "kind"
    with pytest.raises(StatusError, match="field 'value' at place 2 in the P4Info and 1 in the program"):
        compilation.matched(reader.read(info), program_json())


def reconciled(client: Client, info: Any, program: str = "everything") -> None:
    """Gives the switch the same program with another P4Info, and has it keep its state."""
    client.push(p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT, pipeline(program, info))


@pytest.mark.system
def test_entries_keep_their_meaning_when_a_new_p4info_counts_in_another_order(
    switch: Switch, names: Names
) -> None:
    entry = forwarded(names)
    action = names.action("forward_as", 5, 0x020000000009)
    member = p4r.ActionProfileMember(action_profile_id=names["selector"], member_id=1, action=action)
    with serve(switch, p4info=p4info("everything")) as server, primary(server.address) as client:
        client.write((INSERT, entry), (INSERT, member))
        reconciled(client, renumbered("everything"))
        (read,) = client.read(p4r.TableEntry(table_id=names["ternary_table"]))
        (of_profile,) = client.read(p4r.ActionProfileMember(action_profile_id=names["selector"]))
    assert {one.field_id: one.WhichOneof("field_match_type") for one in read.match} == {
        1: "exact",
        2: "ternary",
    }
    assert {one.param_id: one.value for one in of_profile.action.params} == {
        1: b"\x02\0\0\0\0\x09",
        2: b"\x05",
    }
    assert is_forwarded(switch)


@pytest.mark.system
def test_members_of_a_value_set_keep_their_meaning_too(
    resource_switch: Switch, resource_names: Names
) -> None:
    member = p4r.ValueSetMember(match=[exact(1, 0x0806), exact(2, 0xAB)])
    entry = p4r.ValueSetEntry(value_set_id=resource_names["pairs"], members=[member])
    with serve(resource_switch, p4info=p4info("resources")) as server, primary(server.address) as client:
        client.write((MODIFY, entry))
        reconciled(client, renumbered("resources"), "resources")
    resource_switch.inject(1, frame(0xAB000001, ether_type=0x0806))
    assert ports(resource_switch.advance_to(1000)) == [3]


@pytest.mark.system
def test_a_field_of_a_new_name_has_the_entries_of_its_id_unless_that_was_anothers(
    switch: Switch, names: Names
) -> None:
    entry = forwarded(names)
    renamed, moved = p4info("everything"), renumbered("everything")
    for info in (renamed, moved):
        [fields] = [t.match_fields for t in info.tables if t.preamble.alias == "ternary_table"]
        was, fields[0].name = fields[0].name, "renamed"
    with serve(switch, p4info=p4info("everything")) as server, primary(server.address) as client:
        client.write((INSERT, entry))
        with pytest.raises(Failed, match=f"table .*ternary_table' has no '{was}' in the new P4Info"):
            reconciled(client, moved)
        reconciled(client, renamed)
        assert client.read(p4r.TableEntry(table_id=names["ternary_table"])) == [entry]
