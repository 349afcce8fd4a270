"""Members of groups and actions of one-shots that watch a port (P4Runtime 1.5 §9.2.2, §9.2.3)."""

import pytest
from eeon_engine import ConfigError, Switch
from finsy.proto import p4r
from p4rt_client import COMMIT, INSERT, Client, Names, lpm, pipeline
from test_p4rt_action_profiles import spread

pytestmark = pytest.mark.system

ROUTE = lpm(1, 0x0A000000, 8)


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


def test_a_port_that_is_not_attached_is_down(client: Client, switch: Switch, names: Names) -> None:
    client.write((INSERT, one_shot(names, (3, 1, 3), (2, 1, 2))))
    switch.port_remove(3)
    assert spread(switch) == {2: 400}
    switch.port_add("veth3", 3)
    assert set(spread(switch)) == {2, 3}


def test_links_are_as_they_were_after_a_new_pipeline(client: Client, switch: Switch, names: Names) -> None:
    switch.port_set_link(1, False)
    client.push(COMMIT, pipeline())
    client.write((INSERT, one_shot(names, (1, 1, 1), (2, 1, 2))))
    assert spread(switch) == {2: 400}
    assert {port: is_up for port, _, is_up in switch.port_info()}[1] is False


def test_a_link_of_a_port_that_is_not_there_cannot_be_set(switch: Switch) -> None:
    switch.port_remove(7)
    with pytest.raises(ConfigError, match="port 7 is not attached"):
        switch.port_set_link(7, False)
