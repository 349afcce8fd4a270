"""Port events over gNMI, from the engine's own server."""

import asyncio

import pytest
from eeon_control import program
from eeon_control.controller import port_events
from eeon_control.controller.port_events import PortReport
from eeon_control.fabric.port_states import PortStates
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.targets import Target
from finsy import GNMIPath
from finsy.gnmiclient import GNMIUpdate
from finsy.proto import gnmi

engine = pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")
p4runtime = pytest.importorskip("eeon_engine.p4runtime")


@pytest.mark.system
def test_ports_of_the_engine_that_are_down_at_the_beginning_and_that_go_down_and_up_are_heard_of():
    switch = engine.Switch(device_id=7, ports=[engine.Port(1), engine.Port(2)])
    switch.load_program(engine.Program(program.load().json))

    async def heard(address: str) -> list[PortReport]:
        target = Target(address, device_id=7)
        session = P4RuntimeSession("leaf1", target, program.load().schema())
        await session.open()
        found = []
        try:
            async with asyncio.timeout(60):
                switch.port_set_link(1, False)
                reports = port_events.changes(session, target)
                found.append(await anext(reports))
                for up in (False, True):
                    switch.port_set_link(2, up)
                    found.append(await anext(reports))
                await reports.aclose()
        finally:
            await session.close()
        return found

    with p4runtime.serve(switch, p4info=program.load().p4info) as server:
        found = asyncio.run(heard(server.address))
    assert found == [
        PortReport(frozenset({1}), (("port1", False),)),
        PortReport(frozenset({1, 2}), (("port2", False),)),
        PortReport(frozenset({1}), (("port2", True),)),
    ]


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
