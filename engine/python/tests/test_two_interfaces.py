"""Objects written over P4Runtime can be read over Thrift at once, and vice versa, because the engine stores
the state of both."""

from typing import Any

import pytest
from eeon_engine import Switch
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import DELETE, INSERT, MODIFY, Client, Names, bits, codes, number_bytes, one_shot, ports
from p4rt_client import exact as exactly
from p4rt_client import lpm as prefix
from thrift_client import ThriftClient, exact, lpm, rate, simple_switch, standard, ternary

pytestmark = pytest.mark.system

IN = "EverythingIngress."
RESOURCES = "ResourcesIngress."
NO_OPTIONS = standard.BmAddEntryOptions()
ROLLBACK = p4r.WriteRequest.ROLLBACK_ON_ERROR
MADE_UP = 2**32 - 1
"""The generated id of an object with handle 0."""


def key(value: int) -> bytes:
    return value.to_bytes(4, "big")


def member(names: Names, number: int, port: int, profile: str = "selector") -> Any:
    return p4r.ActionProfileMember(
        action_profile_id=names[profile], member_id=number, action=names.action("forward", port)
    )


def group(names: Names, number: int, *members: tuple[int, int], max_size: int = 0) -> Any:
    made = p4r.ActionProfileGroup(action_profile_id=names["selector"], group_id=number, max_size=max_size)
    for member_id, weight in members:
        made.members.add(member_id=member_id, weight=weight)
    return made


def sent(switch: Switch, value: int) -> list[int]:
    switch.inject(1, frame(value))
    return ports(switch.advance_to(switch.now_ps + 10_000_000))


# ---- tables


def test_an_entry_that_thrift_added_is_read_modified_and_deleted_over_p4runtime(
    client: Client, thrift: ThriftClient, names: Names
) -> None:
    call = thrift.standard
    call.bm_mt_add_entry(0, IN + "exact_table", [exact(key(5))], IN + "forward", [b"\0\x03"], NO_OPTIONS)
    entry = names.entry("exact_table", exactly(1, 5), action=names.action("forward", 3))
    assert client.read(p4r.TableEntry(table_id=names["exact_table"])) == [entry]
    assert codes(client.refused((INSERT, entry))) == [rpc_code.ALREADY_EXISTS]
    entry = names.entry("exact_table", exactly(1, 5), action=names.action("forward", 4), metadata=b"mine")
    client.write((MODIFY, entry))
    assert client.read(p4r.TableEntry(table_id=names["exact_table"])) == [entry]
    (found,) = call.bm_mt_get_entries(0, IN + "exact_table")
    assert found.action_entry.action_data == [b"\x04"]
    client.write((DELETE, entry))
    assert call.bm_mt_get_num_entries(0, IN + "exact_table") == 0


def test_an_entry_that_p4runtime_inserted_is_read_modified_and_deleted_over_thrift(
    client: Client, thrift: ThriftClient, names: Names
) -> None:
    call = thrift.standard
    entry = names.entry(
        "exact_table",
        exactly(1, 5),
        action=names.action("forward", 3),
        metadata=b"mine",
        controller_metadata=7,
    )
    client.write((INSERT, entry))
    (found,) = call.bm_mt_get_entries(0, IN + "exact_table")
    assert found.match_key == [exact(key(5))]
    call.bm_mt_modify_entry(0, IN + "exact_table", found.entry_handle, IN + "forward", [b"\x06"])
    entry.action.action.CopyFrom(names.action("forward", 6))
    assert client.read(p4r.TableEntry(table_id=names["exact_table"])) == [entry]
    call.bm_mt_delete_entry(0, IN + "exact_table", found.entry_handle)
    assert client.read(p4r.TableEntry(table_id=names["exact_table"])) == []


def test_priorities_are_turned_over_between_the_two(
    client: Client, thrift: ThriftClient, names: Names
) -> None:
    call, table = thrift.standard, IN + "ternary_table"
    options = standard.BmAddEntryOptions(priority=10)
    match = [ternary(key(5), key(0xFF)), exact(b"\x12\x34")]
    call.bm_mt_add_entry(0, table, match, IN + "forward", [b"\x03"], options)
    (entry,) = client.read(p4r.TableEntry(table_id=names["ternary_table"]))
    assert entry.priority == 2**31 - 1 - 10
    client.write((DELETE, entry))
    client.write((INSERT, entry))
    (found,) = call.bm_mt_get_entries(0, table)
    assert (found.options.priority, found.match_key) == (10, match)


def test_the_default_entry_is_the_same_for_both(client: Client, thrift: ThriftClient, names: Names) -> None:
    call, table = thrift.standard, IN + "settings"
    asked = names.entry("settings", is_default_action=True)
    (initial,) = client.read(asked)
    call.bm_mt_set_default_action(0, table, IN + "forward", [b"\x05"])
    default = names.entry("settings", action=names.action("forward", 5), is_default_action=True)
    assert client.read(asked) == [default]
    default = names.entry(
        "settings", action=names.action("forward", 6), is_default_action=True, metadata=b"mine"
    )
    client.write((MODIFY, default))
    assert call.bm_mt_get_default_entry(0, table).action_data == [b"\x06"]
    assert client.read(asked) == [default]
    call.bm_mt_reset_default_entry(0, table)
    assert client.read(asked) == [initial]


def test_direct_counters_meters_and_time_outs_are_the_same_for_both(
    resources: Client, resource_thrift: ThriftClient, resource_names: Names
) -> None:
    call, names = resource_thrift.standard, resource_names
    table = RESOURCES + "metered_table"
    resources.write(
        (INSERT, names.entry("metered_table", exactly(1, 5), action=p4r.Action(action_id=names["drop"])))
    )
    call.bm_mt_write_counter(0, table, 0, standard.BmCounterValue(bytes=70, packets=2))
    call.bm_mt_set_meter_rates(0, table, 0, [rate(0.5, 100), rate(1.0, 200)])
    asked = names.entry("metered_table", exactly(1, 5))
    asked.counter_data.SetInParent()
    asked.meter_config.SetInParent()
    (found,) = resources.read(asked)
    assert (found.counter_data.byte_count, found.counter_data.packet_count) == (70, 2)
    assert (found.meter_config.cir, found.meter_config.pburst) == (500_000, 200)
    aged = names.entry(
        "ageing_table", exactly(1, 6), action=names.action("forward", 2), idle_timeout_ns=10**18
    )
    resources.write((INSERT, aged))
    call.bm_mt_set_entry_ttl(0, RESOURCES + "ageing_table", 0, 2_500)
    aged.idle_timeout_ns = 2_500_000_000
    assert resources.read(p4r.TableEntry(table_id=names["ageing_table"])) == [aged]


def test_an_entry_that_ages_by_thrifts_time_out_is_told_to_the_client(
    resources: Client, resource_switch: Switch, resource_thrift: ThriftClient, resource_names: Names
) -> None:
    call, table = resource_thrift.standard, RESOURCES + "ageing_table"
    handle = call.bm_mt_add_entry(0, table, [exact(key(9))], RESOURCES + "forward", [b"\x02"], NO_OPTIONS)
    call.bm_mt_set_entry_ttl(0, table, handle, 1)
    resource_switch.advance_to(2_000_000_000)
    (expired,) = resources.receive().idle_timeout_notification.table_entry
    assert expired.match[0].exact.value == b"\x09"


# ---- action profiles


def test_members_and_groups_that_thrift_made_have_ids_from_the_top_of_the_range(
    client: Client, thrift: ThriftClient, switch: Switch, names: Names
) -> None:
    call, profile = thrift.standard, IN + "selector"
    for port in (4, 5):
        call.bm_mt_act_prof_add_member(0, profile, IN + "forward", [number_bytes(port)])
    call.bm_mt_act_prof_create_group(0, profile)
    call.bm_mt_act_prof_add_member_to_group(0, profile, 1, 0)
    call.bm_mt_act_prof_add_member_to_group(0, profile, 0, 0)
    call.bm_mt_indirect_ws_add_entry(0, IN + "lpm_table", [lpm(key(0), 0)], 0, NO_OPTIONS)
    assert client.read(p4r.ActionProfileMember()) == [
        member(names, MADE_UP - 1, 5),
        member(names, MADE_UP, 4),
    ]
    made = group(names, MADE_UP, (MADE_UP - 1, 1), (MADE_UP, 1))
    assert client.read(p4r.ActionProfileGroup()) == [made]
    to_group = p4r.TableAction(action_profile_group_id=MADE_UP)
    assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [
        names.entry("lpm_table", action=to_group)
    ]
    client.write((MODIFY, group(names, MADE_UP, (MADE_UP, 1))), (MODIFY, member(names, MADE_UP, 6)))
    assert [list(found.mbr_handles) for found in call.bm_mt_act_prof_get_groups(0, profile)] == [[0]]
    assert sent(switch, 0x0A000001) == [6]
    client.write((DELETE, member(names, MADE_UP - 1, 5)))
    assert [found.mbr_handle for found in call.bm_mt_act_prof_get_members(0, profile)] == [0]


def test_a_client_that_takes_a_made_up_id_gets_it_and_the_other_moves_aside(
    client: Client, thrift: ThriftClient, names: Names
) -> None:
    call, profile = thrift.standard, IN + "selector"
    call.bm_mt_act_prof_add_member(0, profile, IN + "forward", [b"\x04"])
    call.bm_mt_act_prof_create_group(0, profile)
    call.bm_mt_act_prof_add_member_to_group(0, profile, 0, 0)
    client.write((INSERT, member(names, MADE_UP, 7)), (INSERT, group(names, MADE_UP, (MADE_UP, 1))))
    assert client.read(p4r.ActionProfileMember()) == [
        member(names, MADE_UP - 1, 4),
        member(names, MADE_UP, 7),
    ]
    assert client.read(p4r.ActionProfileGroup()) == [
        group(names, MADE_UP - 1, (MADE_UP - 1, 1)),
        group(names, MADE_UP, (MADE_UP, 1)),
    ]
    assert codes(client.refused((INSERT, member(names, MADE_UP, 8)))) == [rpc_code.ALREADY_EXISTS]


def test_a_weight_is_as_many_members_over_thrift_and_changes_there_show_as_weights(
    client: Client, thrift: ThriftClient, names: Names
) -> None:
    call, profile = thrift.standard, IN + "selector"
    client.write(
        (INSERT, member(names, 1, 4)),
        (INSERT, member(names, 2, 5)),
        (INSERT, group(names, 1, (2, 1), (1, 3), max_size=8)),
    )
    assert [found.mbr_handle for found in call.bm_mt_act_prof_get_members(0, profile)] == [0, 1, 2, 3]
    (found,) = call.bm_mt_act_prof_get_groups(0, profile)
    assert list(found.mbr_handles) == [0, 1, 2, 3]
    call.bm_mt_act_prof_remove_member_from_group(0, profile, 2, 0)
    assert client.read(p4r.ActionProfileGroup()) == [group(names, 1, (2, 1), (1, 2), max_size=8)]
    call.bm_mt_act_prof_remove_member_from_group(0, profile, 1, 0)
    assert client.read(p4r.ActionProfileGroup()) == [group(names, 1, (1, 2), max_size=8)]
    call.bm_mt_act_prof_add_member_to_group(0, profile, 2, 0)
    assert client.read(p4r.ActionProfileGroup()) == [group(names, 1, (1, 3), max_size=8)]


def test_a_one_shot_is_a_group_over_thrift_and_goes_with_its_entry(
    client: Client, thrift: ThriftClient, names: Names
) -> None:
    call, profile, table = thrift.standard, IN + "selector", IN + "lpm_table"
    shot = one_shot((names.action("forward", 4), 2), (names.action("forward", 5), 1))
    entry = names.entry("lpm_table", prefix(1, 0x0A000000, 8), action=shot)
    client.write((INSERT, entry))
    assert [list(found.mbr_handles) for found in call.bm_mt_act_prof_get_groups(0, profile)] == [[0, 1, 2]]
    assert client.read(p4r.ActionProfileMember(), p4r.ActionProfileGroup()) == []
    # Another entry for the same group, over Thrift.
    call.bm_mt_indirect_ws_add_entry(0, table, [lpm(key(0x0B000000), 8)], 0, NO_OPTIONS)
    other = names.entry("lpm_table", prefix(1, 0x0B000000, 8), action=shot)
    assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry, other]
    client.write((DELETE, entry))
    assert len(call.bm_mt_act_prof_get_members(0, profile)) == 3
    call.bm_mt_indirect_delete_entry(0, table, 1)
    assert call.bm_mt_act_prof_get_members(0, profile) == []
    assert call.bm_mt_act_prof_get_groups(0, profile) == []


def test_a_one_shot_that_thrift_changes_is_read_as_it_is_now(
    client: Client, thrift: ThriftClient, names: Names
) -> None:
    call, profile = thrift.standard, IN + "selector"
    four, five = names.action("forward", 4), names.action("forward", 5)
    entry = names.entry("lpm_table", prefix(1, 0x0A000000, 8), action=one_shot((four, 2), (five, 1)))
    client.write((INSERT, entry))
    call.bm_mt_act_prof_remove_member_from_group(0, profile, 0, 0)
    changed = names.entry("lpm_table", prefix(1, 0x0A000000, 8), action=one_shot((four, 1), (five, 1)))
    assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [changed]
    assert client.read(p4r.ActionProfileMember()) == [member(names, MADE_UP, 4)]


# ---- replication


def test_multicast_groups_are_the_same_for_both(client: Client, thrift: ThriftClient) -> None:
    pre = thrift.pre
    pre.bm_mc_mgrp_create(0, 9)
    node = pre.bm_mc_node_create(0, 7, "1100", "")
    pre.bm_mc_node_associate(0, 9, node)
    made = p4r.MulticastGroupEntry(multicast_group_id=9)
    for port in (2, 3):
        made.replicas.add(port=number_bytes(port), instance=7)
    everything = p4r.PacketReplicationEngineEntry()
    assert [found.multicast_group_entry for found in client.read(everything)] == [made]
    other = p4r.MulticastGroupEntry(multicast_group_id=9, metadata=b"mine")
    other.replicas.add(egress_port=4, instance=1)
    client.write((MODIFY, other))
    assert [found.multicast_group_entry for found in client.read(everything)] == [other]
    assert '"id": 9' in pre.bm_mc_get_entries(0)
    pre.bm_mc_mgrp_destroy(0, 9)
    assert client.read(everything) == []


def test_clone_sessions_are_the_same_for_both(client: Client, thrift: ThriftClient) -> None:
    config = simple_switch.MirroringSessionConfig
    thrift.switch.mirroring_session_add(3, config(port=5))
    thrift.switch.mirroring_session_add(0, config(port=6))
    expected = []
    for session, port in ((3, 5), (32_768, 6)):
        expected.append(p4r.CloneSessionEntry(session_id=session, replicas=[p4r.Replica(port=bytes([port]))]))
    everything = p4r.PacketReplicationEngineEntry()
    assert [found.clone_session_entry for found in client.read(everything)] == expected
    client.write((DELETE, expected[1]), (MODIFY, expected[0]))
    assert [found.clone_session_entry for found in client.read(everything)] == expected[:1]
    found = thrift.switch.mirroring_session_get(3)
    assert (found.port, found.mgid) == (None, 32_768 + 3)
    thrift.switch.mirroring_session_delete(3)
    sessions = p4r.PacketReplicationEngineEntry(clone_session_entry=p4r.CloneSessionEntry())
    assert client.read(sessions) == []


# ---- cells


def test_counters_and_registers_are_the_same_for_both(
    client: Client, thrift: ThriftClient, names: Names
) -> None:
    call = thrift.standard
    call.bm_counter_write(0, IN + "both", 2, standard.BmCounterValue(bytes=70, packets=2))
    counter = p4r.CounterEntry(counter_id=names["both"], index=p4r.Index(index=2))
    (found,) = client.read(counter)
    assert (found.data.byte_count, found.data.packet_count) == (70, 2)
    counter.data.byte_count, counter.data.packet_count = 9, 1
    client.write((MODIFY, counter))
    assert call.bm_counter_read(0, IN + "both", 2) == standard.BmCounterValue(bytes=9, packets=1)
    call.bm_register_write(0, IN + "wide_cells", 1, 0x1234)
    register = p4r.RegisterEntry(register_id=names["wide_cells"], index=p4r.Index(index=1))
    (cell,) = client.read(register)
    assert cell.data == bits(0x1234)
    register.data.CopyFrom(bits(0x77))
    client.write((MODIFY, register))
    assert call.bm_register_read(0, IN + "wide_cells", 1) == 0x77


def test_meters_and_value_sets_are_the_same_for_both(
    resources: Client, resource_thrift: ThriftClient, resource_names: Names
) -> None:
    call, names = resource_thrift.standard, resource_names
    call.bm_meter_set_rates(0, RESOURCES + "cells", 1, [rate(0.5, 100), rate(1.0, 200)])
    meter = p4r.MeterEntry(meter_id=names["cells"], index=p4r.Index(index=1))
    (found,) = resources.read(meter)
    assert (found.config.cir, found.config.pir) == (500_000, 1_000_000)
    resources.write((MODIFY, meter))
    assert call.bm_meter_get_rates(0, RESOURCES + "cells", 1) == []
    call.bm_parse_vset_add(0, "ParserImpl.types", b"\x08\x00")
    asked = p4r.ValueSetEntry(value_set_id=names["types"])
    (values,) = resources.read(asked)
    assert [one.match[0].exact.value for one in values.members] == [b"\x08\x00"]
    values.members[0].match[0].exact.value = b"\x08\x06"
    resources.write((MODIFY, values))
    assert call.bm_parse_vset_get(0, "ParserImpl.types") == [b"\x08\x06"]


def test_thrift_waits_while_a_batch_of_p4runtime_is_on_its_way(
    client: Client, thrift: ThriftClient, switch: Switch, names: Names
) -> None:
    """A failed batch never undoes a write over Thrift."""
    entry = names.entry("exact_table", exactly(1, 1), action=names.action("forward", 1))
    for value in range(2, 10):
        refused = client.refused(
            (INSERT, entry), (INSERT, entry), atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR
        )
        assert codes(refused) == [rpc_code.ABORTED, rpc_code.ALREADY_EXISTS]
        match = [exact(key(value))]
        thrift.standard.bm_mt_add_entry(0, IN + "exact_table", match, IN + "forward", [b"\1"], NO_OPTIONS)
    assert thrift.standard.bm_mt_get_num_entries(0, IN + "exact_table") == 8
