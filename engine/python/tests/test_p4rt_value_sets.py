"""Parser value sets (P4Runtime 1.5 §9.6)."""

import pytest
from eeon_engine import Switch
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import DELETE, INSERT, MODIFY, Client, Names, codes, exact, number_bytes, ports, ternary

pytestmark = pytest.mark.system


def types(names: Names, *values: int) -> p4r.ValueSetEntry:
    members = [p4r.ValueSetMember(match=[exact(1, value)]) for value in values]
    return p4r.ValueSetEntry(value_set_id=names["types"], members=members)


def pairs(names: Names, *values: tuple[int, int]) -> p4r.ValueSetEntry:
    members = [p4r.ValueSetMember(match=[exact(1, one), exact(2, two)]) for one, two in values]
    return p4r.ValueSetEntry(value_set_id=names["pairs"], members=members)


def test_a_value_set_starts_empty_is_replaced_whole_and_emptied(
    resources: Client, resource_names: Names
) -> None:
    asked = types(resource_names)
    assert resources.read(asked) == [asked]
    for members in ((0x0800, 0x86DD), (0x0806,), ()):
        resources.write((MODIFY, types(resource_names, *members)))
        assert resources.read(asked) == [types(resource_names, *members)]


def test_members_steer_the_parser(resources: Client, resource_switch: Switch, resource_names: Names) -> None:
    """The program sends to port 3 what a value set holds."""

    def received(ether_type: int, key: int) -> list[int]:
        resource_switch.inject(1, frame(key, ether_type=ether_type))
        return ports(resource_switch.advance_to(resource_switch.now_ps + 1000))

    resources.write((MODIFY, types(resource_names, 0x0800)), (MODIFY, pairs(resource_names, (0x0806, 0xAB))))
    assert received(0x0800, 1) == [3]
    assert received(0x0806, 0xAB000001) == [3]
    assert received(0x0806, 0xAC000001) == []
    resources.write((MODIFY, types(resource_names)))
    assert received(0x0800, 1) == []


def test_a_member_of_several_fields_comes_back_as_it_was_written(
    resources: Client, resource_names: Names
) -> None:
    written = pairs(resource_names, (0x0001, 0xFF), (0x0800, 0))
    resources.write((MODIFY, written))
    assert resources.read(pairs(resource_names)) == [written]
    assert len(resources.read(p4r.ValueSetEntry())) == 2


@pytest.mark.parametrize("kind", [INSERT, DELETE])
def test_value_sets_are_always_there(resources: Client, resource_names: Names, kind: int) -> None:
    assert codes(resources.refused((kind, types(resource_names, 1)))) == [rpc_code.INVALID_ARGUMENT]


def test_more_members_than_there_is_room_for_are_refused(resources: Client, resource_names: Names) -> None:
    failed = resources.refused((MODIFY, types(resource_names, 1, 2, 3, 4, 5)))
    assert codes(failed) == [rpc_code.RESOURCE_EXHAUSTED]
    assert "it has room for 4" in failed.updates[0][1]


def test_a_member_twice_is_refused_and_changes_nothing(resources: Client, resource_names: Names) -> None:
    resources.write((MODIFY, types(resource_names, 7)))
    assert codes(resources.refused((MODIFY, types(resource_names, 1, 1)))) == [rpc_code.ALREADY_EXISTS]
    assert resources.read(types(resource_names)) == [types(resource_names, 7)]


@pytest.mark.parametrize(
    ("match", "code"),
    [
        ([], rpc_code.INVALID_ARGUMENT),
        ([exact(1, 1), exact(1, 2)], rpc_code.INVALID_ARGUMENT),
        ([exact(9, 1)], rpc_code.INVALID_ARGUMENT),
        ([ternary(1, 1, 1)], rpc_code.INVALID_ARGUMENT),
        ([exact(1, 1 << 16)], rpc_code.INVALID_ARGUMENT),
        ([p4r.FieldMatch(field_id=1)], rpc_code.INVALID_ARGUMENT),
    ],
)
def test_members_must_fit_the_set(
    resources: Client, resource_names: Names, match: list[p4r.FieldMatch], code: int
) -> None:
    entry = p4r.ValueSetEntry(value_set_id=resource_names["types"], members=[p4r.ValueSetMember(match=match)])
    assert codes(resources.refused((MODIFY, entry))) == [code]


def test_an_unknown_value_set_is_invalid(resources: Client) -> None:
    entry = p4r.ValueSetEntry(value_set_id=5)
    assert codes(resources.refused((MODIFY, entry))) == [rpc_code.INVALID_ARGUMENT]
    assert codes(resources.read_refused(entry)) == [rpc_code.INVALID_ARGUMENT]


def test_leading_zeros_are_taken_off(resources: Client, resource_names: Names) -> None:
    padded = types(resource_names, 5)
    padded.members[0].match[0].exact.value = bytes(4) + number_bytes(5)
    resources.write((MODIFY, padded))
    assert resources.read(types(resource_names)) == [types(resource_names, 5)]
