"""Ports that go up and down, as gNMI tells of them (OpenConfig interfaces, `oper-status`, ON_CHANGE).

The engine and Stratum serve gNMI beside P4Runtime, BMv2 only when built with sysrepo. Where there is none,
that is all: a port that changes then makes no event.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from finsy import GNMIPath
from finsy.gnmiclient import GNMIClientError

from eeon_control.controller.persistent_session import PersistentSession

_STATUS = GNMIPath("interfaces/interface[name=*]/state/oper-status")

# finsy asks for JSON, the protocol's default. Targets that follow it send JSON's text, others the bare word.
_UP = ("UP", b'"UP"')


async def changes(session: PersistentSession) -> AsyncIterator[tuple[str, bool]]:
    """(port's name, whether it is up now) for every change, on the session's own channel.

    Ends when the switch has no gNMI, or the connection is lost; what it was when this began is no change.
    """
    client = await session.gnmi()
    subscription = client.subscribe()
    subscription.on_change(_STATUS)
    known: dict[str, bool] = {}
    try:
        async for update in subscription.synchronize():
            known[update.path["name"]] = update.value in _UP
        async for update in subscription.updates():
            name, up = update.path["name"], update.value in _UP
            if known.get(name) != up:
                known[name] = up
                yield name, up
    except (GNMIClientError, KeyError, ValueError):
        return  # no gNMI, or not as OpenConfig has it; P4Runtime's stream tells when the switch is lost
    finally:
        subscription.cancel()
