"""The link states of a switch's ports, as the switch reports them.

They are read over gNMI if the switch serves it (the engine, Stratum; OpenConfig interfaces, `oper-status`),
else over Thrift if the targets file has an address (BMv2). Without either, they are unknown.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from finsy import GNMIPath, GRPCStatusCode
from finsy.gnmiclient import GNMIClientError, GNMIUpdate

from eeon_control.errors import FabricError
from eeon_control.fabric import thrift
from eeon_control.fabric.session import ANSWER_SECONDS, NO_ANSWER, P4RuntimeSession
from eeon_control.fabric.thrift import ThriftClient
from eeon_control.targets import Target

_STATE = "interfaces/interface[name=*]/state"
STATUS = GNMIPath(f"{_STATE}/oper-status")
# Either may be the P4Runtime port. `id`, openconfig-p4rt's number for that purpose, takes precedence.
NUMBERS = (GNMIPath(f"{_STATE}/ifindex"), GNMIPath(f"{_STATE}/id"))

_PORTS_MAX = 4096
# finsy requests JSON, the protocol's default. Conforming targets send a JSON string, others the bare word.
_UP = ("UP", b'"UP"')


@dataclass(frozen=True)
class PortState:
    """A port, by its name in gNMI. `number`: in P4Runtime, None if the switch does not report it."""

    name: str
    number: int | None = None
    up: bool | None = None
    has_id: bool = False


class PortStates:
    """The port states received over gNMI."""

    def __init__(self) -> None:
        self._ports: dict[str, PortState] = {}

    def take(self, update: GNMIUpdate) -> PortState | None:
        """Stores an update. Returns the port if its status has changed. Raises KeyError or ValueError for an
        update that is not OpenConfig."""
        name, value = str(update.path["name"]), update.value
        before = self._ports.get(name) or PortState(name)
        if name not in self._ports and len(self._ports) == _PORTS_MAX:
            raise ValueError(f"the switch reports more than {_PORTS_MAX} ports")
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
        """Returns port number -> whether it is up, for ports whose number and state are known."""
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
    """Returns port number -> whether it is up; None if the switch does not report it. Raises FabricError."""
    try:
        client = await session.gnmi()
        subscription = client.subscribe()
        subscription.once(STATUS, *NUMBERS)
        states = PortStates()
        try:
            async with asyncio.timeout(None if target.in_process else ANSWER_SECONDS):
                async for update in subscription.synchronize():
                    states.take(update)
        finally:
            subscription.cancel()
        return states.numbered()
    except (GNMIClientError, KeyError, ValueError):
        if target.thrift is None:
            return None
        return await thrift.ask(session.name, target, ThriftClient.port_states)
    except TimeoutError:
        raise FabricError(f"{session.name}: gNMI: {NO_ANSWER}", GRPCStatusCode.DEADLINE_EXCEEDED) from None


def _number(value: object) -> int:
    """Returns a number that is given as JSON text or as a number. Raises ValueError."""
    if isinstance(value, bytes):
        value = value.decode().strip('"')
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"a port's number is not of type {type(value).__name__}")
    return int(value)
