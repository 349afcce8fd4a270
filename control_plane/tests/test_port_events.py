"""Port states over gNMI: what switches tell of their ports. Events are in test_links_down.py."""

import pytest
from eeon_control.fabric.port_states import PortStates
from finsy import GNMIPath
from finsy.gnmiclient import GNMIUpdate
from finsy.proto import gnmi


def update(leaf: str, name: str, **value: object) -> GNMIUpdate:
    path = GNMIPath(f"interfaces/interface[name={name}]/state/{leaf}")
    return GNMIUpdate(0, path, gnmi.TypedValue(**value))


def test_a_ports_number_is_openconfigs_for_p4runtime_where_a_switch_has_it_and_else_its_ifindex():
    states = PortStates()
    for told in (
        update("ifindex", "eth1", json_val=b"101"),
        update("id", "eth1", uint_val=1),
        update("ifindex", "eth1", json_val=b"102"),
        update("ifindex", "eth2", json_ietf_val=b'"2"'),
    ):
        assert states.take(told) is None
    assert states.take(update("oper-status", "eth1", string_val="DOWN")).up is False
    assert states.take(update("oper-status", "eth1", json_val=b'"DOWN"')) is None
    states.take(update("oper-status", "eth2", json_val=b'"UP"'))
    states.take(update("oper-status", "without_a_number", string_val="DOWN"))
    assert states.numbered() == {1: False, 2: True}
    assert states.down == ("eth1", "without_a_number")


@pytest.mark.parametrize("value", [{"json_val": b"one"}, {"bool_val": True}, {"json_val": b"\xff"}])
def test_a_number_that_is_none_is_refused(value):
    with pytest.raises(ValueError):
        PortStates().take(update("id", "eth1", **value))


def test_a_switch_that_tells_of_ports_without_end_is_not_listened_to():
    states = PortStates()
    with pytest.raises(ValueError, match="more than 4096 ports"):
        for number in range(5000):
            states.take(update("oper-status", f"eth{number}", string_val="UP"))
