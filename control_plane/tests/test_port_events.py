"""What the controller hears of ports over gNMI, from the engine's own server."""

from __future__ import annotations

import asyncio

import pytest
from eeon_control import program
from eeon_control.controller import port_events
from eeon_control.controller.persistent_session import PersistentSession
from eeon_control.controller.port_events import PortReport
from eeon_control.fabric.targets import Target

engine = pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")
p4runtime = pytest.importorskip("eeon_engine.p4runtime")


def test_ports_of_the_engine_that_are_down_at_the_beginning_and_that_go_down_and_up_are_heard_of():
    switch = engine.Switch(device_id=7, ports=[engine.Port(1), engine.Port(2)])
    switch.load_program(engine.Program(program.load().json))

    async def heard(address: str) -> list[PortReport]:
        target = Target(address, device_id=7)
        session = PersistentSession("leaf1", target, program.load().schema())
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
