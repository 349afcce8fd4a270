"""The switches that an apply in waves changes together, and the configuration of an apply to some switches."""

import pytest
from eeon_control import config, topology
from eeon_control.operations.partial import merged
from eeon_control.plan.waves import waves
from planned import SIXTEEN

FOUR = topology.load("leaf-spine-4")


@pytest.mark.parametrize("text", ["rest", "1,1,1,rest", "25%,25%,rest", "100%,rest", "3,rest"])
@pytest.mark.parametrize("name", ["leaf-spine-4", "sixteen"])
def test_every_switch_is_in_one_wave_without_its_neighbours(name, text):
    fabric = FOUR if name == "leaf-spine-4" else SIXTEEN
    found = waves(fabric, text)
    assert sorted(one for wave in found for one in wave) == sorted(fabric.switches)
    for wave in found:
        peers = {port.peer.node for one in wave for port in fabric.switches[one].ports}
        assert peers.isdisjoint(wave)


def test_profiles_of_one_name_and_other_values_stand_beside_each_other():
    roles = {"host_facing": {"queue": "q"}, "uplink": {"queue": "q"}, "spine": {"queue": "q"}}
    queues = {"q": {"buffer": "100KB", "aqm": "drop_tail"}}
    held = config.from_value({"profiles": {"queue": queues}, "roles": roles}, "held")
    changes = {"profiles.queue.q.buffer": "200KB", "roles.host_facing.eee": "standard"}
    new = config.overridden(held, changes)
    mixed = merged(held, new, FOUR, ["leaf1"])
    of = {name: mixed.settings_of(FOUR.port(name)) for name in ("leaf1:1", "leaf1:3", "leaf2:1")}
    assert [(str(one.queue.buffer), one.eee_name) for one in of.values()] == [
        ("200KB", "standard"),
        ("200KB", "off"),
        ("100KB", "off"),
    ]
    again = merged(mixed, new, FOUR, ["leaf2"])
    assert list(again.profiles.queue) == ["q", "q_2"]
