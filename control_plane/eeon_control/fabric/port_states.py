"""Which ports of a switch are up, as the switch itself says.

Over gNMI where it serves that beside P4Runtime (the engine, Stratum; OpenConfig interfaces, `oper-status`),
else over Thrift where its targets file gives one (BMv2). A switch that has neither does not tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from finsy import GNMIPath, GRPCStatusCode
from finsy.gnmiclient import GNMIClientError, GNMIUpdate

from eeon_control.errors import FabricError
from eeon_control.fabric import thrift
from eeon_control.fabric.session import ANSWER_SECONDS, NO_ANSWER, P4RuntimeSession
from eeon_control.targets import Target

_STATE = "interfaces/interface[name=*]/state"
STATUS = GNMIPath(f"{_STATE}/oper-status")
# A P4Runtime port is the one or the other, where a switch has both: openconfig-p4rt's number is meant for it.
NUMBERS = (GNMIPath(f"{_STATE}/ifindex"), GNMIPath(f"{_STATE}/id"))

_PORTS_MAX = 4096
# finsy asks for JSON, the protocol's default. Targets that follow it send JSON's text, others the bare word.
_UP = ("UP", b'"UP"')


@dataclass(frozen=True)
class PortState:
    """A port as gNMI names it. `number`: in P4Runtime, None where the switch does not tell it."""

    name: str
    number: int | None = None
    up: bool | None = None
    has_id: bool = False


class PortStates:
    """Takes in what gNMI tells of ports."""

    def __init__(self) -> None:
        self._ports: dict[str, PortState] = {}

    def take(self, update: GNMIUpdate) -> PortState | None:
        """Returns a port whose status this has changed. Raises KeyError or ValueError if that is not
        OpenConfig."""
        name, value = str(update.path["name"]), update.value
        before = self._ports.get(name) or PortState(name)
        if name not in self._ports and len(self._ports) == _PORTS_MAX:
            raise ValueError(f"the switch tells of more than {_PORTS_MAX} ports")
        match update.path.last:
            case "oper-status":
                after = replace(before, up=value in _UP)
            case "id":
                after = replace(before, number=_number(value), has_id=True)
            case "ifindex" if not before.has_id:
                after = replace(before, number=_number(value))
            case _:
                return None
        self._ports[name] = after
        return after if after.up is not before.up else None

    def numbered(self) -> dict[int, bool]:
        """Returns port number -> whether it is up, of the ports that have both."""
        return {
            port.number: port.up
            for port in self._ports.values()
            if port.number is not None and port.up is not None
        }

    @property
    def down(self) -> tuple[str, ...]:
        """Names of the ports that are down."""
        return tuple(port.name for port in self._ports.values() if port.up is False)


async def read(session: P4RuntimeSession, target: Target) -> Mapping[int, bool] | None:
    """Returns port number -> whether it is up; None where the switch does not tell. Raises FabricError."""
    try:
        client = await session.gnmi()
        subscription = client.subscribe()
        subscription.once(STATUS, *NUMBERS)
        states = PortStates()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                async for update in subscription.synchronize():
                    states.take(update)
        finally:
            subscription.cancel()
        return states.numbered()
    except (GNMIClientError, KeyError, ValueError):
        return await thrift.port_states(session.name, target) if target.thrift is not None else None
    except TimeoutError:
        raise FabricError(f"{session.name}: gNMI: {NO_ANSWER}", GRPCStatusCode.DEADLINE_EXCEEDED) from None


def _number(value: object) -> int:
    """Returns a number as JSON's text, or as it is. Raises ValueError."""
    if isinstance(value, bytes):
        value = value.decode().strip('"')
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"a port's number is not of type {type(value).__name__}")
    return int(value)
