"""Changes of link states: reported over gNMI on change, or polled once a second over Thrift.

The engine and Stratum serve gNMI as well as P4Runtime; BMv2 serves gNMI only if built with sysrepo, but it
serves Thrift. Without either, a change causes no event.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from finsy.gnmiclient import GNMIClientError

from eeon_control.errors import FabricError
from eeon_control.fabric import thrift
from eeon_control.fabric.port_states import NUMBERS, STATUS, PortStates
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.thrift import ThriftClient
from eeon_control.targets import Target

_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class PortReport:
    """`down`: numbers of all ports that are down now. `changed`: name and whether it is up, for ports that
    have changed since the previous report; in the first report, the ports that are down."""

    down: frozenset[int]
    changed: tuple[tuple[str, bool], ...]


async def changes(session: P4RuntimeSession, target: Target) -> AsyncIterator[PortReport]:
    """Yields the port states of a switch, initially and after each change, on the session's own channel.

    Ends if the switch does not report ports, or if the connection is lost.
    """
    try:
        async for report in _told(session):
            yield report
        return
    except (GNMIClientError, KeyError, ValueError):
        pass  # no gNMI, or not OpenConfig; P4Runtime's stream reports the loss of a switch
    if target.thrift is not None:
        async for report in _asked(session.name, target):
            yield report


async def _told(session: P4RuntimeSession) -> AsyncIterator[PortReport]:
    client = await session.gnmi()
    subscription = client.subscribe()
    subscription.on_change(STATUS, *NUMBERS)
    states = PortStates()
    try:
        async for update in subscription.synchronize():
            states.take(update)
        yield PortReport(_down(states.numbered()), tuple((name, False) for name in states.down))
        async for update in subscription.updates():
            changed = states.take(update)
            if changed is not None:
                yield PortReport(_down(states.numbered()), ((changed.name, changed.up is True),))
    finally:
        subscription.cancel()


async def _asked(name: str, target: Target) -> AsyncIterator[PortReport]:
    before: frozenset[int] | None = None
    while True:
        try:
            down = _down(await thrift.ask(name, target, ThriftClient.port_states))
        except FabricError:
            pass  # the last known state remains until the next answer
        else:
            if down != before:
                known = before or frozenset()
                yield PortReport(down, tuple((str(port), port in known) for port in sorted(down ^ known)))
            before = down
        await asyncio.sleep(_LOOK_SECONDS)


def _down(ports: dict[int, bool]) -> frozenset[int]:
    return frozenset(number for number, up in ports.items() if not up)
