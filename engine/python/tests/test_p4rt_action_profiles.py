"""Members, groups and one-shots over P4Runtime (1.5 §9.2)."""

from collections.abc import Iterator

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import (
    DELETE,
    INSERT,
    MODIFY,
    Client,
    Names,
    codes,
    exact,
    lpm,
    one_shot,
    p4info,
    ports,
    primary,
    program_json,
)

pytestmark = pytest.mark.system


def member(names: Names, number: int, port: int, profile: str = "selector") -> p4r.ActionProfileMember:
    return p4r.ActionProfileMember(
        action_profile_id=names[profile], member_id=number, action=names.action("forward", port)
    )


def group(names: Names, number: int, *members: tuple[int, int], max_size: int = 16) -> p4r.ActionProfileGroup:
    made = p4r.ActionProfileGroup(action_profile_id=names["selector"], group_id=number, max_size=max_size)
    for member_id, weight in members:
        made.members.add(member_id=member_id, weight=weight)
    return made


def to_group(number: int) -> p4r.TableAction:
    return p4r.TableAction(action_profile_group_id=number)


def to_member(number: int) -> p4r.TableAction:
    return p4r.TableAction(action_profile_member_id=number)


def spread(switch: Switch, count: int = 400) -> dict[int, int]:
    """Returns the number of frames that leave on each port, of `count` frames with different keys."""
    for key in range(count):
        switch.inject(1, frame(0x0A000000 + key * 7919))
    found: dict[int, int] = {}
    for port in ports(switch.advance_to(switch.now_ps + 1000)):
        found[port] = found.get(port, 0) + 1
    return found


def test_entries_point_at_members(client: Client, switch: Switch, names: Names) -> None:
    client.write(
        (INSERT, member(names, 1, 4, "plain_profile")), (INSERT, member(names, 2, 5, "plain_profile"))
    )
    entry = names.entry("member_table", exact(1, 9), action=to_member(1))
    client.write((INSERT, entry))
    assert client.read(p4r.TableEntry(table_id=names["member_table"])) == [entry]
    switch.inject(1, frame(9))
    assert ports(switch.advance_to(1000)) == [4]
    client.write((MODIFY, names.entry("member_table", exact(1, 9), action=to_member(2))))
    switch.inject(1, frame(9))
    assert ports(switch.advance_to(2000)) == [5]


def test_a_modified_member_acts_wherever_it_is_used(client: Client, switch: Switch, names: Names) -> None:
    client.write((INSERT, member(names, 1, 4)), (INSERT, group(names, 1, (1, 3))))
    client.write((INSERT, names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=to_group(1))))
    assert spread(switch) == {4: 400}
    client.write((MODIFY, member(names, 1, 6)))
    assert spread(switch) == {6: 400}
    assert client.read(p4r.ActionProfileMember()) == [member(names, 1, 6)]


def test_groups_spread_by_weight(client: Client, switch: Switch, names: Names) -> None:
    client.write(*((INSERT, member(names, number, number)) for number in (1, 2)))
    client.write((INSERT, group(names, 7, (1, 3), (2, 1))))
    client.write((INSERT, names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=to_group(7))))
    found = spread(switch)
    assert set(found) == {1, 2}
    assert 0.6 < found[1] / 400 < 0.9
    client.write((MODIFY, group(names, 7, (2, 1))))
    assert spread(switch) == {2: 400}
    client.write((MODIFY, group(names, 7, (1, 1), (2, 2))))
    assert set(spread(switch)) == {1, 2}
    assert client.read(p4r.ActionProfileGroup()) == [group(names, 7, (1, 1), (2, 2))]


def test_members_and_groups_are_read_by_id_profile_or_all(client: Client, names: Names) -> None:
    client.write(
        (INSERT, member(names, 1, 1)),
        (INSERT, member(names, 2, 2)),
        (INSERT, member(names, 1, 3, "plain_profile")),
    )
    client.write((INSERT, group(names, 1, (1, 1))), (INSERT, group(names, 2, (1, 1), (2, 1))))
    assert len(client.read(p4r.ActionProfileMember())) == 3
    assert len(client.read(p4r.ActionProfileMember(action_profile_id=names["selector"]))) == 2
    one = p4r.ActionProfileMember(action_profile_id=names["selector"], member_id=2)
    assert client.read(one) == [member(names, 2, 2)]
    assert client.read(p4r.ActionProfileMember(action_profile_id=names["selector"], member_id=9)) == []
    assert len(client.read(p4r.ActionProfileGroup())) == 2
    two = p4r.ActionProfileGroup(action_profile_id=names["selector"], group_id=2)
    assert client.read(two) == [group(names, 2, (1, 1), (2, 1))]


# ---- one-shots


def test_a_one_shot_spreads_by_weight_and_is_read_back_as_written(
    client: Client, switch: Switch, names: Names
) -> None:
    entry = names.entry(
        "lpm_table",
        lpm(1, 0x0A000000, 8),
        action=one_shot((names.action("forward", 1), 3), (names.action("forward", 2), 1)),
    )
    client.write((INSERT, entry))
    found = spread(switch)
    assert set(found) == {1, 2}
    assert 0.6 < found[1] / 400 < 0.9
    assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry]
    assert client.read(p4r.ActionProfileMember(), p4r.ActionProfileGroup()) == []


def test_a_one_shot_may_name_an_action_twice(client: Client, switch: Switch, names: Names) -> None:
    entry = names.entry(
        "lpm_table",
        lpm(1, 0x0A000000, 8),
        action=one_shot(
            (names.action("forward", 1), 2), (names.action("forward", 2), 1), (names.action("forward", 1), 1)
        ),
    )
    client.write((INSERT, entry))
    assert 0.6 < spread(switch)[1] / 400 < 0.9
    assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry]


def test_equal_one_shots_share_their_members(client: Client, switch: Switch, names: Names) -> None:
    """The selector holds 128 members; 500 routes over the same 16 next hops fit."""
    action = one_shot(*((names.action("forward", port), 1) for port in range(16)))
    routes = [names.entry("lpm_table", lpm(1, number << 16, 16), action=action) for number in range(500)]
    client.write(*((INSERT, route) for route in routes))
    assert len(client.read(p4r.TableEntry(table_id=names["lpm_table"]))) == 500
    assert set(spread(switch)) <= set(range(16))
    client.write(*((DELETE, route) for route in routes))
    # All hidden members are gone: the same number of others fits again.
    action = one_shot(*((names.action("forward", port), 1) for port in range(100, 116)))
    client.write((INSERT, names.entry("lpm_table", lpm(1, 0, 16), action=action)))


def test_a_one_shot_is_replaced_by_another(client: Client, switch: Switch, names: Names) -> None:
    key = lpm(1, 0x0A000000, 8)
    client.write((INSERT, names.entry("lpm_table", key, action=one_shot((names.action("forward", 1), 16)))))
    for round_ in range(20):  # More rounds than the selector could hold if a member were left.
        new = one_shot((names.action("forward", round_), 8), (names.action("forward", round_ + 1), 8))
        client.write((MODIFY, names.entry("lpm_table", key, action=new)))
    assert set(spread(switch)) == {19, 20}


def test_a_selector_that_is_full_is_exhausted_and_nothing_is_left_behind(
    client: Client, switch: Switch, names: Names
) -> None:
    def route(number: int) -> p4r.TableEntry:
        action = one_shot(*((names.action("forward", number * 16 + port), 1) for port in range(16)))
        return names.entry("lpm_table", lpm(1, number << 16, 16), action=action)

    for number in range(8):
        client.write((INSERT, route(number)))
    failed = client.refused((INSERT, route(8)))
    assert codes(failed) == [rpc_code.RESOURCE_EXHAUSTED]
    client.write((DELETE, route(0)), (INSERT, route(8)))
    assert len(client.read(p4r.TableEntry(table_id=names["lpm_table"]))) == 8


def test_one_shots_may_name_the_modes_that_the_selector_has_and_keep_them(
    client: Client, names: Names
) -> None:
    kinds = p4r.ActionProfileActionSet
    action = one_shot((names.action("forward", 1), 1))
    action.action_profile_action_set.action_selection_mode = kinds.HASH
    action.action_profile_action_set.size_semantics = kinds.SUM_OF_WEIGHTS
    entry = names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=action)
    client.write((INSERT, entry))
    assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry]


@pytest.fixture
def unweighted() -> Iterator[Client]:
    """Connects to a switch whose selector does not allow weights."""
    info = p4info()
    selector = next(p for p in info.action_profiles if p.preamble.alias == "selector")
    selector.weights_disallowed = True
    with serve(Switch(Program(program_json())), p4info=info) as server, primary(server.address) as client:
        yield client


def test_where_weights_are_disallowed_none_is_the_only_one(unweighted: Client, names: Names) -> None:
    def entry(weight: int) -> p4r.TableEntry:
        action = one_shot((names.action("forward", 1), weight), (names.action("forward", 2), weight))
        return names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=action)

    assert codes(unweighted.refused((INSERT, entry(1)))) == [rpc_code.INVALID_ARGUMENT]
    unweighted.write((INSERT, entry(0)))
    assert unweighted.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry(0)]
