"""What the controller hears of ports over gNMI, from the engine's own server."""

from __future__ import annotations

import asyncio

import pytest
from eeon_control import program
from eeon_control.controller import port_events
from eeon_control.controller.persistent_session import PersistentSession
from eeon_control.fabric.targets import Target

engine = pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")
p4runtime = pytest.importorskip("eeon_engine.p4runtime")


def test_a_port_of_the_engine_that_goes_down_and_up_is_heard_of_and_the_state_at_the_beginning_is_not():
    switch = engine.Switch(device_id=7, ports=[engine.Port(1), engine.Port(2)])
    switch.load_program(engine.Program(program.load().json))

    async def heard(address: str) -> list[tuple[str, bool]]:
        session = PersistentSession("leaf1", Target(address, device_id=7), program.load().schema())
        await session.open()
        found = []
        try:
            async with asyncio.timeout(60):
                changes = port_events.changes(session)
                next_one = asyncio.ensure_future(anext(changes))
                # What is true when the subscription begins is no change; so it has to have begun.
                while not found:
                    switch.port_set_link(2, False)
                    await asyncio.sleep(0.3)
                    if next_one.done():
                        found.append(next_one.result())
                        break
                    switch.port_set_link(2, True)
                    await asyncio.sleep(0.3)
                switch.port_set_link(2, not found[0][1])
                found.append(await anext(changes))
                await changes.aclose()
        finally:
            await session.close()
        return found

    with p4runtime.serve(switch, p4info=program.load().p4info) as server:
        found = asyncio.run(heard(server.address))
    assert [name for name, _ in found] == ["port2", "port2"]
    assert [up for _, up in found] in ([False, True], [True, False])
