"""Parser value sets (P4Runtime 1.5 §9.6)."""

import pytest
from eeon_engine import Switch
from finsy.proto import p4r
from made_frames import frame
from p4rt_client import MODIFY, Client, Names, exact, number_bytes, ports

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
    """The program sends frames with a member of the value set to port 3."""

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


def test_leading_zeros_are_taken_off(resources: Client, resource_names: Names) -> None:
    padded = types(resource_names, 5)
    padded.members[0].match[0].exact.value = bytes(4) + number_bytes(5)
    resources.write((MODIFY, padded))
    assert resources.read(types(resource_names)) == [types(resource_names, 5)]
