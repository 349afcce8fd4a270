"""Members of groups and actions of one-shots that watch a port (P4Runtime 1.5 §9.2.2, §9.2.3)."""

import pytest
from eeon_engine import ConfigError, Program, Switch
from finsy.proto import p4r
from p4rt_client import DELETE, INSERT, MODIFY, Client, Names, lpm, p4info, program_json
from test_p4rt_action_profiles import member, spread, to_group

pytestmark = pytest.mark.system

ROUTE = lpm(1, 0x0A000000, 8)


def group(names: Names, *members: tuple[int, int, int | None]) -> p4r.ActionProfileGroup:
    """Returns group 1 with members by id, weight and watched port."""
    made = p4r.ActionProfileGroup(action_profile_id=names["selector"], group_id=1, max_size=16)
    for member_id, weight, port in members:
        added = made.members.add(member_id=member_id, weight=weight)
        if port is not None:
            added.watch_port = bytes([port])
    return made


def one_shot(names: Names, *actions: tuple[int, int, int | None]) -> p4r.TableEntry:
    """Returns a route to ports by weight and watched port."""
    made = p4r.TableAction()
    for to, weight, watched in actions:
        added = made.action_profile_action_set.action_profile_actions.add(
            action=names.action("forward", to), weight=weight
        )
        if watched is not None:
            added.watch_port = bytes([watched])
    return names.entry("lpm_table", ROUTE, action=made)


def members(client: Client, names: Names) -> None:
    client.write(*((INSERT, member(names, number, number)) for number in (1, 2, 3)))


def to_members(client: Client, names: Names, *given: tuple[int, int, int | None]) -> p4r.ActionProfileGroup:
    members(client, names)
    made = group(names, *given)
    client.write((INSERT, made))
    client.write((INSERT, names.entry("lpm_table", ROUTE, action=to_group(1))))
    return made


def test_a_member_whose_port_is_down_is_not_selected_until_it_is_up(
    client: Client, switch: Switch, names: Names
) -> None:
    made = to_members(client, names, (1, 3, 1), (2, 1, 2), (3, 1, None))
    before = spread(switch)
    assert set(before) == {1, 2, 3}
    switch.port_set_link(1, False)
    assert set(spread(switch)) == {2, 3}
    switch.port_set_link(2, False)
    assert spread(switch) == {3: 400}
    assert client.read(p4r.ActionProfileGroup()) == [made]
    switch.port_set_link(1, True)
    switch.port_set_link(2, True)
    assert spread(switch) == before


def test_an_action_of_a_one_shot_whose_port_is_down_is_not_selected_until_it_is_up(
    client: Client, switch: Switch, names: Names
) -> None:
    entry = one_shot(names, (1, 2, 1), (2, 1, 2))
    client.write((INSERT, entry))
    before = spread(switch)
    switch.port_set_link(2, False)
    assert spread(switch) == {1: 400}
    assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry]
    switch.port_set_link(2, True)
    assert spread(switch) == before
    assert set(before) == {1, 2}


def test_a_member_may_watch_another_port_than_its_action_names(
    client: Client, switch: Switch, names: Names
) -> None:
    client.write((INSERT, one_shot(names, (1, 1, 9), (2, 1, None))))
    switch.port_set_link(1, False)
    assert set(spread(switch)) == {1, 2}
    switch.port_set_link(9, False)
    assert spread(switch) == {2: 400}


def test_one_shots_that_differ_in_what_they_watch_only_are_different(
    client: Client, switch: Switch, names: Names
) -> None:
    watching, unwatched = one_shot(names, (1, 1, 1), (2, 1, 2)), one_shot(names, (1, 1, None), (2, 1, None))
    client.write((INSERT, watching))
    switch.port_set_link(1, False)
    assert spread(switch) == {2: 400}
    client.write((MODIFY, unwatched))
    assert set(spread(switch)) == {1, 2}
    client.write((MODIFY, watching))
    assert spread(switch) == {2: 400}


def test_what_a_member_watches_can_be_changed_and_is_taken_back_with_its_batch(
    client: Client, switch: Switch, names: Names
) -> None:
    made = to_members(client, names, (1, 2, 1), (2, 2, None))
    switch.port_set_link(1, False)
    assert spread(switch) == {2: 400}
    changed = group(names, (1, 3, None), (2, 1, 1))
    client.refused(
        (MODIFY, changed),
        (DELETE, member(names, 1, 1)),
        atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR,
    )
    assert client.read(p4r.ActionProfileGroup()) == [made]
    assert spread(switch) == {2: 400}
    client.write((MODIFY, changed))
    assert spread(switch) == {1: 400}


def test_a_group_without_an_active_member_does_nothing(client: Client, switch: Switch, names: Names) -> None:
    client.write((INSERT, one_shot(names, (1, 1, 1), (2, 1, 2))))
    unforwarded = Switch(Program(program_json()))
    switch.port_set_link(1, False)
    switch.port_set_link(2, False)
    # As with an empty group in BMv2: no action runs, and the packet continues as if there were no entry.
    assert not {1, 2} & set(spread(switch))
    assert spread(switch) == spread(unforwarded)
    switch.port_set_link(2, True)
    assert spread(switch) == {2: 400}


def test_a_port_that_is_not_attached_is_down(client: Client, switch: Switch, names: Names) -> None:
    client.write((INSERT, one_shot(names, (3, 1, 3), (2, 1, 2))))
    switch.port_remove(3)
    assert spread(switch) == {2: 400}
    switch.port_add("veth3", 3)
    assert set(spread(switch)) == {2, 3}


def test_links_are_as_they_were_after_a_new_pipeline(client: Client, switch: Switch, names: Names) -> None:
    switch.port_set_link(1, False)
    config = p4r.ForwardingPipelineConfig(p4info=p4info(), p4_device_config=program_json())
    client.push(p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT, config)
    client.write((INSERT, one_shot(names, (1, 1, 1), (2, 1, 2))))
    assert spread(switch) == {2: 400}
    assert {port: is_up for port, _, is_up in switch.port_info()}[1] is False


def test_a_watched_port_is_read_in_its_shortest_form(client: Client, names: Names) -> None:
    entry = one_shot(names, (1, 1, 1))
    actions = entry.action.action_profile_action_set.action_profile_actions
    actions[0].watch_port = b"\0\0\x01"
    client.write((INSERT, entry))
    actions[0].watch_port = b"\x01"
    assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry]


def test_a_link_of_a_port_that_is_not_there_cannot_be_set(switch: Switch) -> None:
    switch.port_remove(7)
    with pytest.raises(ConfigError, match="port 7 is not attached"):
        switch.port_set_link(7, False)
