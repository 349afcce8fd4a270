"""Tables and action profiles over Thrift: entries, keys, handles, codes, and their effect on packets."""

from collections.abc import Callable
from typing import Any

import pytest
from eeon_engine import Switch
from made_frames import frame
from p4rt_client import ports
from thrift_client import ThriftClient, code_of, exact, lpm, standard, ternary

pytestmark = pytest.mark.system

Codes = standard.TableOperationErrorCode
EXACT = "EverythingIngress.exact_table"
TERNARY = "EverythingIngress.ternary_table"
RANGE = "EverythingIngress.range_table"
MEMBERS = "EverythingIngress.member_table"
PREFIXES = "EverythingIngress.lpm_table"
FORWARD = "EverythingIngress.forward"
NO_OPTIONS = standard.BmAddEntryOptions()


def key(value: int) -> bytes:
    return value.to_bytes(4, "big")


def options(priority: int) -> Any:
    return standard.BmAddEntryOptions(priority=priority)


def refusal(call: Callable[..., Any], *arguments: Any) -> int:
    return code_of(standard.InvalidTableOperation, call, *arguments)


def out(switch: Switch, value: int) -> list[int]:
    """Returns the ports on which a frame with this key leaves."""
    switch.inject(1, frame(value))
    return ports(switch.advance_to(switch.now_ps + 10_000_000))


def test_an_entry_added_over_thrift_forwards_and_is_read_back_as_it_was_given(
    switch: Switch, thrift: ThriftClient
) -> None:
    call = thrift.standard
    handle = call.bm_mt_add_entry(0, EXACT, [exact(key(5))], FORWARD, [b"\0\x03"], NO_OPTIONS)
    assert out(switch, 5) == [3]
    entry = call.bm_mt_get_entry(0, EXACT, handle)
    assert entry.match_key == [exact(key(5))]
    assert (entry.entry_handle, entry.options.priority, entry.life) == (0, -1, None)
    assert (entry.action_entry.action_name, entry.action_entry.action_data) == (FORWARD, [b"\x03"])
    call.bm_mt_modify_entry(0, EXACT, handle, FORWARD, [b"\x04"])
    assert out(switch, 5) == [4]
    call.bm_mt_delete_entry(0, EXACT, handle)
    assert (out(switch, 5), call.bm_mt_get_num_entries(0, EXACT)) == ([], 0)


def test_the_low_priority_number_wins_and_is_part_of_the_key(switch: Switch, thrift: ThriftClient) -> None:
    call = thrift.standard
    match = [ternary(key(0), key(0)), exact(b"\x12\x34")]
    call.bm_mt_add_entry(0, TERNARY, match, FORWARD, [b"\x02"], options(20))
    call.bm_mt_add_entry(0, TERNARY, match, FORWARD, [b"\x03"], options(10))
    assert out(switch, 9) == [3]
    found = call.bm_mt_get_entry_from_key(0, TERNARY, match, options(20))
    assert (found.entry_handle, found.options.priority) == (0, 20)
    assert refusal(call.bm_mt_get_entry_from_key, 0, TERNARY, match, options(21)) == Codes.BAD_MATCH_KEY


def test_a_range_is_given_as_its_two_ends(switch: Switch, thrift: ThriftClient) -> None:
    bounds = standard.BmMatchParamRange(start=key(3), end_=key(9))
    match = [
        standard.BmMatchParam(type=standard.BmMatchParamType.RANGE, range=bounds),
        ternary(b"\0\0", b"\0\0"),
    ]
    thrift.standard.bm_mt_add_entry(0, RANGE, match, FORWARD, [b"\x06"], options(1))
    assert [out(switch, value) for value in (2, 3, 9, 10)] == [[], [6], [6], []]
    assert thrift.standard.bm_mt_get_entries(0, RANGE)[0].match_key == match


def test_a_deleted_entrys_handle_has_expired_once_its_place_is_taken(thrift: ThriftClient) -> None:
    call = thrift.standard
    for value in (1, 2):
        call.bm_mt_add_entry(0, EXACT, [exact(key(value))], FORWARD, [b"\x01"], NO_OPTIONS)
    call.bm_mt_delete_entry(0, EXACT, 0)
    again = call.bm_mt_add_entry(0, EXACT, [exact(key(3))], FORWARD, [b"\x01"], NO_OPTIONS)
    assert again == 1 << 24
    assert refusal(call.bm_mt_get_entry, 0, EXACT, 0) == Codes.EXPIRED_HANDLE
    assert [entry.entry_handle for entry in call.bm_mt_get_entries(0, EXACT)] == [1 << 24, 1]


def test_handles_beyond_an_i32_travel_as_negative_numbers(thrift: ThriftClient) -> None:
    call = thrift.standard
    handle = 0
    for _ in range(200):
        handle = call.bm_mt_add_entry(0, EXACT, [exact(key(1))], FORWARD, [b"\x01"], NO_OPTIONS)
        call.bm_mt_delete_entry(0, EXACT, handle)
    assert handle == (199 << 24) - (1 << 32)


def test_default_entries_are_set_read_and_reset(switch: Switch, thrift: ThriftClient) -> None:
    call = thrift.standard
    call.bm_mt_set_default_action(0, EXACT, FORWARD, [b"\x08"])
    assert call.bm_mt_get_entry_from_key(0, EXACT, [], NO_OPTIONS).action_entry.action_name == FORWARD
    call.bm_mt_clear_entries(0, EXACT, True)
    assert call.bm_mt_get_default_entry(0, EXACT).action_name == "NoAction"
    assert call.bm_mt_get_default_entry(0, MEMBERS).action_type == standard.BmActionEntryType.NONE


def test_members_and_groups_serve_entries(switch: Switch, thrift: ThriftClient) -> None:
    call, selector = thrift.standard, "EverythingIngress.selector"
    first = call.bm_mt_act_prof_add_member(0, selector, FORWARD, [b"\x02"])
    second = call.bm_mt_act_prof_add_member(0, selector, FORWARD, [b"\x03"])
    group = call.bm_mt_act_prof_create_group(0, selector)
    add = (0, PREFIXES, [lpm(key(0x0A000000), 8)], group, NO_OPTIONS)
    call.bm_mt_act_prof_add_member_to_group(0, selector, first, group)
    call.bm_mt_indirect_ws_add_entry(*add)
    call.bm_mt_indirect_add_entry(0, PREFIXES, [lpm(key(0x0A010000), 16)], second, NO_OPTIONS)
    assert (out(switch, 0x0A000001), out(switch, 0x0A010001)) == ([2], [3])
    kinds = standard.BmActionEntryType
    assert [e.action_entry.action_type for e in call.bm_mt_get_entries(0, PREFIXES)] == [
        kinds.GRP_HANDLE,
        kinds.MBR_HANDLE,
    ]
    assert call.bm_mt_act_prof_get_group(0, selector, group).mbr_handles == [first]
    assert call.bm_mt_act_prof_get_member(0, selector, second).action_data == [b"\x03"]
    call.bm_mt_indirect_ws_modify_entry(0, PREFIXES, 1, group)
    call.bm_mt_act_prof_modify_member(0, selector, first, FORWARD, [b"\x09"])
    assert out(switch, 0x0A010001) == [9]


def test_a_context_other_than_0_is_refused_by_name(thrift: ThriftClient) -> None:
    with pytest.raises(Exception, match="context 1 does not exist; use context 0"):
        thrift.standard.bm_mt_get_num_entries(1, EXACT)


def test_a_key_of_no_kind_is_a_bad_one(thrift: ThriftClient) -> None:
    call, match = thrift.standard.bm_mt_add_entry, [standard.BmMatchParam()]
    assert refusal(call, 0, EXACT, match, FORWARD, [b"\1"], NO_OPTIONS) == Codes.BAD_MATCH_KEY
